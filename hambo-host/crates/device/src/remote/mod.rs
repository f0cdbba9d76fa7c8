//! A board at the other end of a serial line: what it holds, and new controllers for it.
//!
//! The messages are those of [`hambo_core::link::update`]. [`wire`] carries bytes, over a serial
//! port or to an emulated board ([`emulated`]); [`asking`] asks until it is answered; [`push`] sends a bundle, from
//! where the last attempt ended; [`error`] says why something is not done.

mod asking;
mod emulated;
mod error;
mod push;
mod wire;

#[cfg(test)]
mod loop_back;

pub use asking::{Patience, Remote};
pub use emulated::{EmulatedBoard, EmulatedFiles};
pub use error::RemoteError;
pub use push::{Pushed, Step};
pub use wire::{SerialLine, StreamLine, Wire};
