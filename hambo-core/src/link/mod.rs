//! What device and host tell each other.
//!
//! [`frame`] is the frame around a message, [`device`] what a device says of a check,
//! [`drive`] what a device that drives and a host that plays the robot say. [`handover`] is what
//! the verifier leaves for the gate, both on the device.

pub mod device;
pub mod drive;
pub mod frame;
pub mod handover;
