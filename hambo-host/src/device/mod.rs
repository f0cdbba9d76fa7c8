//! The device link: starts the firmware on an emulated microcontroller and reads its verdict.
//!
//! The firmware logs defmt frames and ends with one closing line. That line
//! alone is the result: an exit code is not enough, since an emulator that was
//! reset also exits with success.

mod cost;
mod elf;
mod error;
mod gpio;
mod log;
mod qemu;
mod result_line;

pub use cost::ModelCost;
pub use elf::Firmware;
pub use error::DeviceError;
pub use gpio::GpioWrite;
pub use qemu::{DeviceReport, Qemu};
pub use result_line::{DeviceVerdict, ResultLine, ResultLineError};
