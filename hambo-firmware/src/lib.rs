//! What the firmware's programs share: `hambo-gate`, and `hambo-budget`, which counts what models cost.
//!
//! Only [`output_enable`] also runs on the host, and so can be tested there.
#![cfg_attr(not(test), no_std)]

pub mod output_enable;

#[cfg(target_os = "none")]
pub mod board;
#[cfg(target_os = "none")]
pub mod counter;
#[cfg(target_os = "none")]
pub mod fault;
#[cfg(target_os = "none")]
#[cfg_attr(feature = "semihosting", path = "link_semihosting.rs")]
#[cfg_attr(not(feature = "semihosting"), path = "link_rtt.rs")]
pub mod link;
#[cfg(target_os = "none")]
mod log;
#[cfg(target_os = "none")]
pub mod stack;
#[cfg(target_os = "none")]
pub mod workspace;
