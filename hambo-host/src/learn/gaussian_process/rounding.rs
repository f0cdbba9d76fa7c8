//! What the core stores of an output, and how much its arithmetic can lose.
//!
//! The core's `model::gaussian_process::posterior` says what each number
//! covers. Here u = 2⁻²⁴ is the unit of rounding in f32. For stationary
//! kernels the points are moved to whole coordinates, and alpha and M are
//! those of the moved points. M is in f32 ([`SingleFactor`]) or, where that
//! would make a standard deviation at the points too large by more than
//! [`LOOSEST`], in integers:
//!
//! - *Variance error*: p (η + 2 √N 2⁻³¹) + 2 e², with p = k(x, x), η of
//!   [`WholeFactor`], and e = signal √N (fraction_error + 1) 2⁻³² / noise of a
//!   kernel whose last bit is cut off.
//! - *Moves*: c = κ √signal, where |k(x, ·) − k(x′, ·)| ≤ c |x − x′| / l. The
//!   points' moves d give the factor 1 + c √Σd² / noise; a query is cut off by
//!   less than a unit in every coordinate and has a relative error of 3u.
//! - *The mean*: Σ |alpha| signal · fraction_error · 2⁻³², what the rounding
//!   of the weights leaves, one count of the sum for each point, and 5u of
//!   the largest mean there is, |mu| √k(x, x).
//!
//! The linear kernel is a [`Plane`]: (dx + 5) u of |C| |z|, (dx + 6) u of |w|
//! |x| for the mean, and (dx + 4) u for the sum of squares.
//!
//! A thousandth on top of each covers terms of second order, the rounding of
//! these numbers themselves, and M's own error in f64.

use hambo_core::model::{Arithmetic, Kernel, OutputNumbers, whole_to_bits};

use super::coordinates::{Coordinates, Weights};
use super::plane::Plane;
use super::single_factor::SingleFactor;
use super::whole_factor::WholeFactor;
use super::{GaussianProcessError, GaussianProcessFit, OutputFit};

pub(super) const UNIT: f64 = f32::EPSILON as f64 / 2.0;
pub(super) const MARGIN: f64 = 1.001;
/// A fraction's unit.
const FRACTION: f64 = 1.0 / 4_294_967_296.0;
/// By how much of itself a standard deviation may be too large for the sake
/// of f32, which a device is faster with.
const LOOSEST: f64 = 0.01;

/// One output as the core reads it.
pub struct StoredOutput {
    /// How M k is summed.
    pub arithmetic: Arithmetic,
    /// Runs of numbers, each unpadded. Some are the bits of whole numbers.
    pub runs: Vec<Vec<f32>>,
}

/// The stored form of one output of a fit.
///
/// # Errors
/// If the moved points' kernel matrix cannot be factorised, or there are too
/// many inputs.
pub fn stored_output(
    fit: &GaussianProcessFit,
    output: usize,
) -> Result<StoredOutput, GaussianProcessError> {
    let singular = GaussianProcessError::Singular { output };
    let original = fit.outputs.get(output).ok_or(singular.clone())?;
    let stored = match original.hyperparameters.kernel {
        Kernel::Linear => stored_plane(fit, original),
        Kernel::Rbf | Kernel::Matern32 | Kernel::Matern52 => stored_points(fit, original),
    };
    stored.ok_or(singular)
}

/// Factors between inputs, in physical units, and `units` of x / l.
fn factors(fit: &GaussianProcessFit, output: &OutputFit, units: f64) -> Vec<f32> {
    let lengthscales = output.hyperparameters.lengthscales.iter();
    lengthscales
        .zip(&fit.standardisation.input_scale)
        .map(|(l, scale)| (units / (l * f64::from(*scale))) as f32)
        .collect()
}

