//! What every district stands on: the library's error, files that are written
//! whole, places in texts for error messages, networks and their units.
//!
//! Goes in: bytes and numbers. Comes out: the same, checked. May use: nothing
//! of this crate.

pub mod checkpoint;
pub mod error;
pub mod files;
pub mod held;
pub mod meter;
pub mod network;
pub mod observer;
pub mod one_lane;
pub mod order;
pub mod output;
pub mod place;
pub mod random;
pub mod refused;
pub mod study;
pub mod thread_time;

pub use error::Error;
pub use held::Held;
