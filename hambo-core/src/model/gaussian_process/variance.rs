//! The posterior variance k(x, x) − |M k|², M = L⁻¹, in integers.
//!
//! The terms of M k are large and cancel; f32 would lose most of them. What is
//! stored of M is M s² / √p, s² being the signal variance and p = k(x, x), so
//! that a row's result is between −1 and 1. [`super::posterior`] says what
//! the integers lose.

use super::numbers::OutputNumbers;
use crate::numeric::Slices;
use crate::numeric::dense::TILE;
use crate::numeric::triangular::LowerTriangular;

/// The unit of the variance's integer sum, as a part of k(x, x).
const VARIANCE_UNIT: f32 = 1.0 / (1_u64 << 62) as f32;

/// The variance that M k leaves of the prior one, without variance_error.
/// `kernel` is k in units of 2⁻³¹ of the signal variance; leaves in
/// `projection` what [`explained_slope`] takes.
pub(super) fn variance<const B: usize>(
    factor: &LowerTriangular<'_>,
    numbers: &OutputNumbers,
    kernel: &[[i32; B]],
    projection: &mut [[f32; B]],
    slices: &Slices<'_>,
) -> Option<[f32; B]> {
    factor.multiply(kernel, integer_rows(projection), slices)?;
    slices.next()?;
    // 1 − |M k|² / p in units of 2⁻⁶².
    let mut left = [1_i64 << 62; B];
    let (tiles, _) = projection.as_chunks_mut::<TILE>();
    for (tile, scales) in tiles.iter_mut().zip(factor.scales()) {
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

/// Mᵀ M k in `kernel`, up to the factor that is returned: half the derivative
/// of |M k|² in k.
pub(super) fn explained_slope<const B: usize>(
    factor: &LowerTriangular<'_>,
    numbers: &OutputNumbers,
    projection: &[[f32; B]],
    kernel: &mut [[f32; B]],
    slices: &Slices<'_>,
) -> Option<f32> {
    factor.multiply_transposed(projection, kernel, slices)?;
    slices.next()?;
    Some(numbers.prior_variance / numbers.signal_variance)
}

/// The same memory for integers.
pub(super) fn integer_rows<const B: usize>(rows: &mut [[f32; B]]) -> &mut [[i32; B]] {
    let integers: &mut [i32] = bytemuck::cast_slice_mut(rows.as_flattened_mut());
    integers.as_chunks_mut().0
}
