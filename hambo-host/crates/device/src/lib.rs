//! The device: starts the firmware on an emulated microcontroller and reads its verdict.
//!
//! The firmware logs defmt frames and ends with one closing message
//! ([`hambo_core::link::device::DeviceMessage`]). That message alone is the
//! result: an exit code is not enough, since an emulator that was reset also
//! exits with success.
//!
//! A firmware whose check has passed drives, if a robot answers on its serial line
//! ([`Qemu::drive`]).
//!
//! A board at the other end of a serial line is asked what it holds, and gets new controllers
//! ([`remote`]).
//!
//! Goes in: an image and a firmware. Comes out: a [`DeviceReport`] or a [`DeviceDrive`].
//! Stands on `hambo-task` and `hambo-base`.

mod drive;
mod elf;
mod error;
mod floor_file;
mod gpio;
mod intel_hex;
mod output;
mod qemu;
pub mod remote;
mod report;
mod robot_line;
mod twin;

pub use drive::{DeviceDrive, Measurement, Period, Robot};
pub use elf::{Firmware, read_elf};
pub use error::DeviceError;
pub use gpio::GpioWrite;
pub use intel_hex::intel_hex;
pub use qemu::Qemu;
pub use report::DeviceReport;
pub use twin::{HostDrive, drive_on_host};
