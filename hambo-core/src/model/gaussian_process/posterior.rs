//! Mean and standard deviation of one output, and why the latter is never
//! too small.
//!
//! Let k be the true kernel vector, k̃ the evaluated one, ṽ the evaluated
//! M k̃, and u = 2⁻²⁴. Then for every row i
//!
//! |ṽ_i − (M k)_i| ≤ e_i = row_sum_i · max|k̃ − k| + product_error_i · max|k̃|
//!
//! with row_sum_i = Σ_j |M_ij| and product_error_i = u Σ_j n_ij |M_ij|, where
//! n_ij counts the roundings that M_ij k̃_j goes through: M's own to f32, the
//! product and the sums after it. How far k̃ is from k follows from the
//! rounding of the query, of the stored points and of the kernel's
//! arithmetic: kernel_error + kernel_error_growth · |x / l|. All four are the
//! host's, computed in f64.
//!
//! Since |M k|² ≥ Σ max(0, |ṽ_i| − e_i)², the variance is at most
//!
//! k(x, x) · prior_inflation − Σ max(0, |ṽ_i| − e_i)²
//!
//! A row that rounding has drowned is left out, as if its point told nothing:
//! the error is never more than what the row could have explained.
//! prior_inflation covers the rounding of k(x, x), of the squares and of
//! their compensated sum.
//!
//! So the standard deviation is at least that of the posterior in f64 at this
//! (s, a), of the data, standardisation and hyperparameters in f64, before
//! any of them was rounded for storage. The mean's rounding is not in it.

use super::Output;
use crate::arithmetic::dense::TILE;
use crate::arithmetic::elementary::{maximum, square_root};
use crate::arithmetic::triangular::CHUNK;

use super::kernel::Kernel;

/// 1 + 8u: more than the square root and the products after it can lose.
const ROUND_UP: f32 = 1.0 + 4.0 * f32::EPSILON;
/// The least variance, as a part of k(x, x).
const FLOOR: f32 = 2.0 * f32::EPSILON;

/// Mean and standard deviation of f, in standardised units.
pub(super) struct Posterior<const B: usize> {
    pub mean: [f32; B],
    pub std: [f32; B],
}

/// A sum that carries its rounding errors along.
struct CompensatedSum<const B: usize> {
    sum: [f32; B],
    lost: [f32; B],
}

impl<const B: usize> CompensatedSum<B> {
    /// Subtracts the squares.
    fn subtract_squares(&mut self, row: &[f32; B]) {
        let sums = self.sum.iter_mut().zip(self.lost.iter_mut());
        for ((sum, lost), x) in sums.zip(row) {
            let term = -(*x * *x);
            let next = *sum + term;
            // Knuth's two-sum: what `next` has lost, exactly.
            let there = next - *sum;
            *lost += (*sum - (next - there)) + (term - there);
            *sum = next;
        }
    }
}

