//! While a controller drives: is the robot still the one that was modelled?
//!
//! Every measured transition is held against the set that the bound assumed,
//! widened by the noise: |s′ − s − mu| ≤ beta · tau · sigma_e + z · sigma_a for
//! every state that the model moves. One that lies outside, or that was measured
//! too late to be told, is a surprise; how often there are some is a `Wager`,
//! and so is how often the robot is where the log has no data. Far outside, or
//! not finite, trips at once.
//!
//! This finds a model that is wrong, after the fact. It does not find an action
//! that is unsafe, nor a fault that leaves s′ − s as it was: a sensor whose
//! offset the dynamics do not depend on, for example.

mod last_transitions;
mod observation;
mod residual;
mod seal;
#[cfg(test)]
mod tests;
mod wager;
mod watch;

pub use last_transitions::LastTransitions;
pub use observation::{Measured, MonitorCounts, Observation, Trip};
pub use watch::{Monitor, MonitorError};
