//! What the firmware's programs share: `hambo-gate`, `hambo-budget`, which counts what models cost,
//! `hambo-monitor`, which watches transitions in flash, and `hambo-faults`, which provokes faults.
#![no_std]
#![cfg(target_os = "none")]

pub mod board;
pub mod counter;
pub mod fault;
pub mod handover;
pub mod interrupt;
#[cfg_attr(feature = "semihosting", path = "link_semihosting.rs")]
#[cfg_attr(not(feature = "semihosting"), path = "link_rtt.rs")]
pub mod link;
mod log;
pub mod stack;
pub mod workspace;
