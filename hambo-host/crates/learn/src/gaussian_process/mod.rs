//! Gaussian processes in f64: from data to hyperparameters, to the exact
//! posterior, and to the numbers with which the core repeats it without f64.
//!
//! One process for each output, over the same inputs. With K the kernel
//! matrix, K + noise · 1 = L Lᵀ is factorised once; alpha = (K + noise · 1)⁻¹ y
//! and M = L⁻¹ are what a prediction needs.
//!
//! | what | where |
//! |---|---|
//! | kernels and their hyperparameters | [`Hyperparameters`], [`Kernel`] |
//! | hyperparameters by marginal likelihood | [`fit_hyperparameters`], [`Likelihood`] |
//! | the posterior's mean and variance | [`GaussianProcessFit`] |
//! | its numbers for the core | [`encode_gaussian_process`] |
//! | the rows that a device keeps | [`greedy_order`], [`uncertainty_growth`], [`DeviceRoom`] |
//! | points that the variance takes together | [`VarianceGroups`], [`GroupGrowth`] |
//! | beta, Lipschitz constants, C_n | [`beta()`], [`Hyperparameters::lipschitz`], [`Theory`] |

pub mod beta;
pub mod cholesky;
pub mod error;
mod grouping;
pub mod groups;
mod information_gain;
mod kernel;
mod kinks;
mod lipschitz;
pub mod marginal_likelihood;
pub mod model_part;
mod order;
pub mod posterior;
pub mod subset;
pub mod theory;

pub use beta::{NORM_FACTOR, NormBound, SetWidth, beta};
pub use error::GaussianProcessError;
pub use groups::{GroupGrowth, VarianceGroups};
pub use kernel::Hyperparameters;
pub use kinks::kinks_at_limits;
pub use marginal_likelihood::{
    FittedOutput, Likelihood, Parameter, Progress, SearchBounds, SearchOptions, fit_hyperparameters,
};
pub use model_part::encode_gaussian_process;
pub use posterior::{GaussianProcessFit, Observations, OutputFit};
pub use subset::{ChosenRows, DeviceRoom, Growth, greedy_order, model_bytes, uncertainty_growth};
pub use theory::{ASSUMPTIONS, OutputTheory, Smoothness, Theory, TheoryRow};

pub use hambo_core::model::Kernel;
