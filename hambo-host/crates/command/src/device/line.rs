//! The line to a board: a serial port, or an emulated board.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use hambo_base::Error;
use hambo_console::number::at_least_one;
use hambo_device::remote::{
    EmulatedBoard, EmulatedFiles, Patience, Remote, RemoteError, SerialLine, Wire,
};

/// Which board.
#[derive(Args)]
pub struct LineArguments {
    /// The serial port that the board is connected to, like /dev/ttyUSB0.
    #[arg(long, conflicts_with = "qemu", required_unless_present = "qemu")]
    port: Option<PathBuf>,
    /// Instead of a board an AST1030 under QEMU, whose flash memory is this file; it is made if
    /// there is none.
    #[arg(long, value_name = "FLASH", requires = "firmware", requires = "floor")]
    qemu: Option<PathBuf>,
    /// The firmware's ELF file for --qemu, built with `--features ast1030-evb,development`.
    #[arg(long, requires = "qemu")]
    firmware: Option<PathBuf>,
    /// The robot's floor for --qemu (`hambo floor`).
    #[arg(long, requires = "qemu")]
    floor: Option<PathBuf>,
    /// Seconds without a word from the board after which it counts as gone.
    #[arg(long, default_value_t = 60, value_parser = at_least_one::<u64>)]
    timeout: u64,
}

/// A board at the other end of a line. The emulated one runs as long as this is there.
pub struct Connected {
    /// Who is asked.
    pub remote: Remote<Box<dyn Wire>>,
    _emulated: Option<EmulatedBoard>,
}

impl LineArguments {
    /// Opens the line.
    ///
    /// # Errors
    /// If it cannot be opened, or the emulator does not start.
    pub fn open(&self) -> Result<Connected, Error> {
        let (wire, emulated): (Box<dyn Wire>, _) = match (&self.port, &self.qemu) {
            (Some(port), _) => {
                let line = SerialLine::open(port).map_err(|error| {
                    let port = port.display();
                    let source = std::io::Error::new(error.kind(), format!("{port}: {error}"));
                    RemoteError::Line { source }
                })?;
                (Box::new(line), None)
            }
            (None, Some(flash)) => {
                let missing = || Error::Usage("--qemu needs --firmware and --floor".into());
                let files = EmulatedFiles {
                    firmware: self.firmware.as_deref().ok_or_else(missing)?,
                    floor: self.floor.as_deref().ok_or_else(missing)?,
                    flash,
                };
                let (board, line) = EmulatedBoard::start(files)?;
                (Box::new(line), Some(board))
            }
            (None, None) => return Err(Error::Usage("name a board: --port or --qemu".into())),
        };
        let patience = Patience::of(Duration::from_secs(self.timeout));
        Ok(Connected {
            remote: Remote::new(wire, first_number(), patience),
            _emulated: emulated,
        })
    }
}

/// Where the numbers of the requests begin: elsewhere in every call.
fn first_number() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanoseconds = now.map_or(0, |now| now.as_nanos());
    (nanoseconds as u32).rotate_left(13) ^ std::process::id()
}
