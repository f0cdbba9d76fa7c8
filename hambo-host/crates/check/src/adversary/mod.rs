//! Finding the worst case on the host: constants, the core's searches, and
//! networks that learn it by reinforcement (the paper's way), each on the
//! same trajectories, with what it cost.
//!
//! The estimate is always the core's, over all of them: a network, or a
//! sequence that was found on other trajectories, is one more start of its
//! search, and its minimum is taken on fresh trajectories.

mod adversaries;
mod grow;
mod learner;
mod scout;
mod train;
mod units;

pub use crate::case::effort::{EffortLevel, Learning};
pub use adversaries::{
    AdversarialCheck, AdversaryCost, check_against_adversaries, find_adversaries, learn,
};
pub use learner::{AdversaryLearner, AdversaryLearnerState};
pub use train::{Trained, Usual, train};
pub(crate) use units::units;
