//! Built-in systems whose true return is known.

mod point_safety;

pub use point_safety::{PointSafety, TruePath, UNSAFE_BELOW};
