//! What the core stores of an output, and how much f32 can lose.
//!
//! The core's `model::gaussian_process::posterior` says what each number
//! covers. Here u = 2⁻²⁴ is the unit of rounding and P = max |x_i / l|.
//!
//! - *Row sums*: Σ_j |M_ij|. *Product errors*: u Σ_j n_ij |M_ij|, where n_ij
//!   counts the roundings of the term: M to f32, the product, the sums in its
//!   chunk from its place on, and those of the chunks from its own on.
//! - *Kernel error*. The evaluated query has a relative error of 3u and a
//!   stored point one of u, so r is off by 3u |x / l| + u P, and by a u r from
//!   the arithmetic; evaluating φ costs b u φ. So φ(r) is off by at most u
//!   max_r (|φ′| (P + a r) + b φ) + 3u |x / l| max_r |φ′|. For the linear
//!   kernel it is (dx + 11) u |x / l| P.
//! - *Prior inflation*: k(x, x) to 4u (linear: (dx + 13) u), the squares to
//!   3u, their compensated sum to 4 (N + 2)² u², all of k(x, x).
//!
//! A thousandth on top of each covers terms of second order, the rounding of
//! these numbers themselves, and M's own error in f64.

use hambo_core::arithmetic::dense::TILE;
use hambo_core::arithmetic::triangular::CHUNK;
use hambo_core::model::{Kernel, OutputNumbers};

use super::OutputFit;

const UNIT: f64 = f32::EPSILON as f64 / 2.0;
const MARGIN: f64 = 1.001;

/// The arrays of one output as the core reads them, each unpadded.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredOutput {
    /// Hyperparameters and errors.
    pub numbers: OutputNumbers,
    /// 1 / l².
    pub precision: Vec<f32>,
    /// alpha.
    pub weights: Vec<f32>,
    /// Σ_j |M_ij|, rounded up.
    pub row_sums: Vec<f32>,
    /// What rounding adds to a row of M k, for each unit of max |k|.
    pub product_errors: Vec<f32>,
    /// M in blocks of four rows, column-major inside a block.
    pub factor: Vec<f32>,
}

/// The stored form of an output over `points` (row-major, standardised).
#[must_use]
pub fn stored_output(fit: &OutputFit, points: &[f64]) -> StoredOutput {
    let row_sums: Vec<f64> = fit
        .inverse_rows()
        .map(|row| row.iter().map(|m| m.abs()).sum())
        .collect();
    let product_errors = fit.inverse_rows().map(|row| {
        let columns = row.len().next_multiple_of(TILE);
        let terms = row.iter().enumerate().map(|(column, m)| {
            let in_chunk = CHUNK - column % CHUNK;
            let chunks = columns.div_ceil(CHUNK) - column / CHUNK;
            (2 + in_chunk + chunks) as f64 * m.abs()
        });
        round_up(UNIT * terms.sum::<f64>())
    });
    StoredOutput {
        numbers: numbers(fit, points),
        precision: fit
            .hyperparameters
            .lengthscales
            .iter()
            .map(|l| (1.0 / (l * l)) as f32)
            .collect(),
        weights: fit.alpha.iter().map(|a| *a as f32).collect(),
        product_errors: product_errors.collect(),
        row_sums: row_sums.iter().map(|sum| round_up(*sum)).collect(),
        factor: blocks(fit),
    }
}

fn round_up(x: f64) -> f32 {
    ((x * MARGIN) as f32).next_up()
}

fn numbers(fit: &OutputFit, points: &[f64]) -> OutputNumbers {
    let hyperparameters = &fit.hyperparameters;
    let columns = hyperparameters.lengthscales.len();
    let (signal, constant) = (
        hyperparameters.signal_variance,
        hyperparameters.constant_variance,
    );
    let lengths = points.chunks_exact(columns.max(1)).map(|point| {
        let pairs = point.iter().zip(&hyperparameters.lengthscales);
        pairs.map(|(x, l)| (x / l).powi(2)).sum::<f64>().sqrt()
    });
    let farthest = lengths.fold(0.0, f64::max);
    let inputs = columns as f64;
    let (error, growth, prior) = if hyperparameters.kernel == Kernel::Linear {
        (0.0, farthest * (inputs + 11.0), inputs + 13.0)
    } else {
        let shape = ShapeError::new(hyperparameters.kernel, columns, farthest);
        (shape.largest, 3.0 * shape.steepest, 4.0)
    };
    let squares = 3.0 * UNIT + 4.0 * (points.len() as f64 / inputs + 2.0).powi(2) * UNIT * UNIT;
    OutputNumbers {
        signal_variance: signal as f32,
        constant_variance: constant as f32,
        noise_std: hyperparameters.noise_variance.sqrt() as f32,
        prior_inflation: (1.0 + MARGIN * (prior * UNIT + squares)) as f32 + f32::EPSILON,
        kernel_error: round_up(UNIT * (signal * error + 2.0 * constant)),
        kernel_error_growth: round_up(UNIT * signal * growth),
    }
}

/// The error of a kernel's shape φ, in units of rounding.
struct ShapeError {
    /// max |φ′| (P + a r) + b φ.
    largest: f64,
    /// max |φ′|.
    steepest: f64,
}

impl ShapeError {
    fn new(kernel: Kernel, columns: usize, farthest: f64) -> Self {
        // The difference, and half of what its square, the precision, their
        // product and the sum add to r².
        let distance = 1.0 + (columns as f64 + 2.0) / 2.0;
        // For Matérn also the root, the constant before it and their product.
        // Evaluating: the exponential 2, the polynomial, their product; then
        // the signal variance, its product and the last sum.
        let (a, b) = match kernel {
            Kernel::Rbf | Kernel::Linear => (distance, 2.0 + 3.0),
            Kernel::Matern32 => (distance + 3.0, 4.0 + 3.0),
            Kernel::Matern52 => (distance + 3.0, 7.0 + 3.0),
        };
        let mut found = Self {
            largest: 0.0,
            steepest: 0.0,
        };
        for step in 0..4000 {
            let r = 0.01 * f64::from(step);
            let (value, slope) = match kernel {
                Kernel::Rbf | Kernel::Linear => {
                    let value = (-0.5 * r * r).exp();
                    (value, r * value)
                }
                Kernel::Matern32 => {
                    let t = 3.0_f64.sqrt() * r;
                    ((1.0 + t) * (-t).exp(), 3.0 * r * (-t).exp())
                }
                Kernel::Matern52 => {
                    let t = 5.0_f64.sqrt() * r;
                    let slope = 5.0 / 3.0 * r * (1.0 + t) * (-t).exp();
                    ((1.0 + t + t * t / 3.0) * (-t).exp(), slope)
                }
            };
            found.largest = found.largest.max(slope * (farthest + a * r) + b * value);
            found.steepest = found.steepest.max(slope);
        }
        found
    }
}

/// Rows in blocks of four; block b has the columns 0..4(b + 1).
fn blocks(fit: &OutputFit) -> Vec<f32> {
    let rows: Vec<&[f64]> = fit.inverse_rows().collect();
    let mut numbers = Vec::new();
    for (index, block) in rows.chunks(TILE).enumerate() {
        for column in 0..(index + 1) * TILE {
            let entries = (0..TILE).map(|row| {
                let entry = block.get(row).and_then(|row| row.get(column));
                entry.map_or(0.0, |entry| *entry as f32)
            });
            numbers.extend(entries);
        }
    }
    numbers
}
