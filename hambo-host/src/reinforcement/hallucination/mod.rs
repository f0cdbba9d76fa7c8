//! The hallucinated system as a decision problem, thousands of copies at once.
//!
//! Equation (1) of the paper leaves one thing open in every step: eta, or the
//! member. Whoever decides it is a learner's agent, and the rest of the step
//! is the core's: the same two halves ([`hambo_core::rollout::Rollout::observe`]
//! and `transition`) that a check walks, in groups of lanes over all cores.
//!
//! - [`AdversaryProblem`]: the controller is fixed, the adversary learns. Its
//!   observation is (s, a), its reward −r.
//! - [`ControllerProblem`]: the adversary is fixed, the controller learns. Its
//!   observation is s, its reward r. Together they make offline RL.

mod adversary;
mod controller;
mod dictated;
mod group;

pub use adversary::AdversaryProblem;
pub use controller::ControllerProblem;
