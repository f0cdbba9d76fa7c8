//! M = L⁻¹ as the core's integers, and a bound on their rounding error.
//!
//! Row i of M s² / √p is rounded to units of 2^−q_i by [`NearestPlane`]. The
//! rounded matrix is (I + G) M s² / √p, and G is computed in f64. So |M k|²,
//! which the core subtracts from the prior variance, is too large by a factor
//! of |I + G|² at most.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use hambo_core::numeric::dense::TILE;
use hambo_core::numeric::triangular::SHIFTS;
use rayon::prelude::*;

use super::nearest_plane::NearestPlane;
use crate::gaussian_process::cholesky::free_registers;
use crate::gaussian_process::kernel::Hyperparameters;

/// Rows that are rounded side by side.
const SIDE_BY_SIDE: usize = 16;

/// M in integers.
pub(super) struct InverseFactor {
    /// The numbers in blocks of four rows, column-major inside a block.
    pub blocks: Vec<i32>,
    /// q of each row, padded to whole blocks.
    pub shifts: Vec<i32>,
    /// What the kernel's constant adds to each row, in units of 2⁻³¹.
    pub offsets: Vec<i32>,
    /// η ≥ |I + G|² − 1.
    pub error: f64,
}

/// A row of it, and its row of −G.
struct Row {
    numbers: Vec<i32>,
    shift: i32,
    offset: i32,
    error: Vec<f64>,
}

impl InverseFactor {
    /// Of the rows of M. Each of its columns stands for a constant of the
    /// kernel times one of `constants`.
    pub fn new(hyperparameters: &Hyperparameters, rows: &[&[f64]], constants: &[f64]) -> Self {
        let signal = hyperparameters.signal_variance;
        let constant = hyperparameters.constant_variance;
        let scale = signal / (signal + constant).sqrt();
        // What is rounded side by side changes nothing, nor do threads.
        let firsts: Vec<usize> = (0..rows.len()).step_by(SIDE_BY_SIDE).collect();
        let groups = firsts.into_par_iter().flat_map_iter(|first| {
            let last = (first + SIDE_BY_SIDE).min(rows.len());
            Row::group(&rows[..last], first, scale, (constant / signal, constants))
        });
        let rounded: Vec<Row> = groups.collect();
        let padding = rounded.len().next_multiple_of(TILE) - rounded.len();
        let shifts = rounded.iter().map(|row| row.shift);
        let shifts = shifts.chain(std::iter::repeat_n(*SHIFTS.start(), padding));
        Self {
            blocks: lower_blocks(rounded.len(), |row, column| {
                rounded.get(row)?.numbers.get(column).copied()
            }),
            shifts: shifts.collect(),
            offsets: rounded.iter().map(|row| row.offset).collect(),
            error: excess(&rounded),
        }
    }
}

impl Row {
    /// The rows of M from `first` on, times `scale`.
    fn group(
        rows: &[&[f64]],
        first: usize,
        scale: f64,
        (constant, constants): (f64, &[f64]),
    ) -> Vec<Self> {
        let exact = |row: &&[f64]| row.iter().map(|m| m * scale).collect::<Vec<f64>>();
        let (fewest, most) = (*SHIFTS.start(), *SHIFTS.end());
        let shifts = rows.iter().skip(first).map(|row| {
            let largest = row.iter().fold(f64::MIN_POSITIVE, |a, b| a.max(b.abs()));
            let bits = (f64::from(i32::MAX) / (largest * scale)).log2().floor();
            bits.clamp(f64::from(fewest), f64::from(most)) as i32
        });
        let mut shifts: Vec<i32> = shifts.collect();
        let plane = |(row, shift): (&&[f64], &i32)| NearestPlane::new(exact(row), unit(*shift));
        let numbers = rows.iter().skip(first).zip(&shifts);
        let mut planes: Vec<NearestPlane> = numbers.map(plane).collect();
        NearestPlane::round(&mut planes, rows, i32::MAX);
        let own = rows.iter().skip(first);
        for ((row, shift), plane) in own.zip(&mut shifts).zip(&mut planes) {
            // Making up for others may take more than there is room for.
            let full = |plane: &NearestPlane| {
                let mut sizes = plane.integers.iter().map(|x| x.unsigned_abs());
                sizes.any(|size| size >= i32::MAX.unsigned_abs())
            };
            while full(plane) && *shift > fewest {
                *shift -= 1;
                *plane = NearestPlane::new(exact(row), unit(*shift));
                NearestPlane::round(std::slice::from_mut(plane), rows, i32::MAX);
            }
        }
        let found = shifts.into_iter().zip(planes);
        found
            .map(|(shift, plane)| {
                let integers = plane.integers.iter().zip(constants);
                let integers = integers.map(|(x, share)| f64::from(*x) * share);
                let sum = integers.sum::<f64>() * unit(shift);
                Self {
                    offset: (constant * sum * 2_f64.powi(31)).round() as i32,
                    error: plane.residual.iter().map(|y| y / scale).collect(),
                    numbers: plane.integers,
                    shift,
                }
            })
            .collect()
    }
}

/// What a row with this shift counts.
fn unit(shift: i32) -> f64 {
    (-f64::from(shift)).exp2()
}

/// More than |I + G|² − 1: with S = G + Gᵀ it is at most |S| + |G|², and |S|⁸
/// at most the trace of S⁸.
fn excess(rows: &[Row]) -> f64 {
    let count = rows.len();
    let mut sum = Mat::<f64>::zeros(count, count);
    for (i, row) in rows.iter().enumerate() {
        for (j, error) in row.error.iter().enumerate() {
            sum[(i, j)] -= error;
            sum[(j, i)] -= error;
        }
    }
    let size = rows
        .iter()
        .flat_map(|row| &row.error)
        .map(|y| y * y)
        .sum::<f64>();
    let mut square = Mat::<f64>::zeros(count, count);
    matmul(&mut square, Accum::Replace, &sum, &sum, 1.0, Par::Seq);
    let mut fourth_power = sum;
    matmul(
        &mut fourth_power,
        Accum::Replace,
        &square,
        &square,
        1.0,
        Par::Seq,
    );
    free_registers();
    fourth_power.norm_l2().powf(0.25) + size
}

/// A lower triangular matrix in the core's order: blocks of four rows,
/// column-major inside a block, block b with the columns 0..4(b + 1). `entry`
/// gives what stands in a row up to its diagonal; the rest of a block is zero.
fn lower_blocks<T: Default>(rows: usize, entry: impl Fn(usize, usize) -> Option<T>) -> Vec<T> {
    let blocks = 0..rows.div_ceil(TILE);
    let columns = blocks.flat_map(|block| (0..(block + 1) * TILE).map(move |c| (block, c)));
    let places = columns.flat_map(|(block, c)| (0..TILE).map(move |r| (block * TILE + r, c)));
    places
        .map(|(row, column)| entry(row, column).unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_the_core_reads_them() {
        let rows = [
            vec![1],
            vec![2, 3],
            vec![4, 5, 6],
            vec![7, 8, 9, 10],
            vec![11],
        ];
        let found = lower_blocks(5, |row, column| rows.get(row)?.get(column).copied());
        let mut expected = vec![1, 2, 4, 7, 0, 3, 5, 8, 0, 0, 6, 9, 0, 0, 0, 10, 11];
        expected.resize(16 + 32, 0);
        assert_eq!(found, expected);
    }
}
