//! Training of network ensembles by explicit gradients: Bayesian networks by
//! Stein variational gradient descent (the paper's BNN), or deep ensembles.
//!
//! Every member predicts a Gaussian for the state difference, and the spread
//! between members is the epistemic uncertainty that the adversary may use.
//! Predictions of the product come from the core; this module only finds the
//! weights. [`train_ensemble`] does it in one call; [`Trainer`] adds validation
//! rows, reports and checkpoints.

mod early_stopping;
pub mod encode;
pub mod error;
mod held_out;
#[cfg(test)]
mod known_posteriors;
mod likelihood;
mod minibatch;
pub mod options;
mod particles;
mod posterior;
mod presets;
mod priors;
#[cfg(test)]
mod reference;
pub mod state;
mod svgd;
mod train;
mod trained;
pub mod trainer;
#[cfg(test)]
mod trainer_tests;
pub mod training_set;

pub use encode::encode_ensemble;
pub use error::TrainingError;
pub use held_out::HeldOut;
pub use options::{Bandwidth, EnsembleOptions, Inference, MINIMUM_ROWS, Schedule};
pub use state::TrainerState;
pub use train::train_ensemble;
pub use trained::{Member, TrainedEnsemble};
pub use trainer::{Trainer, TrainingProgress};
pub use training_set::TrainingSet;
