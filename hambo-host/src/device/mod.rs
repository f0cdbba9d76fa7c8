//! The device: starts the firmware on an emulated microcontroller and reads its verdict.
//!
//! The firmware logs defmt frames and ends with one closing message
//! ([`hambo_core::device_link::DeviceMessage`]). That message alone is the
//! result: an exit code is not enough, since an emulator that was reset also
//! exits with success.
//!
//! Goes in: an image and a firmware. Comes out: a [`DeviceReport`]. May use:
//! `formats` and `foundation`.

mod elf;
mod error;
mod gpio;
mod output;
mod qemu;
mod report;

pub use elf::Firmware;
pub use error::DeviceError;
pub use gpio::GpioWrite;
pub use qemu::Qemu;
pub use report::DeviceReport;
