//! Mean and standard deviation of one output, and why the latter is never
//! too small.
//!
//! Points and query are moved to whole coordinates (see [`super::kernel`]),
//! and alpha and M are those of the moved points. So the sum of weights times
//! kernel, whose terms are large and cancel, is one of integers; it does not
//! depend on the points' order.
//!
//! *The variance in f32.* Let k be the kernel vector at the moved query and
//! points, k̃ the evaluated one, ṽ the evaluated M k̃, and u = 2⁻²⁴. Then for
//! every row i
//!
//! |ṽ_i − (M k)_i| ≤ e_i = row_sum_i · kernel_error + product_error_i · max|k̃|
//!
//! with row_sum_i = Σ_j |M_ij| and product_error_i = u Σ_j n_ij |M_ij|, where
//! n_ij counts the roundings that M_ij k̃_j goes through. Since |M k|² ≥ Σ
//! max(0, |ṽ_i| − e_i)², the variance is at most
//!
//! k(x, x) · prior_inflation − Σ max(0, |ṽ_i| − e_i)²
//!
//! A row that rounding has drowned is left out, as if its point told nothing:
//! the error is never more than what the row could have explained.
//! prior_inflation covers the rounding of k(x, x), of the squares and of
//! their compensated sum.
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
//! |f|, std_factor makes room for this too, and likewise what is added for the
//! query. What the integers lose, 2⁻³² of the kernel's values and of a weight,
//! is part of std_error, in full where beta is at least 1. Only the rounding
//! of the mean in physical units to f32 is in no bound.

use super::Output;
use super::coordinates::{difference, store, whole};
use super::kernel::{FRACTION, Kernel, Matern32, Matern52, Rbf, Stationary};
use crate::arithmetic::dense::TILE;
use crate::arithmetic::elementary::{clamp, maximum, square_root};

/// 1 + 8u: more than the square root and the products after it can lose.
const ROUND_UP: f32 = 1.0 + 4.0 * f32::EPSILON;
/// The least variance, as a part of k(x, x).
const FLOOR: f32 = 2.0 * f32::EPSILON;

/// What is known of f at a query, in standardised units.
pub(super) struct Posterior<const B: usize> {
    pub mean: [f32; B],
    /// Rounded up, for the set.
    pub std: [f32; B],
    /// Before std_factor and std_error: what derivatives divide by.
    pub core_std: [f32; B],
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
    /// The posterior at `input`, the distance from the inputs' mean. Leaves
    /// the slopes of the kernel vector in `slopes` and v, shrunk by its error
    /// bound, in `projection`; `query` (a row for each input) and `kernel`
    /// are working space. The others have as many rows as M, padded.
    pub(super) fn posterior<const B: usize>(
        &self,
        input: &[[f32; B]],
        query: &mut [[f32; B]],
        kernel: &mut [[f32; B]],
        slopes: &mut [[f32; B]],
        projection: &mut [[f32; B]],
    ) -> Option<Posterior<B>> {
        for row in kernel.iter_mut().rev().take(TILE) {
            *row = [0.0; B];
        }
        let square = self.coordinates(input, query);
        let (mut mean, largest) = match self.kernel {
            Kernel::Rbf => self.kernel_vector::<Rbf, B>(query, kernel, slopes),
            Kernel::Matern32 => self.kernel_vector::<Matern32, B>(query, kernel, slopes),
            Kernel::Matern52 => self.kernel_vector::<Matern52, B>(query, kernel, slopes),
            Kernel::Linear => {
                let largest = self.linear_kernel_vector(query, kernel, slopes);
                (self.linear_mean(query), largest)
            }
        };
        for (mean, square) in mean.iter_mut().zip(&square) {
            *mean += self.numbers.mean_offset;
            // Integers know no NaN.
            if square.is_nan() {
                *mean = f32::NAN;
            }
        }
        self.factor.multiply(kernel, projection)?;

        let prior = square.map(|square| self.prior_variance(square));
        let norm = square.map(|square| maximum(square_root(square), 0.0));
        let kernel_error =
            norm.map(|norm| self.numbers.kernel_error + self.numbers.kernel_error_growth * norm);
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
        let mut core_std = [0.0; B];
        for ((std, prior), (sum, lost)) in core_std
            .iter_mut()
            .zip(&prior)
            .zip(variance.sum.iter().zip(&variance.lost))
        {
            *std = square_root(maximum(*sum + *lost, *prior * FLOOR));
        }
        let mut std = core_std;
        for (std, norm) in std.iter_mut().zip(&norm) {
            let error = self.numbers.std_error + self.numbers.std_error_growth * *norm;
            *std = (*std * self.numbers.std_factor + error) * ROUND_UP;
        }
        Some(Posterior {
            mean,
            std,
            core_std,
        })
    }

