//! M, and what of the prior variance M k explains: in f32 or in integers.
//!
//! See [`super::posterior`] for what each of them loses.

use serde::{Deserialize, Serialize};

use super::kernel::FRACTION;
use super::numbers::OutputNumbers;
use crate::arithmetic::dense::TILE;
use crate::arithmetic::elementary::maximum;
use crate::arithmetic::triangular::LowerTriangular;
use crate::arithmetic::whole_triangular::WholeTriangular;

/// How an output with a stationary kernel sums M k.
///
/// ```
/// use hambo_core::model::Arithmetic;
/// // Stored by its place: the order is the format.
/// let mut buffer = [0; 4];
/// let bytes = postcard::to_slice(&Arithmetic::Whole, &mut buffer).unwrap();
/// assert_eq!(bytes, [1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Arithmetic {
    /// In f32: faster on a device, and enough where the noise is not small.
    Single,
    /// In integers: for terms that are large and cancel.
    Whole,
}

/// What is stored of M.
#[derive(Clone, Copy, Debug)]
pub(super) enum Factor<'a> {
    /// M.
    Single {
        /// Σ_j |M_ij| for each row i.
        row_sums: &'a [[f32; TILE]],
        /// What rounding adds to row i of M k, for each unit of max |k|.
        product_errors: &'a [[f32; TILE]],
        matrix: LowerTriangular<'a>,
    },
    /// M s² / √p.
    Whole(WholeTriangular<'a>),
}

/// What the integer variance counts, as a part of k(x, x).
const VARIANCE_UNIT: f32 = 1.0 / (1_u64 << 62) as f32;

impl<'a> Factor<'a> {
    /// The tiles that it takes, each part padded: two numbers for each row,
    /// and the matrix.
    pub fn tiles(points: usize) -> Option<usize> {
        let rows = points.div_ceil(TILE).checked_mul(2)?;
        rows.checked_add(LowerTriangular::tiles(points)?)
    }

    pub fn new(arithmetic: Arithmetic, points: usize, tiles: &'a [[f32; TILE]]) -> Option<Self> {
        let rows = points.div_ceil(TILE);
        let (first, tiles) = tiles.split_at_checked(rows)?;
        let (second, tiles) = tiles.split_at_checked(rows)?;
        Some(match arithmetic {
            Arithmetic::Single => Self::Single {
                row_sums: first,
                product_errors: second,
                matrix: LowerTriangular::new(tiles, points)?,
            },
            Arithmetic::Whole => Self::Whole(WholeTriangular::new(tiles, first, second, points)?),
        })
    }

    /// Whether its numbers are in their ranges.
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Single {
                row_sums,
                product_errors,
                matrix,
            } => {
                let mut errors = row_sums.iter().chain(*product_errors).flatten();
                errors.all(|x| x.is_finite() && *x >= 0.0) && matrix.is_finite()
            }
            Self::Whole(matrix) => matrix.has_sound_shifts(),
        }
    }

    /// The variance that is left of the prior one, without variance_error.
    /// `kernel` is k in units of 2⁻³¹ of the signal variance; leaves in
    /// `projection` what [`Self::pull_back`] takes.
    pub fn variance<const B: usize>(
        &self,
        numbers: &OutputNumbers,
        kernel: &mut [[f32; B]],
        projection: &mut [[f32; B]],
    ) -> Option<[f32; B]> {
        match self {
            Self::Single {
                row_sums,
                product_errors,
                matrix,
            } => {
                let largest = single_kernel(numbers, kernel);
                matrix.multiply(kernel, projection)?;
                let mut left = CompensatedSum {
                    sum: [numbers.prior_variance; B],
                    lost: [0.0; B],
                };
                let (tiles, _) = projection.as_chunks_mut::<TILE>();
                let errors = row_sums.iter().zip(*product_errors);
                for (tile, (sums, errors)) in tiles.iter_mut().zip(errors) {
                    for (row, (row_sum, product_error)) in
                        tile.iter_mut().zip(sums.iter().zip(errors))
                    {
                        let kernel_error = *row_sum * numbers.kernel_error;
                        for (v, largest) in row.iter_mut().zip(&largest) {
                            *v = shrink(*v, kernel_error + *product_error * *largest);
                        }
                        left.subtract_squares(row);
                    }
                }
                let mut variance = left.sum;
                for (sum, lost) in variance.iter_mut().zip(&left.lost) {
                    *sum += *lost;
                }
                Some(variance)
            }
            Self::Whole(matrix) => {
                matrix.multiply(whole_rows(kernel), whole_rows(projection))?;
                // 1 − |ŵ|² in units of 2⁻⁶².
                let mut left = [1_i64 << 62; B];
                let (tiles, _) = projection.as_chunks_mut::<TILE>();
                for (tile, scales) in tiles.iter_mut().zip(matrix.scales()) {
                    for (row, scale) in tile.iter_mut().zip(scales) {
                        for (x, left) in row.iter_mut().zip(&mut left) {
                            let explained = x.to_bits().cast_signed();
                            let square = i64::from(explained).wrapping_mul(i64::from(explained));
                            *left = left.wrapping_sub(square);
                            *x = explained as f32 * scale;
                        }
                    }
                }
                let unit = numbers.prior_variance * VARIANCE_UNIT;
                Some(left.map(|left| left as f32 * unit))
            }
        }
    }

    /// Mᵀ v in `kernel`, up to the factor that is returned.
    pub fn pull_back<const B: usize>(
        &self,
        numbers: &OutputNumbers,
        projection: &[[f32; B]],
        kernel: &mut [[f32; B]],
    ) -> Option<f32> {
        match self {
            Self::Single { matrix, .. } => {
                matrix.multiply_transposed(projection, kernel)?;
                Some(1.0)
            }
            Self::Whole(matrix) => {
                matrix.multiply_transposed(projection, kernel)?;
                Some(numbers.prior_variance / numbers.signal_variance)
            }
        }
    }
}

/// The same memory for whole numbers.
pub(super) fn whole_rows<const B: usize>(rows: &mut [[f32; B]]) -> &mut [[i32; B]] {
    let whole: &mut [i32] = bytemuck::cast_slice_mut(rows.as_flattened_mut());
    whole.as_chunks_mut().0
}

/// k in f32; gives max |k|.
fn single_kernel<const B: usize>(numbers: &OutputNumbers, kernel: &mut [[f32; B]]) -> [f32; B] {
    let scale = numbers.signal_variance * (2.0 * FRACTION);
    let mut largest = [0.0; B];
    for row in kernel {
        for (k, largest) in row.iter_mut().zip(&mut largest) {
            let fraction = k.to_bits().cast_signed() as f32;
            *k = scale * fraction + numbers.constant_variance;
            *largest = maximum(*k, *largest);
        }
    }
    largest
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

/// Moves `v` towards zero by `error`, and not beyond; a NaN becomes zero.
fn shrink(v: f32, error: f32) -> f32 {
    let size = maximum(v.abs() - error, 0.0);
    if v < 0.0 { -size } else { size }
}
