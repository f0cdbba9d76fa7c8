//! The number of each cell. Fits come first, so that a model is there when it is asked for.

use std::ops::Range;

/// How many there are of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Models of the plan.
    pub models: usize,
    /// Log sizes.
    pub sizes: usize,
    /// Seeds.
    pub seeds: usize,
    /// Controllers.
    pub policies: usize,
    /// Horizons.
    pub horizons: usize,
}

/// Places in the plan's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FitCell {
    /// In the models.
    pub model: usize,
    /// In the log sizes.
    pub size: usize,
    /// In the seeds.
    pub seed: usize,
}

/// A cell: a fit, or a check of a controller by what was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// One model.
    Fit(FitCell),
    /// One verdict.
    Check {
        /// The number of the fit's cell.
        fit_cell: usize,
        /// The model.
        fit: FitCell,
        /// Place in the controllers.
        policy: usize,
        /// Place in the horizons.
        horizon: usize,
    },
}

impl Counts {
    /// Models that are fitted.
    #[must_use]
    pub fn fits(&self) -> usize {
        [self.models, self.sizes, self.seeds]
            .into_iter()
            .fold(1, usize::saturating_mul)
    }

    /// Verdicts.
    #[must_use]
    pub fn checks(&self) -> usize {
        [self.fits(), self.policies, self.horizons]
            .into_iter()
            .fold(1, usize::saturating_mul)
    }

    /// All cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.fits().saturating_add(self.checks())
    }

    /// What may run side by side: a stage begins when the one before it has ended.
    #[must_use]
    pub fn stages(&self) -> [Range<usize>; 2] {
        [0..self.fits(), self.fits()..self.cells()]
    }

    /// The cell of a number, if there is one.
    ///
    /// ```
    /// use hambo_sweep::cells::{Cell, Counts, FitCell};
    ///
    /// let counts = Counts { models: 1, sizes: 2, seeds: 2, policies: 3, horizons: 1 };
    /// let fit = FitCell { model: 0, size: 1, seed: 0 };
    /// assert_eq!((counts.fits(), counts.cells()), (4, 16));
    /// assert_eq!(counts.cell(2), Some(Cell::Fit(fit)));
    /// let check = Cell::Check { fit_cell: 2, fit, policy: 1, horizon: 0 };
    /// assert_eq!((counts.cell(11), counts.cell(16)), (Some(check), None));
    /// ```
    #[must_use]
    pub fn cell(&self, number: usize) -> Option<Cell> {
        if number >= self.cells() {
            return None;
        }
        let Some(check) = number.checked_sub(self.fits()) else {
            return Some(Cell::Fit(self.fit(number)));
        };
        let fit_cell = check / self.horizons / self.policies;
        Some(Cell::Check {
            fit_cell,
            fit: self.fit(fit_cell),
            policy: check / self.horizons % self.policies,
            horizon: check % self.horizons,
        })
    }

    fn fit(&self, number: usize) -> FitCell {
        FitCell {
            model: number / self.seeds / self.sizes,
            size: number / self.seeds % self.sizes,
            seed: number % self.seeds,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_number_is_a_cell_of_its_own() {
        let counts = Counts {
            models: 2,
            sizes: 3,
            seeds: 4,
            policies: 5,
            horizons: 6,
        };
        assert_eq!((counts.fits(), counts.cells()), (24, 24 + 720));
        let all: BTreeSet<String> = (0..counts.cells())
            .map(|number| format!("{:?}", counts.cell(number)))
            .collect();
        assert_eq!(all.len(), counts.cells());
        let [fits, checks] = counts.stages();
        assert!(
            fits.clone()
                .all(|n| matches!(counts.cell(n), Some(Cell::Fit(_))))
        );
        assert!(
            checks
                .clone()
                .all(|n| matches!(counts.cell(n), Some(Cell::Check { .. })))
        );
        assert_eq!((fits.end, checks.end), (checks.start, counts.cells()));
    }
}
