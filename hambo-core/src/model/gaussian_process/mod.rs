//! One Gaussian process for each output, with its own hyperparameters and the
//! inputs of all: mu_n and sigma_n of equation (4).
//!
//! With k_i = k(x, x_i), K + noise · 1 = L Lᵀ and M = L⁻¹, the mean is kᵀ
//! alpha and the variance k(x, x) − |M k|². The factorisation is the host's;
//! M is stored, so that a query costs one triangular product for each output
//! and its derivative a second one. Where there are many points, the variance
//! takes near ones together, and M has a row for each of the [`groups`].
//!
//! The terms of these sums are large and cancel, so both are summed in
//! integers; the standard deviation is rounded up by a bound on all that is
//! lost: see [`posterior`]. [`stationary`] and [`variance`] are the arithmetic
//! of most kernels, [`linear`] that of the linear one.

mod coordinates;
mod groups;
mod kernel;
mod linear;
mod numbers;
mod output_rows;
mod posterior;
mod process;
mod stationary;
mod variance;

pub use coordinates::{FRACTION_BITS, WEIGHT_LIMIT, coordinate_limit};
pub use kernel::Kernel;
pub use numbers::OutputNumbers;
pub use process::GaussianProcess;
pub(crate) use process::{MAX_OUTPUTS, tiles_of};
