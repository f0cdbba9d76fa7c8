//! What can go wrong between an image and its report.

use hambo_base::error::Explained;
use hambo_core::link::drive::DriveRefusal;
use std::{io, path::PathBuf, process::ExitStatus, time::Duration};
use thiserror::Error;

/// Why a device run gave no report.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// No emulator to run.
    #[error(
        "cannot find `{program}`: install QEMU for Arm (Debian and Ubuntu: `apt install qemu-system-arm`) \
         or say where it is"
    )]
    NoQemu {
        /// The program that was looked for.
        program: String,
    },

    /// The emulator did not start, or its output could not be read.
    #[error("cannot run `{program}`: {source}")]
    Start {
        /// The program that was started.
        program: String,
        /// What the system said.
        source: io::Error,
    },

    /// No firmware to run.
    #[error(
        "cannot read the firmware {path}: {source}; build it with \
         `cargo build --release --manifest-path hambo-firmware/Cargo.toml --target thumbv7em-none-eabihf`"
    )]
    NoFirmware {
        /// Where it was looked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// The file is not this project's firmware.
    #[error("{path} is not a hambo firmware: {reason}")]
    BadFirmware {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// No image to check.
    #[error("cannot read the device image {path}: {source}; `hambo export` writes one")]
    NoImage {
        /// Where it was looked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// The image is larger than the flash set aside for it.
    #[error("the device image {path} has {length} bytes, the board has room for {room}")]
    ImageTooLarge {
        /// The file.
        path: PathBuf,
        length: u64,
        /// What fits.
        room: u64,
    },

    /// The emulator's command line is text.
    #[error("the path {path} is not valid UTF-8; rename it")]
    PathNotText { path: PathBuf },

    /// The device did not come to an end.
    #[error(
        "the device gave no verdict within {} s and was stopped; allow more time with \
         --firmware-timeout SECONDS, or export a smaller check. Its last line: {last_line}",
        limit.as_secs_f32()
    )]
    Timeout {
        /// How long it was allowed to take.
        limit: Duration,
        /// Where it was.
        last_line: String,
    },

    /// A program that counts or watches did not come to its closing message.
    #[error("the device did not come to its end ({status}). Its last line: {last_line}")]
    NoClosingMessage {
        /// How the run ended.
        status: ExitStatus,
        /// Where it was.
        last_line: String,
    },

    /// The log holds something that is no log frame.
    #[error("the device's log is damaged; is this the firmware that ran?")]
    DamagedLog,

    /// The device stopped before its closing message: a fault or a reset.
    #[error(
        "the device stopped without a verdict ({status}): it faulted or was reset; its output pin {}. \
         Its last line: {last_line}{}",
        match (driven_high, left_high) {
            (_, true) => "was left high",
            (true, false) => "had gone high and was low at the end",
            (false, false) => "was not seen going high",
        },
        tail(messages)
    )]
    NoResult {
        /// How the emulator ended.
        status: ExitStatus,
        /// Where the device was.
        last_line: String,
        /// Whether the output-enable line was ever driven high.
        driven_high: bool,
        /// Whether it was high at the end.
        left_high: bool,
        /// What the emulator said.
        messages: String,
    },

    /// The closing message came twice, or was not the last one.
    #[error(
        "the device sent more than one closing message or went on after it; this verdict cannot be trusted"
    )]
    NotClosed,

    /// The closing message contradicts itself.
    #[error(
        "the device reported outputs that are on without a passed check, or off after one; \
         this verdict cannot be trusted"
    )]
    Contradiction,

    /// The exit code says something else than the closing message.
    #[error("the device reported `{verdict}` but ended with {status}")]
    ExitDisagrees {
        /// The verdict of the closing message.
        verdict: &'static str,
        /// How the emulator ended.
        status: ExitStatus,
    },

    /// The emulator's log has no store to a pin, though the firmware begins with one.
    #[error(
        "the emulator reported no store to the output pin, so nobody saw what it did; use a QEMU \
         that logs unimplemented devices (`-d unimp`)"
    )]
    NoPinLog,

    /// The line between the emulated board and the robot cannot be opened or used.
    #[error("the serial line to the device: {source}")]
    Line {
        /// What the system said.
        source: io::Error,
    },

    /// The check passed, and still the device does not drive.
    #[error("the device passed the check and does not drive: {}", refusal(*why))]
    DriveRefused { why: DriveRefusal },

    /// The device went away in the middle of a drive, or answered another period.
    #[error(
        "the drive was cut off after {periods} periods; outputs off. Its last line: {last_line}"
    )]
    DriveCut {
        /// Periods with an action.
        periods: usize,
        /// Where the device was.
        last_line: String,
    },

    /// The pin was driven otherwise than the closing message says.
    #[error("the device reported its output as {reported}, but the pin was {driven}")]
    PinDisagrees {
        /// What the closing message says.
        reported: &'static str,
        /// What the emulator saw.
        driven: &'static str,
    },
}

impl Explained for DeviceError {
    const ABOUT: &'static str = "the device: ";
}

fn tail(messages: &str) -> String {
    if messages.is_empty() {
        String::new()
    } else {
        format!("\n{messages}")
    }
}

fn refusal(why: DriveRefusal) -> &'static str {
    match why {
        DriveRefusal::Image => "the image that was checked cannot be read again",
        DriveRefusal::Fallback => "the fallback has other sizes than the task",
        DriveRefusal::Capacity => "the drive needs more memory than the board has",
        DriveRefusal::Settings => {
            "the robot does not measure a state that the task does not compute either"
        }
        DriveRefusal::Watchdog => "the board's watchdog does not run: start the board again",
        DriveRefusal::TooLarge => "a transition has more numbers than one message holds",
        DriveRefusal::Period => {
            "the bundle's time step is not the period of the board's loop: write \
             time_step = 0.05 into the task and export it again"
        }
    }
}
