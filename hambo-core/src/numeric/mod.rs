//! The arithmetic that makes host and device agree bit for bit.
//!
//! Values of `B` trajectories walk side by side: a *row* is `[f32; B]`, one
//! number for each lane, and a vector of n numbers is n rows. Every lane is
//! computed as if it were alone, so results do not depend on `B`.

#[cfg(feature = "host-simd")]
mod branchless;
pub(crate) mod checksum;
pub mod dense;
mod dispatch;
pub mod elementary;
mod error;
pub(crate) mod fixed_point;
pub mod network;
pub mod random;
pub(crate) mod redundant;
pub(crate) mod slices;
pub mod triangular;
pub(crate) mod vectors;
mod work_done;

pub(crate) use dispatch::dispatch;
pub use error::{CapacityError, ParameterError};
pub use slices::{Pause, Slices};
pub use work_done::WorkDone;
