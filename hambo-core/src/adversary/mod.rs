//! Who picks eta: constants, and the adjoint search that starts from them.
//!
//! A weak adversary makes a bound that looks tight and is wrong, so every
//! estimate is the minimum over all that was tried.

mod adjoint;
mod constant;

pub use adjoint::{softness, step_length, update};
pub use constant::{MAX_STARTS, constant_component, constant_count};
