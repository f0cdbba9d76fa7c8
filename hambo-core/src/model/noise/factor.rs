//! What the noise of several states has in common: a gust that pushes two of them at once.
//!
//! The model's noise is epsilon_j = sigma_a,j · (L z)_j with independent standard normal z.
//! L is lower triangular with rows of length 1, so every state keeps its own standard
//! deviation, and L Lᵀ is the correlation of the log's residuals.

use crate::model::triangle;
use crate::numeric::ParameterError;
use crate::numeric::checksum::Checksum;
use crate::numeric::elementary::sqrt;

/// How far the length of a row may be from 1: a factor that shortens one would make the
/// noise of a state smaller than the model says.
const ROUNDING: f32 = 1e-4;

/// The factor L of the correlation of the noise.
///
/// ```
/// use hambo_core::model::NoiseFactor;
/// // Two states whose noise has the correlation 0.6.
/// let factor = NoiseFactor::new(&[1.0, 0.6, 0.8], 2)?;
/// let mut noise = [[1.0], [0.5]];
/// factor.correlate(&mut noise);
/// assert_eq!(noise, [[1.0], [1.0]]);
/// // Each row must have the length 1.
/// assert!(NoiseFactor::new(&[1.0, 0.6, 0.6], 2).is_err());
/// # Ok::<(), hambo_core::numeric::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoiseFactor<'a> {
    /// Row by row; empty where the noise of every state is independent of the others'.
    lower: &'a [f32],
}

impl<'a> NoiseFactor<'a> {
    /// Every state's noise is independent of the others'.
    pub const INDEPENDENT: Self = Self { lower: &[] };

    /// The factor for `outputs` states, row by row.
    ///
    /// # Errors
    /// If it has another size, or a row whose length is not 1 or whose last number is not
    /// positive.
    pub fn new(lower: &'a [f32], outputs: usize) -> Result<Self, ParameterError> {
        ParameterError::size("noise factor", triangle(outputs) == Some(lower.len()))?;
        let factor = Self { lower };
        let sound = |row: &[f32]| {
            let length = sqrt(row.iter().fold(0.0, |sum, x| sum + x * x));
            let unit = (1.0 - ROUNDING..=1.0 + ROUNDING).contains(&length);
            unit && row.last().is_some_and(|last| *last > 0.0)
        };
        let sound = (0..outputs).all(|state| factor.row(state).is_some_and(sound));
        ParameterError::number("rows of the noise factor", sound)?;
        Ok(factor)
    }

    /// Makes independent standard normal numbers, a row for each state, those of correlated
    /// noise. Every number takes those of the states before it, so the last comes first.
    pub fn correlate<const B: usize>(self, noise: &mut [[f32; B]]) {
        for state in (0..noise.len()).rev() {
            let Some((weights, rows)) = self.row(state).zip(noise.get_mut(..=state)) else {
                continue;
            };
            let mut sum = [0.0; B];
            for (weight, row) in weights.iter().zip(rows.iter()) {
                for (sum, z) in sum.iter_mut().zip(row) {
                    *sum += *weight * *z;
                }
            }
            if let Some(own) = rows.last_mut() {
                *own = sum;
            }
        }
    }

    /// Row `state`; none where there is no factor.
    fn row(self, state: usize) -> Option<&'a [f32]> {
        let first = triangle(state)?;
        self.lower
            .get(first..first.checked_add(state)?.checked_add(1)?)
    }
}

impl NoiseFactor<'_> {
    /// Adds where the numbers lie.
    pub(in crate::model) fn add_to(&self, sum: &mut Checksum) {
        let Self { lower } = self;
        sum.place(*lower);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::numeric::random::Stream;

    /// Correlations 0.6, 0 and 0.48.
    const LOWER: [f32; 6] = [1.0, 0.6, 0.8, 0.0, 0.6, 0.8];

    #[test]
    fn independent_noise_stays_as_it_is() {
        let mut noise = [[1.0, -2.0], [0.5, 3.0]];
        NoiseFactor::INDEPENDENT.correlate(&mut noise);
        assert_eq!(noise, [[1.0, -2.0], [0.5, 3.0]]);
    }

    #[test]
    fn each_lane_and_state_by_hand() {
        let mut noise = [[1.0, -2.0], [0.5, 3.0], [2.0, 0.0]];
        NoiseFactor::new(&LOWER, 3).unwrap().correlate(&mut noise);
        let wanted = [[1.0, -2.0], [1.0, 1.2], [1.9, 1.8]];
        for (row, wanted) in noise.iter().zip(wanted) {
            for (x, wanted) in row.iter().zip(wanted) {
                assert!((x - wanted).abs() < 1e-6, "{noise:?}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of draws")]
    fn draws_have_the_correlation_and_their_own_spread() {
        let factor = NoiseFactor::new(&LOWER, 3).unwrap();
        let mut products = [[0.0_f64; 3]; 3];
        let count = 20_000;
        for trajectory in 0..count {
            let mut stream = Stream::new(5, trajectory);
            let mut noise = [0; 3].map(|_| [stream.standard_normal()]);
            factor.correlate(&mut noise);
            for (i, [x]) in noise.iter().enumerate() {
                for (j, [y]) in noise.iter().enumerate() {
                    products[i][j] += f64::from(*x) * f64::from(*y) / f64::from(count);
                }
            }
        }
        let wanted = [[1.0, 0.6, 0.0], [0.6, 1.0, 0.48], [0.0, 0.48, 1.0]];
        for (row, wanted) in products.iter().flatten().zip(wanted.iter().flatten()) {
            assert!((row - wanted).abs() < 0.04, "{products:?}");
        }
    }

    #[test]
    fn a_factor_that_makes_noise_smaller_or_larger_is_refused() {
        let refused = |lower: &[f32], outputs| NoiseFactor::new(lower, outputs).is_err();
        assert!(!refused(&LOWER, 3) && !refused(&[1.0], 1));
        assert!(refused(&LOWER, 2) && refused(&[], 1) && refused(&LOWER[..5], 3));
        for (place, number) in [(0, 0.9), (2, 0.7), (2, -0.8), (5, f32::NAN), (4, 0.61)] {
            let mut lower = LOWER;
            lower[place] = number;
            assert!(refused(&lower, 3), "{lower:?}");
        }
    }
}
