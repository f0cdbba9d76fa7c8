//! The checked controller at work: once a period, from the measured state to
//! the actuators, while the monitor watches.
//!
//! Before all, what is remembered from the last period and what was read from the bundle are
//! held against their checksums: a bit that flipped in between ends the drive.
//!
//! 1. The sensor is read ([`Sensor`]).
//! 2. The transition that led here, (s, a, s′), is held against the model
//!    ([`Monitor`](monitor::Monitor)) and kept among the last ones for the log.
//! 3. Who drives is decided ([`Mode`]): a trip hands over to the fallback in
//!    this very period, and nothing hands back. Where the task says that the robot may
//!    be switched off, the fallback ends the drive.
//! 4. The controller's action is computed by the code that the check ran, over
//!    one lane, and limited as there.
//! 5. The actuators get it ([`Actuator`]).
//! 6. After that, in a drive with a permit, a piece of the bundle is hashed once more
//!    ([`Drive::reread`]).
//!
//! What the controller sees is what it saw in the check: wrapped states in their
//! intervals, pairs on their circles, all within the task's limits. States that
//! nobody measures, such as a controller's integral, are computed by the task's
//! known physics as in a rollout.

mod error;
mod mode;
pub mod monitor;
mod named;
mod period;
mod permitted;
mod ports;
mod reread;
mod rows;
mod seal;
#[cfg(test)]
mod tests;

pub use error::DriveError;
pub use mode::{DriveEvent, Mode, Stop};
pub use period::{Drive, DriveSettings, Tick};
pub use ports::{Actuator, Claimed, OtherAction, Sensor};
pub use rows::KEPT;
