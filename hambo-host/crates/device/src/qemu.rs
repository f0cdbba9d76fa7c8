//! Runs the firmware on a microcontroller emulated by QEMU.

use super::elf::Firmware;
use super::error::DeviceError;
use super::floor_file::FloorFile;
use super::output::DeviceOutput;
use super::report::DeviceReport;
use defmt_decoder::Table;
use hambo_core::link::device::{DeviceMessage, ModelCosts, WatchedDrive};
use std::{
    fs, io,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// An emulated board with a firmware.
///
/// ```no_run
/// use hambo_device::Qemu;
/// let report = Qemu::new("hambo-gate").run("image.hmb".as_ref())?;
/// let result = report.result;
/// println!("{} with a bound of {}", result.decision(), result.bound);
/// # Ok::<(), hambo_device::DeviceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Qemu {
    /// The firmware's ELF file.
    pub firmware: PathBuf,
    /// The emulator, by name or path.
    pub program: PathBuf,
    /// The run is stopped after this time on the wall clock.
    pub timeout: Duration,
    /// The robot's floor, a file of `hambo floor`. Without one the emulated robot takes a
    /// bundle at its word.
    pub floor: Option<PathBuf>,
    /// A second bundle in flash, which the device checks while it drives.
    pub candidate: Option<PathBuf>,
    /// The verifier's ELF file, if the firmware is one that starts after it.
    pub verifier: Option<PathBuf>,
}

impl Qemu {
    /// A board with this firmware, the emulator of the search path and two minutes of time.
    pub fn new(firmware: impl Into<PathBuf>) -> Self {
        Self {
            firmware: firmware.into(),
            program: "qemu-system-arm".into(),
            timeout: Duration::from_secs(120),
            floor: None,
            candidate: None,
            verifier: None,
        }
    }

    /// The same with another limit on the wall clock.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The same for the robot with this floor.
    #[must_use]
    pub fn with_floor(self, floor: impl Into<PathBuf>) -> Self {
        Self {
            floor: Some(floor.into()),
            ..self
        }
    }

    /// The same with a second bundle that is checked while the first one drives.
    #[must_use]
    pub fn with_candidate(self, candidate: impl Into<PathBuf>) -> Self {
        Self {
            candidate: Some(candidate.into()),
            ..self
        }
    }

    /// The same with a verifier that starts before the firmware.
    #[must_use]
    pub fn with_verifier(self, verifier: impl Into<PathBuf>) -> Self {
        Self {
            verifier: Some(verifier.into()),
            ..self
        }
    }

