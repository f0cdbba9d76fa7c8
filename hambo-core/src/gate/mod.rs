//! What stands between a check and the actuators.
//!
//! A check ends with a [`Verdict`] for people and, if it passed, with a [`Permit`] for
//! outputs. [`OutputEnable`] raises a pin for a permit, [`Heartbeat`] gives it an edge a
//! period (feature `embedded-hal`); [`WorkDone`] is what a watchdog is fed for.
#![cfg_attr(
    not(feature = "embedded-hal"),
    allow(rustdoc::broken_intra_doc_links, reason = "the pins need the feature")
)]

#[cfg(feature = "embedded-hal")]
mod heartbeat;
#[cfg(feature = "embedded-hal")]
mod output_enable;
pub(crate) mod permit;
mod verdict;
mod work_done;

#[cfg(feature = "embedded-hal")]
pub use heartbeat::{Heartbeat, LineDead, Pulse};
#[cfg(feature = "embedded-hal")]
pub use output_enable::OutputEnable;
pub use permit::Permit;
#[cfg(test)]
pub(crate) use verdict::MAX_REASONS;
pub(crate) use verdict::{Claim, decide};
pub use verdict::{Reason, Reasons, Verdict};
pub use work_done::{SliceProofs, WorkDone};
