//! What stands between a check and the actuators.
//!
//! A check ends with a [`Verdict`] for people and, if it passed, with a [`Permit`] for
//! outputs. [`OutputEnable`] raises a pin for a permit, [`Heartbeat`] gives it an edge a
//! period (feature `embedded-hal`), for the [`Pulse`] of a drive with that permit.
#![cfg_attr(
    not(feature = "embedded-hal"),
    allow(rustdoc::broken_intra_doc_links, reason = "the pins need the feature")
)]

pub(crate) mod code_words;
pub(crate) mod hashes;
#[cfg(feature = "embedded-hal")]
mod heartbeat;
#[cfg(feature = "embedded-hal")]
mod output_enable;
mod pace;
mod permit;
mod pulse;
mod verdict;

pub(crate) use hashes::Hashes;
#[cfg(feature = "embedded-hal")]
pub use heartbeat::{Heartbeat, LineDead};
#[cfg(feature = "embedded-hal")]
pub use output_enable::OutputEnable;
pub use pace::Pace;
pub(crate) use permit::Key;
pub use permit::{FallbackPermit, Permit};
pub use pulse::Pulse;
pub(crate) use pulse::{ROUND, Reread};
#[cfg(test)]
pub(crate) use verdict::MAX_REASONS;
pub(crate) use verdict::{Claim, decide};
pub use verdict::{Reason, Reasons, Verdict};
