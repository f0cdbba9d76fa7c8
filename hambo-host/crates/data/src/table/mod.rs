//! A log as a file holds it: nothing shifted, dropped or narrowed, so that it can be looked at and
//! converted without loss. [`Log`](crate::Log) is what models are fitted to; a [`Table`] is one
//! step earlier.

mod ends;
pub(crate) mod keys;
mod numbers;
mod origin;
mod parts;

pub(crate) use ends::JUMP;
#[cfg(feature = "hdf5")]
pub(crate) use numbers::all_finite;
pub use numbers::{Block, Numbers};
pub use origin::Origin;
pub use parts::Table;
