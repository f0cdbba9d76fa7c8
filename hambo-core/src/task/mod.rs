//! What is asked: horizon, reward, limits, initial states and threshold.
//!
//! The Markov decision process of the paper's section 2, without its
//! transitions: T, r, p0 and the constraints c_i
//! ([`Constraint`]); with the confidence 1 − delta of
//! definition 2.1.

mod constraint;
mod decision_process;
mod distribution_free;
pub mod expression;
mod found_choices;
mod initial;
mod method;
mod network_adversary;
mod physics;
mod plan;
mod range;
mod seal;
mod variant;

pub use constraint::{Constraint, ConstraintKind};
pub use decision_process::{MAX_CONSTRAINTS, Objective, Task};
pub use distribution_free::DistributionFree;
pub use found_choices::FoundChoices;
pub use initial::{InitialKind, InitialState};
pub use method::{Allocation, Effort, Method};
pub use network_adversary::NetworkAdversary;
pub use physics::{KnownState, MAX_CIRCLES, MAX_FEATURES, MAX_KNOWN, ModelInputs, Physics};
pub use plan::{MAX_ADVERSARIES, Plan};
pub use range::{Limits, Wraps, wrap};
pub use variant::Variant;
