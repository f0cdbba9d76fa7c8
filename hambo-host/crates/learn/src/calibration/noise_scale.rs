//! The scale of the predicted noise.
//!
//! A residual is noise and model error together. From one row to the next the
//! model error hardly changes, so differences of residuals show the noise
//! alone; an error that stays in an episode does not count as noise, and what
//! is left over goes into the set. The scale is never larger than the residuals
//! themselves allow: more noise is not more caution.

use super::withheld::Withheld;
use hambo_base::order::median;

/// The median of |X| for a standard normal X.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;
/// Pairs of rows below which the noise is left as the model has it.
const FEWEST: usize = 20;
/// The smallest and the largest scale.
const LIMITS: [f64; 2] = [0.02, 50.0];

/// The scale of one dimension's noise.
pub(super) fn noise_scale(rows: &Withheld<'_>, dimension: usize) -> f64 {
    let Some(columns) = rows.dimensions.get(dimension) else {
        return 1.0;
    };
    // Residuals in predicted standard deviations of the noise.
    let scores: Vec<f64> = columns
        .rows()
        .map(|row| row.residual / row.aleatoric.max(f64::MIN_POSITIVE))
        .collect();
    let follows = rows.follows.iter().skip(1);
    let pairs = scores.windows(2).zip(follows);
    let mut differences: Vec<f64> = pairs
        .filter(|(_, follows)| **follows)
        .map(|(pair, _)| (pair[1] - pair[0]).abs() / std::f64::consts::SQRT_2)
        .collect();
    if differences.len() < FEWEST {
        return 1.0;
    }
    let mut sizes: Vec<f64> = scores.iter().map(|score| score.abs()).collect();
    let (Some(whole), Some(noise)) = (median(&mut sizes), median(&mut differences)) else {
        return 1.0;
    };
    (noise.min(whole) / NORMAL_MEDIAN).clamp(LIMITS[0], LIMITS[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::withheld::WithheldDimension;

    #[test]
    fn twenty_pairs_are_enough_and_nineteen_are_not() {
        // Residuals of +2 and −2 predicted deviations in turn.
        let scale = |rows: usize| {
            let observed: Vec<f32> = (0..rows)
                .map(|row| if row % 2 == 0 { 0.2 } else { -0.2 })
                .collect();
            let follows: Vec<bool> = (0..rows).map(|row| row > 0).collect();
            let (zeros, stds) = (vec![0.0; rows], vec![0.1; rows]);
            let rows = Withheld {
                dimensions: vec![WithheldDimension {
                    mean: &zeros,
                    epistemic_std: &zeros,
                    aleatoric_std: &stds,
                    observed: &observed,
                }],
                groups: &vec![0; rows],
                follows: &follows,
            };
            noise_scale(&rows, 0)
        };
        assert_eq!(scale(20), 1.0);
        assert!((scale(21) - 2.0 / NORMAL_MEDIAN).abs() < 1e-5);
    }
}
