//! What the core stores of an output, and how much its arithmetic can lose.
//!
//! The core's `model::gaussian_process::posterior` says what each number
//! covers. Here u = 2⁻²⁴ is the unit of rounding and P = max |x_i / l|. The
//! points are moved to whole coordinates, and alpha and M are those of the
//! moved points.
//!
//! - *Row sums*: Σ_j |M_ij|. *Product errors*: u Σ_j n_ij |M_ij|, where n_ij
//!   counts the roundings of the term: four that make a k in f32 of an
//!   integer, M to f32, the product, the sums in its chunk from its place on,
//!   and those of the chunks from its own on.
//! - *Kernel error*: the core's integers are off by fraction_error · 2⁻³² of
//!   the signal. The linear kernel in f32 is off by (dx + 11) u |x / l| P.
//! - *Prior inflation*: k(x, x) to 4u (linear: (dx + 13) u), the squares to
//!   3u, their compensated sum to 4 (N + 2)² u², all of k(x, x).
//! - *Moves*: c = κ √signal, where |k(x, ·) − k(x′, ·)| ≤ c |x − x′| / l. The
//!   points' moves d give the factor 1 + c √Σd² / noise; a query is cut off by
//!   less than a unit in every coordinate and has a relative error of 3u.
//! - *The mean*: Σ |alpha| signal · fraction_error · 2⁻³², what the rounding
//!   of the weights leaves, one count of the sum for each point, and 5u of
//!   the largest mean there is, |mu| √k(x, x). The linear one: (dx + 6) u of
//!   |w| |x|.
//!
//! A thousandth on top of each covers terms of second order, the rounding of
//! these numbers themselves, and M's own error in f64.

use hambo_core::arithmetic::dense::TILE;
use hambo_core::arithmetic::triangular::CHUNK;
use hambo_core::model::{Kernel, OutputNumbers};

use super::coordinates::{Coordinates, Weights};
use super::{GaussianProcessError, GaussianProcessFit, OutputFit};

const UNIT: f64 = f32::EPSILON as f64 / 2.0;
const MARGIN: f64 = 1.001;

/// The arrays of one output as the core reads them, each unpadded.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredOutput {
    /// Hyperparameters and errors.
    pub numbers: OutputNumbers,
    /// Coordinates for each unit of an input.
    pub factors: Vec<f32>,
    /// What the mean grows by for each coordinate; only the linear kernel's.
    pub linear_weights: Vec<f32>,
    /// The points, row-major.
    pub coordinates: Vec<i32>,
    /// alpha times the signal variance, in whole units.
    pub weights: Vec<i32>,
    /// Σ_j |M_ij|, rounded up.
    pub row_sums: Vec<f32>,
    /// What rounding adds to a row of M k, for each unit of max |k|.
    pub product_errors: Vec<f32>,
    /// M in blocks of four rows, column-major inside a block.
    pub factor: Vec<f32>,
}

/// The stored form of one output of a fit. `known_to` is the relative error,
/// in units of rounding, with which points and lengthscales are known: 0 but
/// for those that were stored in f32.
///
/// # Errors
/// If the moved points' kernel matrix cannot be factorised, or there are too
/// many inputs.
pub fn stored_output(
    fit: &GaussianProcessFit,
    output: usize,
    known_to: f64,
) -> Result<StoredOutput, GaussianProcessError> {
    let singular = GaussianProcessError::Singular { output };
    let original = fit.outputs.get(output).ok_or(singular.clone())?;
    let hyperparameters = &original.hyperparameters;
    let points = Coordinates::new(hyperparameters, &fit.points).ok_or(singular.clone())?;
    let moved = OutputFit::new(hyperparameters, &points.points, original.targets());
    let moved = moved.ok_or(singular)?;
    let weights = Weights::new(&moved);

    let row_sums: Vec<f64> = moved
        .inverse_rows()
        .map(|row| row.iter().map(|m| m.abs()).sum())
        .collect();
    let product_errors = moved.inverse_rows().map(|row| {
        let columns = row.len().next_multiple_of(TILE);
        let terms = row.iter().enumerate().map(|(column, m)| {
            let in_chunk = CHUNK - column % CHUNK;
            let chunks = columns.div_ceil(CHUNK) - column / CHUNK;
            (6 + in_chunk + chunks) as f64 * m.abs()
        });
        round_up(UNIT * terms.sum::<f64>())
    });
    let units = hyperparameters.kernel.coordinates_per_lengthscale()
        * f64::from(points.fraction_bits).exp2();
    let factors = hyperparameters.lengthscales.iter();
    let factors = factors
        .zip(&fit.standardisation.input_scale)
        .map(|(l, scale)| (units / (l * f64::from(*scale))) as f32);
    let linear_weights = linear_weights(&moved, &points, units);
    let product_errors = product_errors.collect();
    Ok(StoredOutput {
        numbers: numbers(&moved, &points, &weights, &linear_weights, known_to),
        factors: factors.collect(),
        linear_weights: linear_weights.iter().map(|w| *w as f32).collect(),
        coordinates: points.whole,
        weights: weights.whole,
        product_errors,
        row_sums: row_sums.iter().map(|sum| round_up(*sum)).collect(),
        factor: blocks(&moved),
    })
}

