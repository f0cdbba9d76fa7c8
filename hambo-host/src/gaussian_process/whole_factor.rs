//! M as the core's integers, and how far they are off.
//!
//! Row i of M s² / √p is rounded to units of 2^−q_i by the nearest plane. What
//! is left makes it (I + G) M s² / √p with a G that is known to the last
//! digit of f64; the core's posterior explains at most |I + G|² of what it
//! should.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use hambo_core::arithmetic::dense::TILE;
use hambo_core::arithmetic::whole_triangular::SHIFTS;
use rayon::prelude::*;

use super::OutputFit;
use super::blocks::lower_blocks;
use super::fit::free_registers;
use super::nearest_plane::nearest_plane;

/// M in whole numbers.
pub(super) struct WholeFactor {
    /// The numbers in blocks of four rows, column-major inside a block.
    pub blocks: Vec<i32>,
    /// q of each row, padded to whole blocks.
    pub shifts: Vec<u32>,
    /// What the kernel's constant adds to each row, in units of 2⁻³¹.
    pub offsets: Vec<i32>,
    /// η ≥ |I + G|² − 1.
    pub error: f64,
}

/// A row of it, and its row of −G.
struct Row {
    numbers: Vec<i32>,
    shift: u32,
    offset: i32,
    left: Vec<f64>,
}

impl WholeFactor {
    pub fn new(fit: &OutputFit) -> Self {
        let rows: Vec<&[f64]> = fit.inverse_rows().collect();
        let hyperparameters = &fit.hyperparameters;
        let signal = hyperparameters.signal_variance;
        let constant = hyperparameters.constant_variance;
        let scale = signal / (signal + constant).sqrt();
        // Each row is rounded on its own, so threads change nothing.
        let rounded: Vec<Row> = (0..rows.len())
            .into_par_iter()
            .map(|row| Row::new(&rows[..=row], scale, constant / signal))
            .collect();
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
    /// The last of these rows of M, times `scale`.
    fn new(rows: &[&[f64]], scale: f64, constant: f64) -> Self {
        let exact = rows.last().map_or(&[] as &[f64], |row| row);
        let exact: Vec<f64> = exact.iter().map(|m| m * scale).collect();
        let largest = exact.iter().fold(f64::MIN_POSITIVE, |a, b| a.max(b.abs()));
        let (fewest, most) = (*SHIFTS.start(), *SHIFTS.end());
        let bits = (f64::from(i32::MAX) / largest).log2().floor();
        let mut shift = bits.clamp(f64::from(fewest), f64::from(most)) as u32;
        let (numbers, left) = loop {
            let unit = (-f64::from(shift)).exp2();
            let (numbers, left) = nearest_plane(rows, &exact, unit, i32::MAX);
            // Making up for others may take more than there is room for.
            let full = numbers.iter().any(|x| x.unsigned_abs() >= i32::MAX as u32);
            if !full || shift == fewest {
                break (numbers, left);
            }
            shift -= 1;
        };
        let unit = (-f64::from(shift)).exp2();
        let sum: f64 = numbers.iter().map(|x| f64::from(*x) * unit).sum();
        Self {
            offset: (constant * sum * 2_f64.powi(31)).round() as i32,
            left: left.iter().map(|y| y / scale).collect(),
            numbers,
            shift,
        }
    }
}

/// More than |I + G|² − 1: with S = G + Gᵀ it is at most |S| + |G|², and |S|⁸
/// at most the trace of S⁸.
fn excess(rows: &[Row]) -> f64 {
    let count = rows.len();
    let mut sum = Mat::<f64>::zeros(count, count);
    for (i, row) in rows.iter().enumerate() {
        for (j, left) in row.left.iter().enumerate() {
            sum[(i, j)] -= left;
            sum[(j, i)] -= left;
        }
    }
    let size = rows
        .iter()
        .flat_map(|row| &row.left)
        .map(|y| y * y)
        .sum::<f64>();
    let squared = |matrix: &Mat<f64>| {
        let mut square = Mat::zeros(count, count);
        matmul(&mut square, Accum::Replace, matrix, matrix, 1.0, Par::Seq);
        square
    };
    let fourth_power = squared(&squared(&sum));
    free_registers();
    fourth_power.norm_l2().powf(0.25) + size
}
