//! Points and weights as the core's integers.
//!
//! Points are moved to integer coordinates before the process is conditioned
//! on them, so the move has the effect of a little noise in the inputs.
//! Weights are rounded by [`NearestPlane`], so that their errors cancel.

use hambo_core::model::{FRACTION_BITS, WEIGHT_LIMIT, coordinate_limit};

use super::nearest_plane::NearestPlane;
use crate::gaussian_process::kernel::Hyperparameters;
use crate::gaussian_process::posterior::OutputFit;

/// The points of one output, moved.
pub(super) struct Coordinates {
    /// Integer coordinates, row-major.
    pub integers: Vec<i32>,
    /// The same in standardised units.
    pub points: Vec<f64>,
    /// q: a coordinate's unit is 2⁻ᵠ.
    pub fraction_bits: u32,
    /// √Σ d², d being how far a point was moved, in lengthscales.
    pub moved: f64,
}

impl Coordinates {
    /// As fine as they may be such that a query beyond them is out of reach
    /// of every point. `None` if there are too many columns.
    pub fn new(hyperparameters: &Hyperparameters, points: &[f64]) -> Option<Self> {
        let kernel = hyperparameters.kernel;
        let columns = hyperparameters.lengthscales.len();
        let limit = f64::from(coordinate_limit(columns)?);
        let factor = kernel.coordinates_per_lengthscale();
        let lengthscales = || hyperparameters.lengthscales.iter().cycle();
        let pairs = points.iter().zip(lengthscales());
        let farthest = pairs.map(|(x, l)| (factor * x / l).abs());
        let farthest = farthest.fold(f64::MIN_POSITIVE, f64::max);
        let bits = (limit / (farthest + kernel.reach())).log2().floor();
        let (fewest, most) = (*FRACTION_BITS.start(), *FRACTION_BITS.end());
        let bits = bits.clamp(f64::from(fewest), f64::from(most));
        let units = factor * bits.exp2();
        // Points that lie thousands of lengthscales apart are brought nearer;
        // what that costs is in `moved` like any other move.
        let largest = limit - kernel.reach() * bits.exp2();
        let (mut integers, mut moved_points, mut moved) = (Vec::new(), Vec::new(), 0.0);
        for (x, l) in points.iter().zip(lengthscales()) {
            let coordinate = (units * x / l).clamp(-largest, largest).round();
            integers.push(coordinate as i32);
            moved_points.push(coordinate * l / units);
            moved += ((coordinate - units * x / l) / units).powi(2);
        }
        Some(Self {
            integers,
            points: moved_points,
            fraction_bits: bits as u32,
            moved: moved.sqrt(),
        })
    }
}

/// The range of weights over the largest of them.
const ROOM: f64 = 1.01;

/// alpha times the signal variance in integer units.
pub(super) struct Weights {
    /// How many units each.
    pub integers: Vec<i32>,
    /// The unit, a number of f32.
    pub unit: f64,
    /// The most that rounding changes the mean by, in standardised units.
    pub error: f64,
}

impl Weights {
    pub fn new(fit: &OutputFit) -> Self {
        let signal = fit.hyperparameters.signal_variance;
        let exact: Vec<f64> = fit.alpha.iter().map(|alpha| alpha * signal).collect();
        let largest = exact.iter().fold(f64::MIN_POSITIVE, |a, b| a.max(b.abs()));
        // Nearly all of the range: rounding may move a weight by a few units.
        // f32 must hold it exactly, and after a division by 2¹⁶ too.
        let unit = ROOM * largest / f64::from(WEIGHT_LIMIT);
        let unit = f64::from((unit.max(1e-30) as f32).next_up());
        let rows: Vec<&[f64]> = fit.inverse_rows().collect();
        let mut planes = [NearestPlane::new(exact, unit)];
        NearestPlane::round(&mut planes, &rows, WEIGHT_LIMIT);
        let [
            NearestPlane {
                integers, residual, ..
            },
        ] = planes;
        // Of alpha, it is the norm of a function, at most √k(x, x) of which
        // is seen at any x.
        let norm = residual.iter().map(|y| y * y).sum::<f64>().sqrt() / signal;
        Self {
            integers,
            unit,
            error: norm * signal.sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use hambo_core::model::Kernel;

    use super::*;
    use crate::gaussian_process::posterior::{GaussianProcessFit, Observations};
    use hambo_base::Held;
    use hambo_base::network::Standardisation;

    fn smooth() -> GaussianProcessFit {
        let inputs: Vec<f64> = (0..60).map(|i| f64::from(i) / 15.0 - 2.0).collect();
        let targets: Vec<f64> = inputs.iter().map(|x| (2.0 * x).sin()).collect();
        let observations = Observations {
            inputs: &inputs,
            input_columns: 1,
            targets: &targets,
            target_columns: 1,
            held: Held::NONE,
        };
        let units = Standardisation {
            input_mean: vec![0.0],
            input_scale: vec![1.0],
            output_mean: vec![0.0],
            output_scale: vec![1.0],
        };
        let hyperparameters = Hyperparameters {
            kernel: Kernel::Rbf,
            signal_variance: 2.0,
            constant_variance: 0.0,
            lengthscales: vec![1.0],
            noise_variance: 1e-6,
        };
        GaussianProcessFit::new(&observations, &units, &[hyperparameters]).unwrap()
    }

    /// The mean's error stays below its bound, and well below that of weights
    /// that are rounded on their own.
    #[test]
    fn errors_of_weights_cancel() {
        let fit = smooth();
        let output = &fit.outputs[0];
        let weights = Weights::new(output);
        let signal = output.hyperparameters.signal_variance;
        let (mut worst, mut alone) = (0.0_f64, 0.0_f64);
        for step in 0..200 {
            let x = [0.02 * f64::from(step) - 2.0];
            let (mut error, mut error_alone) = (0.0, 0.0);
            for ((point, alpha), integers) in
                fit.points.iter().zip(&output.alpha).zip(&weights.integers)
            {
                let shape = output.hyperparameters.covariance(&x, &[*point]) / signal;
                let weight = alpha * signal;
                error += shape * (f64::from(*integers) * weights.unit - weight);
                error_alone += shape * ((weight / weights.unit).round() * weights.unit - weight);
            }
            worst = worst.max(error.abs());
            alone = alone.max(error_alone.abs());
        }
        assert!(worst <= weights.error, "{worst} {}", weights.error);
        assert!(worst < 0.5 * alone, "{worst} {alone}");
    }

    #[test]
    fn coordinates_are_as_near_as_stated() {
        let fit = smooth();
        let found = Coordinates::new(&fit.outputs[0].hyperparameters, &fit.points).unwrap();
        assert_eq!(found.fraction_bits, 26);
        let moved = fit.points.iter().zip(&found.points);
        let moved = moved.map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
        assert!(moved > 0.0 && (moved / found.moved - 1.0).abs() < 1e-6);
        // Far apart in lengthscales: brought nearer, and told.
        let mut short = fit.outputs[0].hyperparameters.clone();
        short.lengthscales = vec![1e-5];
        let found = Coordinates::new(&short, &fit.points).unwrap();
        assert_eq!(found.fraction_bits, 16);
        assert!(found.moved > 1e5 && found.integers.iter().all(|c| c.abs() < 1 << 29));
    }
}