    /// k(x, x), where `square` is |x|² in coordinates.
    fn prior_variance(&self, square: f32) -> f32 {
        let unit = self.numbers.coordinate_unit;
        let shape = match self.kernel {
            Kernel::Linear => square * (unit * unit),
            Kernel::Rbf | Kernel::Matern32 | Kernel::Matern52 => 1.0,
        };
        self.numbers.signal_variance * shape + self.numbers.constant_variance
    }

    /// The query's coordinates: whole ones as they are stored, for the linear
    /// kernel f32. Gives the sum of their squares, a NaN if one of them is.
    pub(super) fn coordinates<const B: usize>(
        &self,
        input: &[[f32; B]],
        query: &mut [[f32; B]],
    ) -> [f32; B] {
        let mut square = [0.0; B];
        for ((coordinates, x), factor) in query.iter_mut().zip(input).zip(self.factors) {
            for ((stored, x), sum) in coordinates.iter_mut().zip(x).zip(&mut square) {
                let coordinate = *factor * *x;
                if self.kernel == Kernel::Linear {
                    *stored = coordinate;
                    *sum += coordinate * coordinate;
                } else {
                    let coordinate = clamp(coordinate, -self.limit, self.limit);
                    *stored = store(coordinate);
                    *sum += coordinate * coordinate;
                }
            }
        }
        square
    }

    /// k and its slopes of a stationary kernel; gives the mean before its
    /// offset, and max |k|. Out of line, so that a program holds it once.
    #[inline(never)]
    fn kernel_vector<S: Stationary, const B: usize>(
        &self,
        query: &[[f32; B]],
        kernel: &mut [[f32; B]],
        slopes: &mut [[f32; B]],
    ) -> ([f32; B], [f32; B]) {
        let constant = self.numbers.constant_variance;
        let scale = self.numbers.signal_variance * FRACTION;
        let steepness = -(scale * self.kernel.steepness());
        let (mut sums, mut largest) = ([0_i64; B], [0_u32; B]);
        let rows = kernel.iter_mut().zip(slopes.iter_mut());
        let points = self.stored_points().zip(self.weights);
        for ((row, slopes), (point, weight)) in rows.zip(points) {
            let mut squares = [0_u64; B];
            for (row, point) in query.iter().zip(point) {
                for (square, x) in squares.iter_mut().zip(row) {
                    let difference = i64::from(difference(*x, *point));
                    let product = difference.wrapping_mul(difference);
                    *square = square.wrapping_add(product.cast_unsigned());
                }
            }
            let shapes = S::shapes(&squares, self.fraction_bits);
            let weight = i64::from(whole(*weight));
            let totals = sums.iter_mut().zip(&mut largest);
            for ((sum, largest), value) in totals.zip(shapes.values) {
                let product = weight.wrapping_mul(i64::from(value));
                *sum = sum.wrapping_add(product >> 16);
                *largest = value.max(*largest);
            }
            for (k, value) in row.iter_mut().zip(shapes.values) {
                *k = scale * value as f32 + constant;
            }
            for (slope, value) in slopes.iter_mut().zip(shapes.slopes) {
                *slope = steepness * value as f32;
            }
        }
        let mean = sums.map(|sum| sum as f32 * self.numbers.weight_unit);
        (mean, largest.map(|value| scale * value as f32 + constant))
    }

    /// k and its slopes of the linear kernel; gives max |k|.
    #[inline(never)]
    fn linear_kernel_vector<const B: usize>(
        &self,
        query: &[[f32; B]],
        kernel: &mut [[f32; B]],
        slopes: &mut [[f32; B]],
    ) -> [f32; B] {
        let numbers = &self.numbers;
        let unit = numbers.coordinate_unit;
        let scale = numbers.signal_variance * (unit * unit);
        let mut largest = [0.0; B];
        let rows = kernel.iter_mut().zip(slopes.iter_mut());
        for ((values, slopes), point) in rows.zip(self.stored_points()) {
            let mut measures = [0.0; B];
            for (row, point) in query.iter().zip(point) {
                let point = whole(*point) as f32;
                for (sum, x) in measures.iter_mut().zip(row) {
                    *sum += point * *x;
                }
            }
            *slopes = [numbers.signal_variance; B];
            for ((k, largest), measure) in values.iter_mut().zip(&mut largest).zip(measures) {
                *k = scale * measure + numbers.constant_variance;
                *largest = maximum(k.abs(), *largest);
            }
        }
        largest
    }

    /// The mean of the linear kernel, before its offset.
    fn linear_mean<const B: usize>(&self, query: &[[f32; B]]) -> [f32; B] {
        let mut mean = [0.0; B];
        for (row, weight) in query.iter().zip(self.linear_weights) {
            for (mean, x) in mean.iter_mut().zip(row) {
                *mean += *weight * *x;
            }
        }
        mean
    }
}

/// Moves `v` towards zero by `error`, and not beyond; a NaN becomes zero.
fn shrink(v: f32, error: f32) -> f32 {
    let size = maximum(v.abs() - error, 0.0);
    if v < 0.0 { -size } else { size }
}