/// signal · Σ alpha_i x_i / l for each coordinate: the slope of the linear
/// kernel's mean.
fn linear_weights(fit: &OutputFit, points: &Coordinates, units: f64) -> Vec<f64> {
    let hyperparameters = &fit.hyperparameters;
    let mut weights = vec![0.0; hyperparameters.lengthscales.len()];
    if hyperparameters.kernel == Kernel::Linear {
        let rows = points.whole.chunks_exact(weights.len().max(1));
        for (row, alpha) in rows.zip(&fit.alpha) {
            for (weight, coordinate) in weights.iter_mut().zip(row) {
                let signal = hyperparameters.signal_variance;
                *weight += signal * alpha * f64::from(*coordinate) / (units * units);
            }
        }
    }
    weights
}

fn round_up(x: f64) -> f32 {
    ((x * MARGIN) as f32).next_up()
}

fn numbers(
    fit: &OutputFit,
    points: &Coordinates,
    weights: &Weights,
    linear_weights: &[f64],
    known_to: f64,
) -> OutputNumbers {
    let hyperparameters = &fit.hyperparameters;
    let kernel = hyperparameters.kernel;
    let columns = hyperparameters.lengthscales.len();
    let (signal, constant) = (
        hyperparameters.signal_variance,
        hyperparameters.constant_variance,
    );
    let unit = (-f64::from(points.fraction_bits)).exp2();
    let lengthscales_per_unit = unit / kernel.coordinates_per_lengthscale();
    let rows = points.whole.chunks_exact(columns.max(1));
    let lengths = rows.map(|row| {
        let squares = row.iter().map(|c| f64::from(*c).powi(2));
        squares.sum::<f64>().sqrt() * lengthscales_per_unit
    });
    let (count, farthest) = (fit.alpha.len() as f64, lengths.fold(0.0, f64::max));
    let inputs = columns as f64;
    let squares = 3.0 * UNIT + 4.0 * (count + 2.0).powi(2) * UNIT * UNIT;
    let noise = (hyperparameters.noise_variance + fit.jitter).sqrt();
    let lipschitz = steepest(kernel) * signal.sqrt();
    let moved = points.moved + count.sqrt() * known_to * UNIT * farthest;
    let offset = constant * fit.alpha.iter().sum::<f64>();

    let fraction_error = kernel.fraction_error() / 2_f64.powi(32);
    let weight_unit = weights.unit / 65_536.0;
    let total: f64 = fit.alpha.iter().map(|alpha| alpha.abs() * signal).sum();
    let largest_mean = fit.mean_norm() * (signal + constant).sqrt() + offset.abs();
    let linear = linear_weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    let (kernel_growth, prior, mean_error, cut_off) = if kernel == Kernel::Linear {
        let growth = UNIT * signal * farthest * (inputs + 11.0) * lengthscales_per_unit;
        (growth, inputs + 13.0, 5.0 * UNIT * offset.abs(), 0.0)
    } else {
        let sum = total * fraction_error + weights.error + count * weight_unit;
        let cut_off = inputs.sqrt() * lengthscales_per_unit;
        (0.0, 4.0, sum + 5.0 * UNIT * largest_mean, cut_off)
    };
    let query_growth = (3.0 + known_to) * UNIT * lengthscales_per_unit;
    OutputNumbers {
        signal_variance: signal as f32,
        constant_variance: constant as f32,
        noise_std: hyperparameters.noise_variance.sqrt() as f32,
        prior_inflation: (1.0 + MARGIN * (prior * UNIT + squares)) as f32 + f32::EPSILON,
        kernel_error: round_up(signal * fraction_error),
        kernel_error_growth: round_up(kernel_growth),
        std_factor: (1.0 + MARGIN * lipschitz * moved / noise) as f32 + f32::EPSILON,
        std_error: round_up(lipschitz * cut_off + mean_error),
        std_error_growth: round_up(lipschitz * query_growth + (inputs + 6.0) * UNIT * linear),
        mean_offset: offset as f32,
        weight_unit: weight_unit as f32,
        coordinate_unit: unit as f32,
    }
}

/// κ: the largest √(2 − 2 φ(r)) / r, which is that of r → 0.
fn steepest(kernel: Kernel) -> f64 {
    match kernel {
        Kernel::Rbf | Kernel::Linear => 1.0,
        Kernel::Matern32 => 3_f64.sqrt(),
        Kernel::Matern52 => (5.0_f64 / 3.0).sqrt(),
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
