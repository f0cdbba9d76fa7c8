//! Gaussian processes in f64: from data and hyperparameters to the exact
//! posterior, and to the numbers with which the core repeats it in f32.
//!
//! One process for each output, over the same inputs. With K the kernel
//! matrix, K + noise · 1 = L Lᵀ is factorised once; alpha = (K + noise · 1)⁻¹ y
//! and M = L⁻¹ are what a prediction needs.

mod error;
mod fit;
mod hyperparameters;
mod order;
mod rounding;

pub use error::GaussianProcessError;
pub use fit::{GaussianProcessFit, Observations, OutputFit};
pub use hyperparameters::Hyperparameters;
pub use rounding::{StoredOutput, stored_output};

pub use hambo_core::model::Kernel;
