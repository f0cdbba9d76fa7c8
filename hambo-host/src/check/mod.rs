//! From task, model and controller to an outcome.

pub mod adversary;
pub mod case;
pub mod findings;
pub mod in_lanes;
mod neighbours;
pub mod trajectory;
