//! The scale of the predicted noise.
//!
//! A residual is noise and model error together. From one row to the next the
//! model error hardly changes, so differences of residuals show the noise
//! alone; an error that stays in an episode does not count as noise, and what
//! is left over goes into the set. The scale is never larger than the residuals
//! themselves allow: more noise is not more caution. The lesser of two medians is less than
//! 1 for most right models, so only what differs from 1 significantly is rescaled.

use super::withheld::{Withheld, WithheldRow};
use hambo_base::order::median;

/// The median of |X| for a standard normal X.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;
/// Pairs of rows below which the noise is left as the model has it.
const FEWEST: usize = 20;
/// The smallest and the largest scale.
const LIMITS: [f64; 2] = [0.02, 50.0];

/// The standard error of the logarithm of a median of |X|, times the root of the number of
/// independent X: 1 / (2 f(m) m) for the density f and the median m of |X|.
const OF_ONE: f64 = 1.166_4;
/// Overlapping differences of independent rows that tell as much as one independent number.
const OVERLAP: f64 = 1.25;
/// Standard errors from which on a scale differs from 1: of a right model in 1.5 % of logs.
const SIGNIFICANT: f64 = 2.5;

/// The scale of one dimension's noise.
pub(super) fn noise_scale(rows: &Withheld<'_>, dimension: usize) -> f64 {
    let Some(columns) = rows.dimensions.get(dimension) else {
        return 1.0;
    };
    // Residuals in predicted standard deviations of the noise, where a row says something.
    let score = |row: WithheldRow| row.residual / row.aleatoric.max(f64::MIN_POSITIVE);
    let rows_told = columns.rows().map(|row| (!row.held).then(|| score(row)));
    let scores: Vec<Option<f64>> = rows_told.collect();
    let follows = rows.follows.iter().skip(1);
    let pairs = scores.windows(2).zip(follows);
    let mut differences: Vec<f64> = pairs
        .filter(|(_, follows)| **follows)
        .filter_map(|(pair, _)| Some((pair[1]? - pair[0]?).abs() / std::f64::consts::SQRT_2))
        .collect();
    if differences.len() < FEWEST {
        return 1.0;
    }
    let mut sizes: Vec<f64> = scores.iter().flatten().map(|score| score.abs()).collect();
    let (Some(whole), Some(noise)) = (median(&mut sizes), median(&mut differences)) else {
        return 1.0;
    };
    let independent = if whole < noise {
        sizes.len() as f64
    } else {
        differences.len() as f64 / OVERLAP
    };
    let scale = noise.min(whole) / NORMAL_MEDIAN;
    // The median of noise without any is 0, and its logarithm infinite: significant.
    if scale.ln().abs() <= SIGNIFICANT * OF_ONE / independent.sqrt() {
        return 1.0;
    }
    scale.clamp(LIMITS[0], LIMITS[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::withheld::WithheldDimension;
    use hambo_base::Held;

    /// The scales of models that predict 1 where the noise is `true_std`, for some logs.
    fn scales(true_std: f32, rows: usize) -> Vec<f64> {
        let scale = |seed: u64| {
            let mut random = hambo_base::random::Random::new(seed, 9);
            let observed: Vec<f32> = (0..rows).map(|_| true_std * random.normal()).collect();
            let follows: Vec<bool> = (0..rows).map(|row| row % 30 > 0).collect();
            let (zeros, ones) = (vec![0.0; rows], vec![1.0; rows]);
            let rows = Withheld {
                dimensions: vec![WithheldDimension {
                    mean: &zeros,
                    epistemic_std: &zeros,
                    aleatoric_std: &ones,
                    observed: &observed,
                    held: Held::NONE,
                }],
                groups: &vec![0; rows],
                follows: &follows,
            };
            noise_scale(&rows, 0)
        };
        let mut scales: Vec<f64> = (0..1000).map(scale).collect();
        scales.sort_by(f64::total_cmp);
        scales
    }

    #[test]
    fn a_right_model_keeps_its_noise() {
        for rows in [200, 1000] {
            let scales = scales(1.0, rows);
            let mean = scales.iter().sum::<f64>() / 1000.0;
            assert!((mean - 1.0).abs() < 0.01, "{rows}: {mean}");
            assert!(scales[50] >= 0.97 && scales[950] <= 1.03, "{rows}");
        }
    }

    #[test]
    fn noise_of_another_size_is_found() {
        for size in [0.5_f32, 2.0] {
            let scales = scales(size, 200);
            let near = |scale: &&f64| (**scale / f64::from(size) - 1.0).abs() < 0.25;
            assert!(scales.iter().filter(near).count() >= 980, "{size}");
        }
    }

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
                    held: Held::NONE,
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
