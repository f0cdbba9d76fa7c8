//! What a device does with new bundles that come over the wire.
//!
//! [`desk`] holds the steps, without the line and without the check: it is given what a host
//! asks and says what to answer, to check, or to start again for. The same steps run on a board
//! and against a memory that loses its power.

mod desk;

pub use desk::{About, Desk, Next, Verdicts};

#[cfg(test)]
mod tests;