fn stored_points(fit: &GaussianProcessFit, original: &OutputFit) -> Option<StoredOutput> {
    let hyperparameters = &original.hyperparameters;
    let points = Coordinates::new(hyperparameters, &fit.points)?;
    let moved = OutputFit::new(hyperparameters, &points.points, original.targets())?;
    let weights = Weights::new(&moved);
    let units = hyperparameters.kernel.coordinates_per_lengthscale()
        * f64::from(points.fraction_bits).exp2();
    let numbers = point_numbers(&moved, &points, &weights);
    let whole = |whole: &[i32]| -> Vec<f32> {
        let bits = whole.iter().copied().map(whole_to_bits);
        bits.map(f32::from_bits).collect()
    };
    let mut runs = vec![
        factors(fit, original, units),
        whole(&points.whole),
        whole(&weights.whole),
    ];
    let single = SingleFactor::new(&moved);
    let (arithmetic, numbers) = if single.looseness(&moved, &points.points) > LOOSEST {
        let factor = WholeFactor::new(&moved);
        let numbers = with_whole(numbers, &moved, factor.error);
        let bits = |whole: Vec<i32>| -> Vec<f32> {
            let bits = whole.into_iter().map(i32::cast_unsigned);
            bits.map(f32::from_bits).collect()
        };
        let shifts = factor.shifts.into_iter().map(f32::from_bits);
        runs.extend([shifts.collect(), bits(factor.offsets), bits(factor.blocks)]);
        (Arithmetic::Whole, numbers)
    } else {
        let numbers = with_single(numbers, &moved, &single);
        runs.extend([single.row_sums, single.product_errors, single.blocks]);
        (Arithmetic::Single, numbers)
    };
    runs.insert(0, numbers.to_tiles().concat());
    Some(StoredOutput { arithmetic, runs })
}

fn stored_plane(fit: &GaussianProcessFit, original: &OutputFit) -> Option<StoredOutput> {
    let plane = Plane::new(original, &fit.points)?;
    let numbers = plane_numbers(original, &plane);
    let narrow = |numbers: &[f64]| numbers.iter().map(|x| *x as f32).collect();
    let runs = vec![
        numbers.to_tiles().concat(),
        factors(fit, original, 1.0),
        narrow(&plane.weights),
        narrow(&plane.blocks),
    ];
    let arithmetic = Arithmetic::Single;
    Some(StoredOutput { arithmetic, runs })
}

pub(super) fn round_up(x: f64) -> f32 {
    ((x * MARGIN) as f32).next_up()
}

/// The factor on a standard deviation for moves of the points.
fn factor_of_moves(fit: &OutputFit, moved: f64) -> f64 {
    let noise = fit.hyperparameters.noise_variance + fit.jitter;
    MARGIN * lipschitz(fit) * moved / noise.sqrt()
}

/// All but those that depend on how M is stored.
fn point_numbers(fit: &OutputFit, points: &Coordinates, weights: &Weights) -> OutputNumbers {
    let hyperparameters = &fit.hyperparameters;
    let kernel = hyperparameters.kernel;
    let columns = hyperparameters.lengthscales.len();
    let signal = hyperparameters.signal_variance;
    let constant = hyperparameters.constant_variance;
    let prior = signal + constant;
    let unit = (-f64::from(points.fraction_bits)).exp2();
    let lengthscales_per_unit = unit / kernel.coordinates_per_lengthscale();
    let count = fit.alpha.len() as f64;
    let factor = 1.0 + factor_of_moves(fit, points.moved);
    let offset = constant * fit.alpha.iter().sum::<f64>();

    let fraction_error = kernel.fraction_error() * FRACTION;
    let weight_unit = weights.unit / 65_536.0;
    let total: f64 = fit.alpha.iter().map(|alpha| alpha.abs() * signal).sum();
    let largest_mean = fit.mean_norm() * prior.sqrt() + offset.abs();
    let sum = total * fraction_error + weights.error + count * weight_unit;
    let mean_error = sum + 5.0 * UNIT * largest_mean;
    let cut_off = lipschitz(fit) * (columns as f64).sqrt() * lengthscales_per_unit;
    let query_growth = 3.0 * UNIT * lengthscales_per_unit;
    OutputNumbers {
        signal_variance: signal as f32,
        prior_variance: round_up(prior),
        noise_std: hyperparameters.noise_variance.sqrt() as f32,
        // Only so that no derivative divides by zero.
        variance_error: round_up(UNIT * UNIT * prior),
        std_factor: factor as f32 + f32::EPSILON,
        std_error: round_up(cut_off + mean_error),
        std_error_growth: round_up(lipschitz(fit) * query_growth),
        mean_offset: offset as f32,
        weight_unit: weight_unit as f32,
        coordinate_unit: unit as f32,
        constant_variance: constant as f32,
        kernel_error: 0.0,
    }
}

