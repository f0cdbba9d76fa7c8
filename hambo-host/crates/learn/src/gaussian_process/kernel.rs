//! The hyperparameters of one output and its covariance function in f64.

use hambo_core::model::Kernel;
use serde::{Deserialize, Serialize};

use super::error::GaussianProcessError;

/// Variances that f32 can hold, with their quotients and squares.
const VARIANCES: (f64, f64) = (1e-12, 1e12);
/// Lengthscales that f32 can hold, with their quotients and squares.
const LENGTHSCALES: (f64, f64) = (1e-6, 1e6);

/// One output: y = f(x) + noise, with covariance signal_variance · kernel +
/// constant_variance. All in standardised units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hyperparameters {
    /// The kernel's shape.
    pub kernel: Kernel,
    /// What the shape is multiplied with.
    pub signal_variance: f64,
    /// What is added to it; may be 0.
    pub constant_variance: f64,
    /// l_d, one for each input.
    pub lengthscales: Vec<f64>,
    /// Variance of the noise.
    pub noise_variance: f64,
}

impl Hyperparameters {
    /// k(x, x′).
    ///
    /// ```
    /// use hambo_learn::gaussian_process::{Hyperparameters, Kernel};
    ///
    /// let output = Hyperparameters {
    ///     kernel: Kernel::Rbf,
    ///     signal_variance: 2.0,
    ///     constant_variance: 0.5,
    ///     lengthscales: vec![0.5],
    ///     noise_variance: 0.01,
    /// };
    /// let value = output.covariance(&[1.0], &[2.0]);
    /// assert!((value - (2.0 * (-2.0_f64).exp() + 0.5)).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn covariance(&self, x: &[f64], other: &[f64]) -> f64 {
        let pairs = x.iter().zip(other).zip(&self.lengthscales);
        let shape = if self.kernel == Kernel::Linear {
            pairs.map(|((x, y), l)| (x / l) * (y / l)).sum()
        } else {
            let square: f64 = pairs.map(|((x, y), l)| ((x - y) / l).powi(2)).sum();
            match self.kernel {
                Kernel::Matern32 => {
                    let t = (3.0 * square).sqrt();
                    (1.0 + t) * (-t).exp()
                }
                Kernel::Matern52 => {
                    let t = (5.0 * square).sqrt();
                    (1.0 + t + t * t / 3.0) * (-t).exp()
                }
                Kernel::Rbf | Kernel::Linear => (-0.5 * square).exp(),
            }
        };
        self.signal_variance * shape + self.constant_variance
    }

    pub(super) fn check(&self, output: usize, columns: usize) -> Result<(), GaussianProcessError> {
        if self.lengthscales.len() != columns {
            return Err(GaussianProcessError::Mismatch {
                table: "lengthscales",
                length: self.lengthscales.len(),
                rows: 1,
                columns,
            });
        }
        let variance = |name, value| (name, value, VARIANCES);
        let scalars = [
            variance("signal_variance", self.signal_variance),
            variance("noise_variance", self.noise_variance),
            (
                "constant_variance",
                self.constant_variance,
                (0.0, VARIANCES.1),
            ),
        ];
        let lengthscales = self.lengthscales.iter();
        let lengthscales = lengthscales.map(|l| ("a lengthscale", *l, LENGTHSCALES));
        for (name, value, (low, high)) in scalars.into_iter().chain(lengthscales) {
            if !(low..=high).contains(&value) {
                return Err(GaussianProcessError::Hyperparameter {
                    output,
                    name,
                    value,
                    low,
                    high,
                });
            }
        }
        Ok(())
    }
}
