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
use super::nearest_plane::NearestPlane;

/// Rows that are rounded side by side.
const SIDE_BY_SIDE: usize = 16;

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
        // What is rounded side by side changes nothing, nor do threads.
        let firsts: Vec<usize> = (0..rows.len()).step_by(SIDE_BY_SIDE).collect();
        let groups = firsts.into_par_iter().flat_map_iter(|first| {
            let last = (first + SIDE_BY_SIDE).min(rows.len());
            Row::group(&rows[..last], first, scale, constant / signal)
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
    fn group(rows: &[&[f64]], first: usize, scale: f64, constant: f64) -> Vec<Self> {
        let exact = |row: &&[f64]| row.iter().map(|m| m * scale).collect::<Vec<f64>>();
        let (fewest, most) = (*SHIFTS.start(), *SHIFTS.end());
        let shifts = rows.iter().skip(first).map(|row| {
            let largest = row.iter().fold(f64::MIN_POSITIVE, |a, b| a.max(b.abs()));
            let bits = (f64::from(i32::MAX) / (largest * scale)).log2().floor();
            bits.clamp(f64::from(fewest), f64::from(most)) as u32
        });
        let mut shifts: Vec<u32> = shifts.collect();
        let plane = |(row, shift): (&&[f64], &u32)| NearestPlane::new(exact(row), unit(*shift));
        let numbers = rows.iter().skip(first).zip(&shifts);
        let mut planes: Vec<NearestPlane> = numbers.map(plane).collect();
        NearestPlane::round(&mut planes, rows, i32::MAX);
        let own = rows.iter().skip(first);
        for ((row, shift), plane) in own.zip(&mut shifts).zip(&mut planes) {
            // Making up for others may take more than there is room for.
            let full = |plane: &NearestPlane| {
                let mut sizes = plane.whole.iter().map(|x| x.unsigned_abs());
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
                let whole = plane.whole.iter().map(|x| f64::from(*x));
                let sum = whole.sum::<f64>() * unit(shift);
                Self {
                    offset: (constant * sum * 2_f64.powi(31)).round() as i32,
                    left: plane.left.iter().map(|y| y / scale).collect(),
                    numbers: plane.whole,
                    shift,
                }
            })
            .collect()
    }
}

/// What a row with this shift counts.
fn unit(shift: u32) -> f64 {
    (-f64::from(shift)).exp2()
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
