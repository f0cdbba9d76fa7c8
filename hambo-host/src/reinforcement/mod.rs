//! Reinforcement learning: the search for worst cases that the paper uses, and
//! controllers for true systems.
//!
//! A [`Problem`] is many copies of a decision problem side by side.
//! [`SoftActorCritic`] decides numbers in [−1, 1] (eta of CA, or a controller's
//! actions), [`DoubleDqn`] one of several choices (the member of DA1). Both live
//! in rounds of whole episodes, followed by gradient steps; both are
//! deterministic for a seed on any number of threads, and go on from a saved
//! state as if never stopped.
//!
//! Goes in: a decision problem (an adversary's, a controller's, a true
//! system's). Comes out: a trained network. May use: `environment` and below.

mod course;
#[cfg(test)]
mod differences;
mod dqn;
mod dqn_step;
#[cfg(test)]
mod dqn_tests;
mod drive;
mod environment;
mod error;
pub mod hallucination;
mod lanes;
mod options;
mod problem;
mod replay;
mod sac;
mod sac_step;
#[cfg(test)]
mod sac_tests;
mod squashed_gaussian;
#[cfg(test)]
mod toy;
mod trained;
mod weights;

pub use course::RoundReport;
pub use dqn::{DoubleDqn, DoubleDqnOptions, DoubleDqnState};
pub use environment::EnvironmentProblem;
pub use error::ReinforcementError;
pub use options::{InputUnits, Rounds, Value};
pub use problem::{Actions, Problem};
pub use sac::{SoftActorCritic, SoftActorCriticOptions, SoftActorCriticState};
pub use trained::{TrainedActor, TrainedChooser};
