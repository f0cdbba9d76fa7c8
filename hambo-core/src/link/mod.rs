//! What device and host tell each other.
//!
//! [`frame`] is the frame around a message, [`device`] what a device says of a check,
//! [`drive`] what a device that drives and a host that plays the robot say, [`update`] what they
//! say of new bundles. [`handover`] is what
//! the verifier leaves for the gate, both on the device. [`ring`] is what lies between the
//! interrupt that receives a byte and the program that reads it.

pub mod device;
pub mod drive;
pub mod frame;
pub mod handover;
pub mod ring;
pub mod update;
