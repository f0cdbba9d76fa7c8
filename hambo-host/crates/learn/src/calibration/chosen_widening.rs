//! The widening that the rows that choose ask for.
//!
//! A rollout draws noise beyond its interval as often as the interval says, so rows that lie a
//! little outside, and no more of them than chance leaves there, ask for nothing: with 150 rows
//! the farthest of a right model is outside in every second log, and a set that took it in would
//! be widened several times where the noise is larger than the set.

use hambo_core::numeric::random::normal_quantile_of_tail;

use super::distributions::lower_limit;
use super::gate::OUTSIDE;
use super::required_widening::Simulated;
use super::withheld::Withheld;
use hambo_base::order::exceeded_by;

/// The probability with which a right model's rows go farther than chance explains.
const TAIL: f64 = 0.05;

/// The least factor on the set of dimension `j` of `count` with which it holds the windows of
/// `length` rows, but for those that noise leaves out.
pub(super) fn least_widening(
    simulated: Simulated<'_>,
    rows: &Withheld<'_>,
    (j, count): (usize, usize),
    length: usize,
) -> f64 {
    let share = OUTSIDE / count as f64;
    let required = simulated.required_widening_in(rows, j, length);
    // Noise reaches farther than this in none of so many windows.
    let tail = 0.5 * TAIL / (required.len().max(1) * count) as f64;
    let farthest = Simulated {
        quantile: f64::from(normal_quantile_of_tail(tail as f32)),
        ..simulated
    };
    let beyond = farthest.required_widening_in(rows, j, length);
    let (mut left, mut near) = (Vec::new(), Vec::new());
    for (required, beyond) in required.iter().zip(beyond) {
        if beyond > 0.0 || required.is_nan() {
            left.push(*required);
        } else {
            near.push(*required);
        }
    }
    near.sort_unstable_by(f64::total_cmp);
    near.truncate(near.len() - by_chance(required.len(), share).min(near.len()));
    left.extend(near);
    exceeded_by(&mut left, share).unwrap_or(0.0)
}

/// The most of some windows that lie outside by chance, each with a probability.
fn by_chance(windows: usize, share: f64) -> usize {
    let counts = 1..=windows;
    counts
        .take_while(|count| lower_limit(*count, windows, TAIL) <= share)
        .last()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::withheld::WithheldDimension;
    use hambo_base::Held;

    /// What rows ask for of a set of half a deviation of the noise.
    fn asked(observed: &[f32], noise: f32) -> f64 {
        let rows = observed.len();
        let (zeros, set, noise) = (vec![0.0; rows], vec![0.5; rows], vec![noise; rows]);
        let (groups, follows) = (vec![0; rows], vec![false; rows]);
        let withheld = Withheld {
            dimensions: vec![WithheldDimension {
                mean: &zeros,
                epistemic_std: &set,
                aleatoric_std: &noise,
                observed,
                held: Held::NONE,
            }],
            groups: &groups,
            follows: &follows,
        };
        let simulated = Simulated {
            radii: &[1.0],
            noise_scale: &[1.0],
            quantile: 2.576,
            stays: &[],
        };
        least_widening(simulated, &withheld, (0, 1), 1)
    }

    /// 150 rows of noise, the last ones as given.
    fn rows(last: &[f32]) -> Vec<f32> {
        let mut rows: Vec<f32> = (0..150).map(|row| (row % 21) as f32 * 0.2 - 2.0).collect();
        let first = rows.len() - last.len();
        rows[first..].copy_from_slice(last);
        rows
    }

    #[test]
    fn what_chance_leaves_outside_asks_for_nothing() {
        assert_eq!(by_chance(150, 0.01), 4);
        assert_eq!(by_chance(10, 0.005), 0);
        assert_eq!(by_chance(5, 0.005), 0);
        assert_eq!(asked(&rows(&[3.4, -3.3, 3.0]), 1.0), 0.0);
        // Five are one too many, and one in a hundred may stay outside.
        assert_eq!(asked(&rows(&[3.5, 3.4, -3.3, 3.0, 2.9]), 1.0), 0.0);
        let asked = asked(&rows(&[3.5, 3.5, 3.4, -3.3, 3.2, 3.1, 3.0, 2.9]), 1.0);
        assert!((asked - (3.1 - 2.576) / 0.5).abs() < 1e-3, "{asked}");
    }

    #[test]
    fn a_row_that_noise_never_reaches_counts_whatever_chance_leaves() {
        let asked_by = asked(&rows(&[6.0, 6.0]), 1.0);
        assert!((asked_by - (6.0 - 2.576) / 0.5).abs() < 1e-3, "{asked_by}");
        // Without noise every row counts.
        let errors = asked(&rows(&[3.5, 3.4, 3.3]), 1e-6);
        assert!((errors - 3.4 / 0.5).abs() < 1e-3, "{errors}");
    }

    #[test]
    fn no_number_asks_for_the_widest() {
        let asked = asked(&rows(&[f32::NAN; 5]), 1.0);
        assert!(asked.is_nan() || asked > 10.0, "{asked}");
    }
}
