//! An output with a stationary kernel, as the core stores it.
//!
//! The points are moved to integer coordinates, and alpha and M are those of
//! the moved points. With u = 2⁻²⁴ and p = k(x, x):
//!
//! - *Variance error*: p (η + 2 √m 2⁻³¹) + 2 e², with η of [`InverseFactor`],
//!   m its rows, and e = signal √N (fraction_error + 1) 2⁻³² / noise of a kernel
//!   whose last bit is cut off. Points that are taken together lose a little
//!   more: [`weight_of_error`].
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
use crate::gaussian_process::grouping::share;
use crate::gaussian_process::posterior::{GaussianProcessFit, OutputFit};
use hambo_task::image::ArenaWriter;

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
    let noise = hyperparameters.noise_variance + moved.jitter;
    let together;
    // The mean's sum does not depend on the order.
    let (order, sizes, rows): (Vec<usize>, Vec<usize>, Vec<&[f64]>) = match &original.grouping {
        None => (
            (0..fit.rows()).collect(),
            vec![1; fit.rows()],
            moved.inverse_rows().collect(),
        ),
        Some(grouping) => {
            together = grouping.inverse_rows(hyperparameters, noise, &points.points)?;
            let rows = together.iter().map(Vec::as_slice).collect();
            (grouping.order.clone(), grouping.sizes.clone(), rows)
        }
    };
    let constants = sizes.iter().map(|size| *size as f64 * share(*size));
    let constants: Vec<f64> = constants.collect();
    let factor = InverseFactor::new(hyperparameters, &rows, &constants);
    let units = hyperparameters.kernel.coordinates_per_lengthscale()
        * f64::from(points.fraction_bits).exp2();
    arena.put(
        numbers(&moved, &points, &weights, &factor, &sizes)
            .to_tiles()
            .concat(),
    );
    arena.put(factors(fit, original, units));
    let columns = hyperparameters.lengthscales.len();
    let coordinates = order
        .iter()
        .flat_map(|i| &points.integers[i * columns..][..columns]);
    arena.put_integers(coordinates.copied());
    arena.put_integers(order.iter().map(|i| weights.integers[*i]));
    if original.grouping.is_some() {
        arena.put_integers(sizes.iter().map(|size| *size as i32));
    }
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
    sizes: &[usize],
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
    let cut_off_bits = 2.0 * FRACTION / fraction_error;
    let weights = sizes
        .iter()
        .map(|size| weight_of_error(*size, cut_off_bits));
    let kernel_error = signal * weights.sum::<f64>().sqrt() * fraction_error / noise;
    let arithmetic = 4.0 * (sizes.len() as f64).sqrt() * FRACTION;
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

/// What a group of n points adds to (e noise / (signal ε))², ε being the error
/// of one evaluated kernel.
///
/// With h of the group, its sum is off by 2^−h n ε, and by 2⁻³¹ for what is cut
/// off, which is `cut_off` times ε; the noise of the sum has the variance 4^−h
/// n noise². So the square of the error over the noise is (n + 2^h cut_off)² /
/// n. A point that is alone is not cut off once more, and adds 1.
fn weight_of_error(size: usize, cut_off: f64) -> f64 {
    let count = size as f64;
    let lost = if size > 1 { cut_off / share(size) } else { 0.0 };
    (count + lost).powi(2) / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_groups() {
        assert_eq!(weight_of_error(1, 9.0), 1.0);
        // Two, and two more for what is cut off.
        assert_eq!(weight_of_error(2, 1.0), 8.0);
        assert_eq!(weight_of_error(3, 0.5), 25.0 / 3.0);
    }
}
