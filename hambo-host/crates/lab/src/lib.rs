//! Systems whose true return is known, and what is measured with them: the demo, the paper's
//! figures, benches, studies.
//!
//! Nothing of this decides about a user's controller. Stands on every crate but `hambo-command`.

pub mod bench;
pub mod demo;
pub mod driven_system;
pub mod environment;
pub mod environment_command;
pub mod environment_problem;
pub mod reproduce;
pub mod train;
