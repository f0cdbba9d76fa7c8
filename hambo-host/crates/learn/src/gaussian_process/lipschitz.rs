//! How fast the functions of a kernel's space can change.
//!
//! The kernel's metric is d_k(x, x′) = √(k(x, x) − 2 k(x, x′) + k(x′, x′)). For
//! every f of norm B, |f(x) − f(x′)| ≤ B d_k(x, x′), and a posterior standard
//! deviation differs by at most d_k(x, x′). With z = x / l and r = |z − z′| the
//! kernels φ(r) here have 1 − φ(r) ≤ c² r² / 2 with c² = −φ″(0), because each
//! is a mixture of Gaussians; for the linear kernel d_k = √signal · r exactly.
//! So d_k ≤ √signal · c · r, with equality in the limit r → 0:
//!
//! | kernel | c |
//! |---|---|
//! | RBF, linear | 1 |
//! | Matérn-3/2 | √3 |
//! | Matérn-5/2 | √(5/3) |
//!
//! A constant variance cancels in d_k.

use hambo_core::model::Kernel;

use super::kernel::Hyperparameters;

impl Hyperparameters {
    /// d_k(x, x′), in standardised units.
    #[must_use]
    pub fn metric(&self, x: &[f64], other: &[f64]) -> f64 {
        let square =
            self.covariance(x, x) - 2.0 * self.covariance(x, other) + self.covariance(other, other);
        square.max(0.0).sqrt()
    }

    /// L_k with d_k(x, x′) ≤ L_k |x − x′| for all standardised x, x′.
    ///
    /// ```
    /// use hambo_learn::gaussian_process::{Hyperparameters, Kernel};
    ///
    /// let output = Hyperparameters {
    ///     kernel: Kernel::Matern32,
    ///     signal_variance: 4.0,
    ///     constant_variance: 1.0,
    ///     lengthscales: vec![0.5, 2.0],
    ///     noise_variance: 0.01,
    /// };
    /// assert!((output.lipschitz() - 2.0 * 3.0_f64.sqrt() / 0.5).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn lipschitz(&self) -> f64 {
        self.lipschitz_in(|_| 1.0)
    }

    /// The Lipschitz constant for x measured in other units, of which one standardised
    /// unit of input d holds `units(d)`.
    pub(super) fn lipschitz_in(&self, units: impl Fn(usize) -> f64) -> f64 {
        let lengthscales = self.lengthscales.iter().enumerate();
        let shortest = lengthscales.map(|(d, l)| l * units(d));
        let shortest = shortest.fold(f64::INFINITY, f64::min);
        self.lipschitz_per_lengthscale() / shortest
    }

    /// √signal · c: d_k(x, x′) ≤ this times |z − z′|, with z = x / l.
    pub(super) fn lipschitz_per_lengthscale(&self) -> f64 {
        let steepness = match self.kernel {
            Kernel::Rbf | Kernel::Linear => 1.0,
            Kernel::Matern32 => 3.0_f64.sqrt(),
            Kernel::Matern52 => (5.0_f64 / 3.0).sqrt(),
        };
        self.signal_variance.sqrt() * steepness
    }
}
