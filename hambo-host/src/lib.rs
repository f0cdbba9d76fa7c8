//! What needs an operating system: data, training, calibration, pictures and
//! the device link. The mathematics of the check is [`hambo_core`]'s alone.
//!
//! Districts, from the lowest; each imports only from those above it in this
//! table, which a test of `xtask` holds:
//!
//! | district | what it holds |
//! |---|---|
//! | [`foundation`] | errors, places in texts, files |
//! | [`formats`] | tasks, logs, controllers, device images |
//! | [`learn`] | from a log to a calibrated model |
//! | [`environment`] | systems whose true return is known |
//! | [`reinforcement`] | soft actor-critic and double DQN |
//! | [`check`] | from task, model and controller to an outcome |
//! | [`improve`] | a better controller from the log alone |
//! | [`present`] | report and figures |
//! | [`device`] | the firmware under QEMU |
//! | [`command`] | the `hambo` command |

pub mod check;
pub mod command;
pub mod device;
pub mod environment;
pub mod formats;
pub mod foundation;
pub mod improve;
pub mod learn;
pub mod present;
pub mod reinforcement;

pub use foundation::error::Error;
