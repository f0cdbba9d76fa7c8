//! The search for the scale tau* that minimises the calibration error.
//!
//! The error is a step function of the scale, so a fine grid is the honest
//! search: deterministic, and with no slope to be fooled by.

use super::calibration_error::Scores;

/// The grid runs from 1 / LARGEST to LARGEST, evenly in the logarithm.
const LARGEST: f64 = 20.0;
/// Grid points on either side of 1, half a per cent apart.
const HALF_GRID: i32 = 600;
/// Errors closer than this are equal but for rounding.
const TIE: f64 = 1e-12;

/// The minimiser on the grid; of equals the largest, which is the conservative one.
pub(super) fn best_scale(scores: &Scores) -> f64 {
    let mut best = (f64::INFINITY, 1.0);
    for i in (-HALF_GRID..=HALF_GRID).rev() {
        let scale = (LARGEST.ln() * f64::from(i) / f64::from(HALF_GRID)).exp();
        let error = scores.calibration_error(scale);
        if error < best.0 - TIE {
            best = (error, scale);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::super::calibration_error::scores;
    use super::*;
    use crate::calibration::outcome::Intervals;
    use crate::calibration::withheld::WithheldDimension;
    use hambo_base::Held;

    fn best(observed: &[f32]) -> f64 {
        let dimension = WithheldDimension {
            mean: &vec![0.0; observed.len()],
            epistemic_std: &vec![1.0; observed.len()],
            aleatoric_std: &vec![0.0; observed.len()],
            observed,
            held: Held::NONE,
        };
        best_scale(&scores(&dimension, 1.0, Intervals::OneSided))
    }

    #[test]
    fn ties_go_to_the_larger_scale() {
        // Every observation is at the mean: the curve is the same at every scale.
        assert!((best(&[0.0; 25]) - LARGEST).abs() < 1e-9);
        // One row at −1 and one at +1. The error counts only at which scales each
        // level's quantile passes them; the best plateau ends, by hand, where the
        // 0.7 quantile reaches +1 (and the 0.3 quantile −1): 1 / 0.5244 = 1.907.
        let scale = best(&[-1.0, 1.0]);
        let end = 1.0 / 0.524_400_512_708_041;
        assert!(scale <= end && scale > end / 1.006, "{scale}");
    }
}