impl Output<'_> {
    /// The posterior at `input`. Leaves the slopes of the kernel vector in
    /// `slopes` and v, shrunk by its error bound, in `projection`; `kernel`
    /// is working space. All three have as many rows as M, padded.
    pub(super) fn posterior<'p, const B: usize>(
        &self,
        points: impl Iterator<Item = &'p [f32]>,
        input: &[[f32; B]],
        kernel: &mut [[f32; B]],
        slopes: &mut [[f32; B]],
        projection: &mut [[f32; B]],
    ) -> Option<Posterior<B>> {
        let largest = self.kernel_vector(points, input, kernel, slopes);
        let mean = weighted_sum(self.weights, kernel);
        self.factor.multiply(kernel, projection)?;

        let mut squared_norm = [0.0; B];
        for (x, precision) in input.iter().zip(self.precision) {
            for (sum, x) in squared_norm.iter_mut().zip(x) {
                *sum += *precision * (*x * *x);
            }
        }
        let prior = squared_norm.map(|square| self.prior_variance(square));
        let kernel_error = squared_norm.map(|square| {
            self.numbers.kernel_error + self.numbers.kernel_error_growth * square_root(square)
        });
        let mut variance = CompensatedSum {
            sum: prior.map(|prior| prior * self.numbers.prior_inflation),
            lost: [0.0; B],
        };
        let (tiles, _) = projection.as_chunks_mut::<TILE>();
        for (tile, (sums, errors)) in tiles
            .iter_mut()
            .zip(self.row_sums.iter().zip(self.product_errors))
        {
            for (row, (row_sum, product_error)) in tile.iter_mut().zip(sums.iter().zip(errors)) {
                for ((v, kernel_error), largest) in row.iter_mut().zip(&kernel_error).zip(&largest)
                {
                    let error = *row_sum * *kernel_error + *product_error * *largest;
                    *v = shrink(*v, error);
                }
                variance.subtract_squares(row);
            }
        }
        let mut std = [0.0; B];
        for ((std, prior), (sum, lost)) in std
            .iter_mut()
            .zip(&prior)
            .zip(variance.sum.iter().zip(&variance.lost))
        {
            *std = square_root(maximum(*sum + *lost, *prior * FLOOR)) * ROUND_UP;
        }
        Some(Posterior { mean, std })
    }

    /// k(x, x), where `square` is |x / l|².
    fn prior_variance(&self, square: f32) -> f32 {
        let shape = match self.kernel {
            Kernel::Linear => square,
            Kernel::Rbf | Kernel::Matern32 | Kernel::Matern52 => 1.0,
        };
        self.numbers.signal_variance * shape + self.numbers.constant_variance
    }

    /// k and its slopes; gives max |k|. Rows beyond the last point are zero.
    fn kernel_vector<'p, const B: usize>(
        &self,
        points: impl Iterator<Item = &'p [f32]>,
        input: &[[f32; B]],
        kernel: &mut [[f32; B]],
        slopes: &mut [[f32; B]],
    ) -> [f32; B] {
        for row in kernel.iter_mut().rev().take(TILE) {
            *row = [0.0; B];
        }
        let numbers = &self.numbers;
        let mut largest = [0.0; B];
        for ((values, slopes), point) in kernel.iter_mut().zip(slopes.iter_mut()).zip(points) {
            let measures = self.kernel.measure(input, point, self.precision);
            let outputs = values.iter_mut().zip(slopes.iter_mut());
            for (((k, slope), largest), measure) in outputs.zip(&mut largest).zip(measures) {
                let (value, derivative) = self.kernel.value_and_slope(measure);
                *k = numbers.signal_variance * value + numbers.constant_variance;
                *slope = numbers.signal_variance * derivative;
                *largest = maximum(k.abs(), *largest);
            }
        }
        largest
    }
}

/// Moves `v` towards zero by `error`, and not beyond; a NaN becomes zero.
fn shrink(v: f32, error: f32) -> f32 {
    let size = maximum(v.abs() - error, 0.0);
    if v < 0.0 { -size } else { size }
}

/// Σ weight · row, in chunks as the triangular product.
fn weighted_sum<const B: usize>(weights: &[f32], rows: &[[f32; B]]) -> [f32; B] {
    let mut total = [0.0; B];
    let mut add = |weights: &[f32], rows: &[[f32; B]]| {
        let mut sum = [0.0; B];
        for (weight, row) in weights.iter().zip(rows) {
            for (s, x) in sum.iter_mut().zip(row) {
                *s += *weight * *x;
            }
        }
        for (t, s) in total.iter_mut().zip(&sum) {
            *t += *s;
        }
    };
    let (chunks, last) = weights.as_chunks::<CHUNK>();
    let (rows, _) = rows.split_at_checked(weights.len()).unwrap_or((rows, &[]));
    let (row_chunks, last_rows) = rows.as_chunks::<CHUNK>();
    for (weights, rows) in chunks.iter().zip(row_chunks) {
        add(weights, rows);
    }
    add(last, last_rows);
    total
}
