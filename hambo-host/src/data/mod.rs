//! Logged transitions.

mod log;

pub use log::{Log, LogError, Transition};
