//! M in f32, and how much is lost.
//!
//! - *Row sums*: Σ_j |M_ij|. *Product errors*: u Σ_j n_ij |M_ij|, where n_ij
//!   counts the roundings of the term: four that make a k in f32 of an
//!   integer, M to f32, the product, the sums in its chunk from its place on,
//!   and those of the chunks from its own on.
//! - *Kernel error*: the core's integers are off by fraction_error · 2⁻³² of
//!   the signal, and their last bit is cut off.
//! - *Inflation* of k(x, x): its own rounding to 4u, the squares to 3u, their
//!   compensated sum to 4 (N + 2)² u², all of k(x, x).

use hambo_core::arithmetic::dense::TILE;
use hambo_core::arithmetic::triangular::CHUNK;

use super::OutputFit;
use super::blocks::lower_blocks;
use super::rounding::{MARGIN, UNIT, fraction_error, round_up};

/// Points at which it is asked how loose the variance gets.
const ASKED: usize = 64;

/// M as the core's f32 reads it.
pub(super) struct SingleFactor {
    /// Σ_j |M_ij|, rounded up.
    pub row_sums: Vec<f32>,
    /// What rounding adds to a row of M k, for each unit of max |k|.
    pub product_errors: Vec<f32>,
    /// M in blocks of four rows, column-major inside a block.
    pub blocks: Vec<f32>,
    /// How far an evaluated k(x, x_i) may be off.
    pub kernel_error: f64,
    /// The factor on k(x, x).
    pub inflation: f64,
}

impl SingleFactor {
    pub fn new(fit: &OutputFit) -> Self {
        let rows: Vec<&[f64]> = fit.inverse_rows().collect();
        let row_sums = rows.iter().map(|row| row.iter().map(|m| m.abs()).sum());
        let product_errors = rows.iter().map(|row| {
            let columns = row.len().next_multiple_of(TILE);
            let terms = row.iter().enumerate().map(|(column, m)| {
                let in_chunk = CHUNK - column % CHUNK;
                let chunks = columns.div_ceil(CHUNK) - column / CHUNK;
                (6 + in_chunk + chunks) as f64 * m.abs()
            });
            round_up(UNIT * terms.sum::<f64>())
        });
        let count = rows.len() as f64;
        let squares = 7.0 * UNIT + 4.0 * (count + 2.0).powi(2) * UNIT * UNIT;
        let hyperparameters = &fit.hyperparameters;
        Self {
            row_sums: row_sums.map(round_up).collect(),
            product_errors: product_errors.collect(),
            blocks: lower_blocks(rows.len(), |row, column| {
                rows.get(row)?.get(column).map(|m| *m as f32)
            }),
            kernel_error: hyperparameters.signal_variance * fraction_error(hyperparameters.kernel),
            inflation: 1.0 + MARGIN * squares + 4.0 * UNIT,
        }
    }

    /// By how much of itself the standard deviation is too large, at the worst
    /// of some of the points it was fitted to.
    pub fn looseness(&self, fit: &OutputFit, points: &[f64]) -> f64 {
        let hyperparameters = &fit.hyperparameters;
        let rows: Vec<&[f64]> = points
            .chunks_exact(hyperparameters.lengthscales.len().max(1))
            .collect();
        let step = rows.len().div_ceil(ASKED).max(1);
        let asked = rows.iter().step_by(step).map(|x| {
            let kernel = rows.iter().map(|y| hyperparameters.covariance(x, y));
            let kernel: Vec<f64> = kernel.collect();
            let largest = kernel.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            let prior = hyperparameters.covariance(x, x);
            let (mut exact, mut found) = (prior, prior * self.inflation);
            let errors = self.row_sums.iter().zip(&self.product_errors);
            for (row, (row_sum, product_error)) in fit.inverse_rows().zip(errors) {
                let v: f64 = row.iter().zip(&kernel).map(|(m, k)| m * k).sum();
                let error =
                    f64::from(*row_sum) * self.kernel_error + f64::from(*product_error) * largest;
                exact -= v * v;
                found -= (v.abs() - error).max(0.0).powi(2);
            }
            (found / exact.max(f64::MIN_POSITIVE)).sqrt() - 1.0
        });
        asked.fold(0.0, f64::max)
    }
}