    /// The same with another emulator.
    #[must_use]
    pub fn with_program(self, program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            ..self
        }
    }

    /// Puts a bundle into the board's flash, the floor beside it, and runs the firmware to
    /// its end.
    ///
    /// # Errors
    ///
    /// If something is missing, the device faults or takes too long, or its
    /// closing message, exit code and pin contradict each other. A refused
    /// bundle is a report, not an error.
    pub fn run(&self, image: &Path) -> Result<DeviceReport, DeviceError> {
        let run = self.finish(image)?;
        DeviceReport::new(run.firmware, run.status, run.output, &run.stderr)
    }

    /// Runs `hambo-budget` on a file of model parts, one after the other: a
    /// cost for each.
    ///
    /// # Errors
    ///
    /// If something is missing, or the device faults or takes too long.
    pub fn costs(&self, models: &Path) -> Result<ModelCosts, DeviceError> {
        let Finished { status, output, .. } = self.finish(models)?;
        let last_line = output.last_line();
        match output.message {
            Some(DeviceMessage::Costs(costs)) if status.success() => Ok(costs),
            _ => Err(DeviceError::NoClosingMessage { status, last_line }),
        }
    }

    /// Runs `hambo-monitor` on a file with an image and transitions.
    ///
    /// # Errors
    ///
    /// If something is missing, or the device faults or takes too long.
    pub fn watch(&self, recording: &Path) -> Result<WatchedDrive, DeviceError> {
        let Finished { status, output, .. } = self.finish(recording)?;
        let last_line = output.last_line();
        match output.message {
            Some(DeviceMessage::Watched(watched)) if status.success() => Ok(watched),
            _ => Err(DeviceError::NoClosingMessage { status, last_line }),
        }
    }

    /// Ensures that the firmware can be read and is one.
    ///
    /// # Errors
    /// If it cannot be read, or is another file.
    pub fn ensure_firmware(&self) -> Result<(), DeviceError> {
        self.read_firmware().map(|_| ())
    }

    pub(super) fn read_firmware(&self) -> Result<(Firmware, Table), DeviceError> {
        let elf = fs::read(&self.firmware).map_err(|source| DeviceError::NoFirmware {
            path: self.firmware.clone(),
            source,
        })?;
        let bad_firmware = |reason| DeviceError::BadFirmware {
            path: self.firmware.clone(),
            reason,
        };
        let firmware = Firmware::parse(&elf).map_err(bad_firmware)?;
        let table = Table::parse(&elf)
            .map_err(|error| bad_firmware(error.to_string()))?
            .ok_or_else(|| bad_firmware("it has no log table".into()))?;
        Ok((firmware, table))
    }

    /// Puts a file into the board's flash and runs the firmware until it stops.
    fn finish(&self, image: &Path) -> Result<Finished, DeviceError> {
        let (firmware, table) = self.read_firmware()?;
        require_room(image, firmware.model_length)?;
        let floor = FloorFile::of(self.floor.as_deref(), image)?;
        require_room(floor.path(), firmware.floor.1)?;

        let run = self.emulate(image, floor.path(), firmware)?;
        let output = DeviceOutput::decode(&table, &run.stdout)?;
        let Some(status) = run.status else {
            return Err(DeviceError::Timeout {
                limit: self.timeout,
                last_line: output.last_line(),
            });
        };
        Ok(Finished {
            firmware,
            status,
            output,
            stderr: run.stderr,
        })
    }

    fn emulate(&self, image: &Path, floor: &Path, firmware: Firmware) -> Result<Run, DeviceError> {
        let start = |source| self.cannot_run(source);
        let mut command = self.command(image, floor, firmware)?;
        let mut child = command.args(["-serial", "none"]).spawn().map_err(start)?;
        let stdout = child.stdout.take().map(collect);
        let stderr = child.stderr.take().map(collect);
        let status = wait(&mut child, self.timeout).map_err(start)?;
        Ok(Run {
            status,
            stdout: collected(stdout),
            stderr: String::from_utf8_lossy(&collected(stderr)).into_owned(),
        })
    }

    /// The emulator did not start, or its output could not be read.
    pub(super) fn cannot_run(&self, source: io::Error) -> DeviceError {
        let program = self.program.display().to_string();
        match source.kind() {
            io::ErrorKind::NotFound => DeviceError::NoQemu { program },
            _ => DeviceError::Start { program, source },
        }
    }

    /// The emulator with bundle and floor in the board's flash; its serial line is left open.
    pub(super) fn command(
        &self,
        image: &Path,
        floor: &Path,
        firmware: Firmware,
    ) -> Result<Command, DeviceError> {
        let image = loader(image, firmware.model_start)?;
        let floor = loader(floor, firmware.floor.0)?;
        let mut command = Command::new(&self.program);
        if let Some(verifier) = &self.verifier {
            // An ELF file, which says itself where it goes.
            command.args(["-device", &format!("loader,file={}", listed(verifier)?)]);
        }
        command
            .args(["-M", "netduinoplus2", "-nographic", "-no-reboot"])
            .args(["-monitor", "none"])
            .args(["-semihosting-config", "enable=on,target=native"])
            // One instruction per nanosecond of the board's time: a count that repeats.
            .args(["-icount", "shift=0"])
            // Accesses to the ports, on standard error.
            .args(["-d", "unimp"])
            .arg("-kernel")
            .arg(&self.firmware)
            .args(["-device", &image, "-device", &floor])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(command)
    }
}

/// A run that came to its own end.
struct Finished {
    firmware: Firmware,
    status: ExitStatus,
    output: DeviceOutput,
    stderr: String,
}

/// What is left of the emulator. No status means that it was stopped.
struct Run {
    status: Option<ExitStatus>,
    stdout: Vec<u8>,
    stderr: String,
}

/// The emulator's words for a file at an address.
pub(super) fn loader(file: &Path, address: u32) -> Result<String, DeviceError> {
    let path = listed(file)?;
    Ok(format!("loader,file={path},addr={address:#x},force-raw=on"))
}

/// A path in an option list, in which a comma in a value is written twice.
fn listed(file: &Path) -> Result<String, DeviceError> {
    let path = file.to_str().ok_or_else(|| DeviceError::PathNotText {
        path: file.to_path_buf(),
    })?;
    Ok(path.replace(',', ",,"))
}

pub(super) fn require_room(image: &Path, room: u32) -> Result<(), DeviceError> {
    // Opened, not just looked up, so that a file without permission is found here.
    let length = fs::File::open(image)
        .and_then(|file| file.metadata())
        .and_then(|metadata| {
            if metadata.is_file() {
                Ok(metadata.len())
            } else {
                Err(io::Error::other("it is not a file"))
            }
        })
        .map_err(|source| DeviceError::NoImage {
            path: image.to_path_buf(),
            source,
        })?;
    let room = u64::from(room);
    if length > room {
        return Err(DeviceError::ImageTooLarge {
            path: image.to_path_buf(),
            length,
            room,
        });
    }
    Ok(())
}

/// Reads a pipe to its end on another thread, so that the emulator never waits for us.
pub(super) fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error still counts.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

pub(super) fn collected(reader: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    reader
        .and_then(|reader| reader.join().ok())
        .unwrap_or_default()
}

/// Waits for the end, or ends the child and gives `None`.
pub(super) fn wait(child: &mut Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begin.elapsed() >= timeout {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
