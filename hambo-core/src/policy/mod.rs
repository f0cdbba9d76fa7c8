//! Controllers: an action for every state, and the derivative of it.
//!
//! pi_e of the paper, the policy that is evaluated: a(s), or with chance
//! a(s, noise), which keeps it differentiable. Any code can be one
//! ([`Controller`], [`Policy`]); [`StoredPolicy`] is what an image may hold.

mod controller;
mod head;
mod linear;
mod observed;
mod perceptron;
mod policy_trait;
mod stored;
mod waypoints;

pub use controller::{Controller, LaneByLane};
pub(crate) use head::ActionMap;
pub use head::{Head, LOG_STD_HIGH, LOG_STD_LOW, Spread};
pub use linear::Linear;
pub use observed::{MAX_OBSERVED, Observed, Observer};
pub use perceptron::Perceptron;
pub use policy_trait::{Policy, PolicyInputs};
pub use stored::StoredPolicy;
pub use waypoints::{Leg, MAX_LEGS, MAX_SPACE, Waypoints};
