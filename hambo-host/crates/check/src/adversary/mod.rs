//! Finding the worst case on the host: constants, the core's searches, and
//! networks that learn it by reinforcement (the paper's way), each on the
//! same trajectories, with what it cost.
//!
//! The estimate is always the core's, over all of them: a network, or a
//! sequence that was found on other trajectories, is one more start of its
//! search, and its minimum is taken on fresh trajectories.

pub mod adversaries;
pub mod effort;
mod grow;
pub(crate) mod learner;
mod scout;
mod train;
pub(super) mod units;

pub use adversaries::{
    AdversarialCheck, AdversaryCost, check_against_adversaries, find_adversaries, learn,
};
pub use effort::{EffortLevel, Learning};
pub use learner::{AdversaryLearner, AdversaryLearnerState};
pub use train::{Trained, Usual, train};