/// How far an evaluated φ may be off: its last bit is cut off.
pub(super) fn fraction_error(kernel: Kernel) -> f64 {
    (kernel.fraction_error() + 1.0) * FRACTION
}

fn prior(fit: &OutputFit) -> f64 {
    let hyperparameters = &fit.hyperparameters;
    hyperparameters.signal_variance + hyperparameters.constant_variance
}

fn with_whole(numbers: OutputNumbers, fit: &OutputFit, factor_error: f64) -> OutputNumbers {
    let hyperparameters = &fit.hyperparameters;
    let root = (fit.alpha.len() as f64).sqrt();
    let noise = (hyperparameters.noise_variance + fit.jitter).sqrt();
    let kernel_error = fraction_error(hyperparameters.kernel);
    let kernel_error = hyperparameters.signal_variance * root * kernel_error / noise;
    let arithmetic = 4.0 * root * FRACTION;
    let prior = prior(fit);
    let variance_error = prior * (factor_error + arithmetic) + 2.0 * kernel_error.powi(2);
    let std_error = f64::from(numbers.std_error);
    OutputNumbers {
        prior_variance: (prior as f32).next_up(),
        variance_error: round_up(variance_error),
        std_error: round_up(std_error + kernel_error * f64::from(numbers.std_factor)),
        ..numbers
    }
}

fn with_single(numbers: OutputNumbers, fit: &OutputFit, factor: &SingleFactor) -> OutputNumbers {
    OutputNumbers {
        prior_variance: (factor.inflation * prior(fit)) as f32,
        kernel_error: round_up(factor.kernel_error),
        ..numbers
    }
}

fn plane_numbers(fit: &OutputFit, plane: &Plane) -> OutputNumbers {
    let hyperparameters = &fit.hyperparameters;
    let columns = hyperparameters.lengthscales.len();
    let signal = hyperparameters.signal_variance;
    let constant = hyperparameters.constant_variance;
    let inputs = columns as f64;
    let squares = MARGIN * (inputs + 4.0) * UNIT;
    let offset = constant * fit.alpha.iter().sum::<f64>();
    let slope = plane.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    let product = (inputs + 5.0) * UNIT * plane.norm;
    let query = 3.0 * UNIT * lipschitz(fit);
    OutputNumbers {
        signal_variance: signal as f32,
        prior_variance: (signal + constant) as f32,
        noise_std: hyperparameters.noise_variance.sqrt() as f32,
        // Only so that no derivative divides by zero.
        variance_error: round_up(UNIT * UNIT * signal),
        std_factor: (1.0 + squares) as f32 + f32::EPSILON,
        std_error: round_up(product + 5.0 * UNIT * offset.abs()),
        std_error_growth: round_up(product + query + (inputs + 6.0) * UNIT * slope),
        mean_offset: offset as f32,
        weight_unit: 1.0,
        coordinate_unit: 1.0,
        constant_variance: constant as f32,
        kernel_error: 0.0,
    }
}

/// c = κ √signal, κ being the largest √(2 − 2 φ(r)) / r, which is that of r →
/// 0.
fn lipschitz(fit: &OutputFit) -> f64 {
    let steepest = match fit.hyperparameters.kernel {
        Kernel::Rbf | Kernel::Linear => 1.0,
        Kernel::Matern32 => 3_f64.sqrt(),
        Kernel::Matern52 => (5.0_f64 / 3.0).sqrt(),
    };
    steepest * fit.hyperparameters.signal_variance.sqrt()
}
