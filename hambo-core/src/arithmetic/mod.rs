//! The arithmetic that makes host and device agree bit for bit.
//!
//! Values of `B` trajectories walk side by side: a *row* is `[f32; B]`, one
//! number for each lane, and a vector of n numbers is n rows. Every lane is
//! computed as if it were alone, so results do not depend on `B`.

mod active;
pub mod dense;
pub mod elementary;
pub mod fixed_point;
pub mod random;
pub mod triangular;
pub(crate) mod twice;
pub(crate) mod vectors;
