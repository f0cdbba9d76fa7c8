//! Whether the set holds the mean of some residuals, which noise leaves near zero.

use std::collections::BTreeMap;

use hambo_core::estimate::student_quantile;

/// A residual with its sign, the half width of the set at it, and its episode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signed {
    pub(super) episode: u32,
    pub(super) residual: f64,
    pub(super) radius: f64,
}

/// The mean of some residuals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeanResidual {
    pub(super) mean: f64,
    /// Its standard error: that between episodes, or between rows where this is more.
    pub(super) error: f64,
    /// The mean half width of the set.
    pub(super) radius: f64,
    pub(super) episodes: usize,
}

impl MeanResidual {
    /// None if there is no row.
    pub(super) fn of(rows: &[Signed]) -> Option<Self> {
        let count = rows.len() as f64;
        if rows.is_empty() {
            return None;
        }
        let mean = rows.iter().map(|row| row.residual).sum::<f64>() / count;
        let radius = rows.iter().map(|row| row.radius).sum::<f64>() / count;
        let mut episodes: BTreeMap<u32, f64> = BTreeMap::new();
        let mut squares = 0.0;
        for row in rows {
            let deviation = row.residual - mean;
            *episodes.entry(row.episode).or_default() += deviation;
            squares += deviation * deviation;
        }
        let size = episodes.len() as f64;
        let between: f64 = episodes.values().map(|sum| sum * sum).sum();
        let between = between * size / (size - 1.0).max(1.0);
        Some(Self {
            mean,
            error: between.max(squares).sqrt() / count,
            radius,
            episodes: episodes.len(),
        })
    }

    /// By how much the set would have to be wider to hold the mean; none if it may hold it, with
    /// probability `tail` of an error either way.
    pub(super) fn required_widening(&self, tail: f64) -> Option<f64> {
        let freedom = u32::try_from(self.episodes.saturating_sub(1)).unwrap_or(u32::MAX);
        if freedom == 0 {
            return None;
        }
        let limit = f64::from(student_quantile(freedom, (0.5 * tail) as f32)) * self.error;
        let size = self.mean.abs();
        // Written so that a NaN is found.
        let held = size - limit <= self.radius;
        (!held).then(|| size / self.radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(residuals: &[(u32, f64)]) -> Vec<Signed> {
        let rows = residuals.iter();
        rows.map(|(episode, residual)| Signed {
            episode: *episode,
            residual: *residual,
            radius: 1.0,
        })
        .collect()
    }

    #[test]
    fn errors_by_hand() {
        // Two rows each of 3 and 5: deviations of −2 and 2 in all of an episode.
        let found = MeanResidual::of(&rows(&[(0, 3.0), (0, 3.0), (1, 5.0), (1, 5.0)]));
        let Some(found) = found else {
            return assert!(found.is_some());
        };
        // (4 + 4) · 2 / 1 between episodes, 4 between rows.
        assert_eq!((found.mean, found.error), (4.0, 1.0));
        // Student's t of one degree: 6.31 · 1 are more than 4 less the radius.
        assert_eq!(found.required_widening(0.1), None);
        // Deviations that cancel in every episode: 2 between rows and 0 between episodes.
        let alike = rows(&[(0, 3.0), (0, 5.0), (1, 5.0), (1, 3.0)]);
        let error = MeanResidual::of(&alike).map(|found| found.error);
        assert_eq!(error, Some(0.5));
        assert_eq!(MeanResidual::of(&[]), None);
    }

    #[test]
    fn a_mean_that_the_set_does_not_hold_is_found_and_no_number_too() {
        let many: Vec<(u32, f64)> = (0..40)
            .map(|row| (row / 2, if row % 2 == 0 { -2.4 } else { -2.6 }))
            .collect();
        let required = |rows: &[Signed]| MeanResidual::of(rows)?.required_widening(0.01);
        let found = required(&rows(&many)).unwrap_or(0.0);
        assert!((found - 2.5).abs() < 1e-9, "{found}");
        let mut bad = rows(&many);
        bad[3].residual = f64::NAN;
        assert!(required(&bad).is_some_and(f64::is_nan));
        // One episode tells nothing.
        assert_eq!(required(&rows(&[(0, 9.0), (0, 9.0)])), None);
    }
}
