//! `hambo device`: what the firmware does with a bundle.

mod check;
mod drive;
mod line;
mod push;
mod status;

use std::io::Write;

use clap::Subcommand;

use check::CheckOnDevice;
use drive::DriveArguments;
use hambo_base::Error;
use push::PushArguments;
use status::StatusArguments;

/// What `hambo device` does.
#[derive(Subcommand)]
pub enum DeviceCommand {
    /// What the firmware under QEMU says of a bundle.
    ///
    /// Exit code 0: deploy; 1: reject, or refused; 3: abstain.
    ///
    /// Example: hambo device check image.hmb --firmware hambo-gate --floor robot.floor
    Check(CheckOnDevice),
    /// The robot in the loop: the firmware under QEMU checks an image and drives a built-in
    /// system with it.
    ///
    /// Exit code 0: driven to the end; 1: rejected, nothing moved; 3: abstained, or stopped by
    /// the monitor.
    ///
    /// Example: hambo device drive image.hmb --env pendulum --firmware hambo-gate
    Drive(DriveArguments),
    /// What a board at the other end of a serial line holds, and what it found at its start.
    ///
    /// Example: hambo device status --port /dev/ttyUSB0
    Status(StatusArguments),
    /// Sends a bundle to a board, which checks it and, if it passes, takes it from its next start
    /// on. A push that was cut off goes on where it was.
    ///
    /// Exit code 0: it is active; 1: reject, or refused; 3: abstain.
    ///
    /// Example: hambo device push image.hmb --port /dev/ttyUSB0 --restart
    Push(PushArguments),
}

/// Runs a subcommand; returns the exit code.
///
/// # Errors
/// If an input is bad, or the device fails.
pub fn run(command: &DeviceCommand, out: &mut impl Write) -> Result<u8, Error> {
    match command {
        DeviceCommand::Check(arguments) => check::run(arguments, out),
        DeviceCommand::Drive(arguments) => drive::run(arguments, out),
        DeviceCommand::Status(arguments) => status::run(arguments, out),
        DeviceCommand::Push(arguments) => push::run(arguments, out),
    }
}
