//! The method, once, for host and device.
#![no_std]
#![forbid(unsafe_code)]

pub mod expression;
