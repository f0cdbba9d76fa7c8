//! Withheld rows that were chosen or changed, with columns of their own.

use crate::calibration::withheld::{Withheld, WithheldDimension};
use hambo_base::Held;

/// Rows of their own.
#[derive(Clone, Debug)]
pub struct KeptRows {
    /// Which of the withheld rows they are.
    pub(super) places: Vec<usize>,
    /// Mean, epistemic and aleatoric standard deviation, and what was observed.
    pub(super) columns: Vec<[Vec<f32>; 4]>,
    /// Marks of the rows that say nothing, state by state; none where all say something.
    pub(super) held: Vec<Vec<bool>>,
    pub(super) groups: Vec<u32>,
    pub(super) follows: Vec<bool>,
}

impl KeptRows {
    /// The rows that say something of every state.
    pub(in crate::calibration) fn whole(rows: &Withheld<'_>) -> Self {
        let whole = rows.whole_rows();
        let kept = |row: &usize| whole.get(*row) == Some(&true);
        let places: Vec<usize> = (0..whole.len()).filter(kept).collect();
        let at = |numbers: &[f32]| -> Vec<f32> {
            let own = places.iter().filter_map(|row| numbers.get(*row));
            own.copied().collect()
        };
        let columns = rows.dimensions.iter().map(|of| {
            let stds = (at(of.epistemic_std), at(of.aleatoric_std));
            [at(of.mean), stds.0, stds.1, at(of.observed)]
        });
        // The step after a row that was left out is the step after nothing.
        let before = |row: usize| row.checked_sub(1).is_none_or(|row| kept(&row));
        let follows = |row: &usize| rows.follows.get(*row) == Some(&true) && before(*row);
        let groups = places.iter().filter_map(|row| rows.groups.get(*row));
        Self {
            columns: columns.collect(),
            held: vec![Vec::new(); rows.dimensions.len()],
            groups: groups.copied().collect(),
            follows: places.iter().map(follows).collect(),
            places,
        }
    }

    /// Their numbers in the withheld rows, from 0.
    #[must_use]
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// The rows.
    #[must_use]
    pub fn withheld(&self) -> Withheld<'_> {
        let columns = self.columns.iter().zip(&self.held);
        let dimensions = columns.map(|([mean, epistemic_std, aleatoric_std, observed], held)| {
            WithheldDimension {
                mean,
                epistemic_std,
                aleatoric_std,
                observed,
                held: Held::new(held),
            }
        });
        Withheld {
            dimensions: dimensions.collect(),
            groups: &self.groups,
            follows: &self.follows,
        }
    }
}
