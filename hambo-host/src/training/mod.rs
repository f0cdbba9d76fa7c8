//! Training of network ensembles by explicit gradients.
//!
//! The network model of the method: every member predicts a Gaussian for the
//! state difference, and the spread between members is the epistemic
//! uncertainty that the adversary may use. Predictions of the product come
//! from the core; this module only finds the weights.

mod activation;
mod adam;
mod ensemble;
mod error;
mod likelihood;
mod minibatch;
mod network;
mod options;
mod random;
#[cfg(test)]
mod reference;
mod standardise;

pub use ensemble::{Layer, Member, TrainedEnsemble, train_ensemble};
pub use error::TrainingError;
pub use hambo_core::network::Activation;
pub use options::{EnsembleOptions, MINIMUM_ROWS};
pub use standardise::{Standardisation, TrainingSet};
