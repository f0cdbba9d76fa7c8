//! What a learner needs of a decision problem: many copies of it, side by side.
//!
//! Equation (1) of the paper leaves one thing open in every step of the
//! hallucinated system: eta, or the member. The rest of the step is the core's,
//! in groups of lanes over all cores.
//!
//! - [`AdversaryProblem`]: the hallucinated system, the controller is fixed, the
//!   adversary learns. Its observation is (s, a), its reward −r, or what it takes
//!   off a baseline.
//! - [`ControllerProblem`]: the hallucinated system, the adversary is fixed, the
//!   controller learns. Its observation is s, its reward r. Together they make
//!   offline RL.

pub(super) mod adversary;
pub(super) mod controller;
pub(super) mod decision;
mod given_actions;
mod lane_group;
mod pay;

pub use adversary::AdversaryProblem;
pub use controller::ControllerProblem;
pub use decision::{Actions, Problem};
