//! An output with a stationary kernel, as the core stores it.
//!
//! The points are moved to integer coordinates, and alpha and M are those of
//! the moved points. With u = 2⁻²⁴ and p = k(x, x):
//!
//! - *Variance error*: p (η + 2 √N 2⁻³¹) + 2 e², with η of [`InverseFactor`]
//!   and e = signal √N (fraction_error + 1) 2⁻³² / noise of a kernel whose last
//!   bit is cut off.
//! - *Moves*: |k(x, ·) − k(x′, ·)| ≤ c |x − x′| / l, with c of
//!   `Hyperparameters::lipschitz_per_lengthscale`. The points' moves d give
//!   the factor 1 + c √Σd² / noise; a query is cut off by less than a unit in
//!   every coordinate and has a relative error of 3u.
//! - *The mean*: Σ |alpha| signal · fraction_error · 2⁻³², what the rounding
//!   of the weights leaves, one count of the sum for each point, and 5u of
//!   the largest mean there is, |mu| √k(x, x).

use hambo_core::model::OutputNumbers;

use super::coordinates::{Coordinates, Weights};
use super::factors;
use super::inverse_factor::InverseFactor;
use super::rounding::{FRACTION, MARGIN, UNIT, round_up};
use crate::formats::image::ArenaWriter;
use crate::learn::gaussian_process::{GaussianProcessFit, OutputFit};

/// Writes one output; `None` if the moved points' kernel matrix cannot be
/// factorised or there are too many inputs.
pub(super) fn put(
    fit: &GaussianProcessFit,
    original: &OutputFit,
    arena: &mut ArenaWriter,
) -> Option<()> {
    let hyperparameters = &original.hyperparameters;
    let points = Coordinates::new(hyperparameters, &fit.points)?;
    let moved = OutputFit::new(hyperparameters, &points.points, original.targets())?;
    let weights = Weights::new(&moved);
    let factor = InverseFactor::new(&moved);
    let units = hyperparameters.kernel.coordinates_per_lengthscale()
        * f64::from(points.fraction_bits).exp2();
    arena.put(
        numbers(&moved, &points, &weights, &factor)
            .to_tiles()
            .concat(),
    );
    arena.put(factors(fit, original, units));
    arena.put_integers(points.integers);
    arena.put_integers(weights.integers);
    arena.put_integers(factor.shifts);
    arena.put_integers(factor.offsets);
    arena.put_integers(factor.blocks);
    Some(())
}

fn numbers(
    fit: &OutputFit,
    points: &Coordinates,
    weights: &Weights,
    factor: &InverseFactor,
) -> OutputNumbers {
    let hyperparameters = &fit.hyperparameters;
    let kernel = hyperparameters.kernel;
    let inputs = hyperparameters.lengthscales.len() as f64;
    let signal = hyperparameters.signal_variance;
    let prior = signal + hyperparameters.constant_variance;
    let noise = (hyperparameters.noise_variance + fit.jitter).sqrt();
    let lipschitz = hyperparameters.lipschitz_per_lengthscale();
    let unit = (-f64::from(points.fraction_bits)).exp2();
    let lengthscales_per_unit = unit / kernel.coordinates_per_lengthscale();
    let count = fit.alpha.len() as f64;

    // The mean.
    let offset = hyperparameters.constant_variance * fit.alpha.iter().sum::<f64>();
    let weight_unit = weights.unit / 65_536.0;
    let total: f64 = fit.alpha.iter().map(|alpha| alpha.abs() * signal).sum();
    let largest_mean = fit.mean_norm() * prior.sqrt() + offset.abs();
    let sum = total * kernel.fraction_error() * FRACTION + weights.error + count * weight_unit;
    let mean_error = sum + 5.0 * UNIT * largest_mean;

    // The standard deviation.
    let moves = MARGIN * lipschitz * points.moved / noise;
    let std_factor = (1.0 + moves) as f32 + f32::EPSILON;
    let cut_off = lipschitz * inputs.sqrt() * lengthscales_per_unit;
    let fraction_error = (kernel.fraction_error() + 1.0) * FRACTION;
    let kernel_error = signal * count.sqrt() * fraction_error / noise;
    let arithmetic = 4.0 * count.sqrt() * FRACTION;
    let variance_error = prior * (factor.error + arithmetic) + 2.0 * kernel_error.powi(2);
    OutputNumbers {
        signal_variance: signal as f32,
        prior_variance: (prior as f32).next_up(),
        noise_std: hyperparameters.noise_variance.sqrt() as f32,
        variance_error: round_up(variance_error),
        std_factor,
        std_error: round_up(cut_off + mean_error + kernel_error * f64::from(std_factor)),
        std_error_growth: round_up(lipschitz * 3.0 * UNIT * lengthscales_per_unit),
        mean_offset: offset as f32,
        weight_unit: weight_unit as f32,
        coordinate_unit: unit as f32,
    }
}
