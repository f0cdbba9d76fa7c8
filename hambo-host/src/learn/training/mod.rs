//! Training of network ensembles by explicit gradients: Bayesian networks by
//! Stein variational gradient descent (the paper's BNN), or deep ensembles.
//!
//! Every member predicts a Gaussian for the state difference, and the spread
//! between members is the epistemic uncertainty that the adversary may use.
//! Predictions of the product come from the core; this module only finds the
//! weights. [`train_ensemble`] does it in one call; [`Trainer`] adds validation
//! rows, reports and checkpoints.

mod activation;
pub(crate) mod adam;
mod early_stopping;
mod ensemble;
mod error;
mod held_out;
pub(crate) mod initial;
#[cfg(test)]
mod known_posteriors;
mod likelihood;
mod minibatch;
pub(crate) mod network;
mod options;
mod particles;
mod posterior;
mod presets;
pub(crate) mod random;
#[cfg(test)]
pub(crate) mod reference;
mod standardise;
mod state;
mod svgd;
mod trained;
mod trainer;
#[cfg(test)]
mod trainer_tests;
mod vectors;

pub use ensemble::train_ensemble;
pub use error::TrainingError;
pub use hambo_core::network::Activation;
pub use held_out::HeldOut;
pub use options::{Bandwidth, EnsembleOptions, Inference, Initial, MINIMUM_ROWS, Schedule};
pub use standardise::{Standardisation, TrainingSet};
pub use state::TrainerState;
pub use trained::{Layer, Member, TrainedEnsemble};
pub use trainer::{Progress, Trainer};
