//! Gaussian processes in f64: from data to hyperparameters, to the exact
//! posterior, and to the numbers with which the core repeats it without f64.
//!
//! One process for each output, over the same inputs. With K the kernel
//! matrix, K + noise · 1 = L Lᵀ is factorised once; alpha = (K + noise · 1)⁻¹ y
//! and M = L⁻¹ are what a prediction needs.
//!
//! | what | where |
//! |---|---|
//! | hyperparameters by marginal likelihood | [`fit_hyperparameters`], [`Likelihood`] |
//! | the posterior on the host | [`GaussianProcessFit`] |
//! | its numbers for the core | [`stored_output`] |
//! | the rows that a device keeps | [`greedy_order`], [`uncertainty_growth`], [`DeviceRoom`] |
//! | beta, Lipschitz constants, C_n | [`Theory`] |

mod blocks;
pub(crate) mod cholesky;
mod coordinates;
mod descent;
mod error;
mod fit;
mod hyperparameters;
mod kernel_matrix;
mod likelihood;
mod lipschitz;
mod model_part;
mod nearest_plane;
mod options;
mod order;
mod plane;
mod rounding;
mod search;
mod single_factor;
mod subset;
mod theory;
mod whole_factor;

pub use error::GaussianProcessError;
pub use fit::{GaussianProcessFit, Observations, OutputFit};
pub use hyperparameters::Hyperparameters;
pub use likelihood::Likelihood;
pub use model_part::encode_gaussian_process;
pub use options::{Parameter, Progress, SearchBounds, SearchOptions};
pub use rounding::{StoredOutput, stored_output};
pub use search::{FittedOutput, fit_hyperparameters};
pub use subset::{ChosenRows, DeviceRoom, Growth, greedy_order, model_bytes, uncertainty_growth};
pub use theory::{
    ASSUMPTIONS, NORM_FACTOR, NormBound, OutputTheory, Smoothness, Theory, TheoryRow, beta,
};

pub use hambo_core::model::Kernel;
