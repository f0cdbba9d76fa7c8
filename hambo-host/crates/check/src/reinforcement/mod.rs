//! Reinforcement learning: the search for worst cases that the paper uses, and
//! controllers for true systems.
//!
//! A [`Problem`] is many copies of a decision problem side by side. Two learners decide
//! in it: [`SoftActorCritic`] numbers in [−1, 1] (eta of CA, or a controller's
//! actions), [`DoubleDqn`] one of several choices (the member of DA1). One [`Driver`]
//! leads both through rounds of whole episodes, each followed by gradient steps. It
//! is deterministic for a seed on any number of threads, and goes on from a saved
//! state as if never stopped.
//!
//! Goes in: a decision problem (an adversary's, a controller's, a true
//! system's). Comes out: a trained network. May use: `environment` and below.

#[cfg(test)]
mod differences;
mod double_dqn;
#[cfg(test)]
mod double_dqn_tests;
mod dqn_step;
mod driver;
mod episodes;
#[cfg(test)]
mod episodes_tests;
mod error;
mod history;
#[cfg(test)]
mod imitation_tests;
mod lanes;
mod learner;
mod logged;
mod options;
mod problem;
mod replay;
mod sac_step;
mod soft_actor_critic;
#[cfg(test)]
mod soft_actor_critic_tests;
mod squashed_gaussian;
#[cfg(test)]
mod toy_problems;
mod trained;
mod waves;
mod weights;
mod window;

pub use double_dqn::{DoubleDqn, DoubleDqnOptions, DoubleDqnState};
pub use driver::{Driver, DriverState};
pub use error::ReinforcementError;
pub use history::RoundReport;
pub use logged::LoggedStep;
pub use options::{InputUnits, LearningOptions, Rounds, Value};
pub use problem::{Actions, AdversaryProblem, ControllerProblem, Problem};
pub use soft_actor_critic::{SoftActorCritic, SoftActorCriticOptions, SoftActorCriticState};
pub use trained::{TrainedActor, TrainedChooser};
