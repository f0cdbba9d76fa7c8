//! What is known of f at a query, and why the standard deviation is never too
//! small.
//!
//! Points and query are moved to integer coordinates (see [`super::kernel`]),
//! and alpha and M are those of the moved points. So the sum of weights times
//! kernel, whose terms are large and cancel, is one of integers; it does not
//! depend on the points' order.
//!
//! *The variance.* What is stored of M is W = (I + G) M s² / √p, rounded to
//! integers row by row, with p = k(x, x), s² the signal variance and η ≥
//! |I + G|² − 1 computed by the host from the numbers as they are. Let k̂ be
//! the evaluated kernel vector and ŵ the evaluated W k̂ / s², each row of which
//! is rounded by 2⁻³¹ at most. Then
//!
//! p − |M k̂|² ≤ p (1 − |ŵ|² + η + 2 √N 2⁻³¹)
//!
//! up to terms of second order. That sum is variance_error's first part.
//!
//! *Its kernel.* With A = K + noise², w = A⁻¹ k and δ = k̂ − k, the variance at
//! k is v = p − |M k̂|² + 2 wᵀδ + |M δ|². The posterior's variance is the
//! square of the distance from k(x, ·) to Σ w_i k(x_i, ·), and noise² |w|²; so
//! |w| ≤ √v / noise, and with e = |δ| / noise it is v ≤ p − |M k̂|² + 2 e √v +
//! e², from which
//!
//! √v ≤ e + √(p − |M k̂|² + 2 e²).
//!
//! 2 e² is variance_error's second part, and e is part of std_error: what the
//! kernel is off by costs as much as it does, not its square root.
//!
//! *Groups.* Where the variance takes points together (see [`super::groups`]),
//! Uᵀ k stands for k, Uᵀ A U for A and noise² Uᵀ U for noise² · 1 in all of
//! this; w is then U times the groups' weights, and noise |w| ≤ √v as before. So
//! e is the norm of what the groups' sums are off by, each over the noise of its
//! sum, W has m rows, and √m stands for √N. What follows does not change: it
//! holds for every w with noise |w| ≤ √v.
//!
//! *The moves.* In the kernel's space |k(x, ·) − k(x′, ·)| ≤ c |x − x′|. The
//! posterior's standard deviation is the least distance of k(x, ·) to Σ w_i
//! k(x_i, ·), the noise of w added in squares. So a move of the query by d
//! changes it by c d at most; moves of the points change it by c Σ d_i |w_i|,
//! and by Cauchy and Schwarz √Σd² · std / noise bounds that sum, which is a
//! factor on the standard deviation: std_factor.
//!
//! So the standard deviation is at least that of the posterior in f64 at this
//! (s, a), of the data, standardisation and hyperparameters in f64, before
//! any of them was rounded for storage.
//!
//! *The mean.* A move of x_i by d changes what was seen there by |f| c d at
//! most, and the mean by |f| times the sum above. So where beta is at least
//! |f|, std_factor makes room for this too, and so does what is added for the
//! query. What the integers lose, 2⁻³² of the kernel's values and of a weight,
//! is part of std_error, in full where beta is at least 1. Only the rounding
//! of the mean in physical units to f32 is in no bound.

use super::numbers::OutputNumbers;
use crate::numeric::elementary::{maximum, sqrt};

/// 1 + 8u: more than the square root and what stands around it can lose.
const ROUND_UP: f32 = 1.0 + 4.0 * f32::EPSILON;

/// What is known of f at a query, in standardised units.
pub(super) struct OutputPosterior<const B: usize> {
    pub mean: [f32; B],
    /// Rounded up, for the set.
    pub std: [f32; B],
    /// Before std_factor and std_error: what derivatives divide by.
    pub core_std: [f32; B],
}

impl<const B: usize> OutputPosterior<B> {
    /// Of a variance without its errors, and the square of the query's norm
    /// in coordinates, which is NaN if the query is.
    pub fn new(
        numbers: &OutputNumbers,
        square: &[f32; B],
        mut mean: [f32; B],
        variance: &[f32; B],
    ) -> Self {
        let (mut std, mut core_std) = ([0.0; B], [0.0; B]);
        let places = std.iter_mut().zip(&mut core_std).zip(&mut mean);
        for (((std, core_std), mean), (variance, square)) in places.zip(variance.iter().zip(square))
        {
            *mean += numbers.mean_offset;
            // Integers know no NaN.
            if square.is_nan() {
                *mean = f32::NAN;
            }
            let norm = maximum(sqrt(*square), 0.0);
            let error = numbers.std_error + numbers.std_error_growth * norm;
            *core_std = sqrt(maximum(*variance, 0.0) + numbers.variance_error);
            *std = (*core_std * numbers.std_factor + error) * ROUND_UP;
        }
        Self {
            mean,
            std,
            core_std,
        }
    }
}
