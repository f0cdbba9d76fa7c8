//! The part of the firmware that also runs on the host, and so can be tested there.
#![cfg_attr(not(test), no_std)]

pub mod output_enable;
