//! Runs the firmware on a microcontroller emulated by QEMU.

use super::{
    DeviceError, DeviceVerdict, Firmware, GpioWrite, ModelCost, ResultLine,
    log::{self, LogLine},
};
use defmt_decoder::Table;
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
/// use hambo_host::device::Qemu;
/// let report = Qemu::new("hambo-gate").run("image.hmb".as_ref())?;
/// println!("{} with a bound of {}", report.verdict, report.bound);
/// # Ok::<(), hambo_host::device::DeviceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Qemu {
    /// The firmware's ELF file.
    pub firmware: PathBuf,
    /// The emulator, by name or path.
    pub program: PathBuf,
    /// The run is stopped after this time on the wall clock.
    pub timeout: Duration,
}

/// What the device did with an image.
#[derive(Clone, Debug)]
pub struct DeviceReport {
    /// The lower bound.
    pub bound: f32,
    /// The same, bit for bit.
    pub bound_bits: u32,
    /// One number for all estimates, see [`hambo_core::check::Outcome::digest`].
    pub digest: u32,
    /// The decision.
    pub verdict: DeviceVerdict,
    /// Whether the outputs are on.
    pub output_enabled: bool,
    /// Instructions from the start of the check to its verdict; the same in every run.
    pub instructions: u64,
    /// The most stack ever in use, in bytes.
    pub stack_high_water: u32,
    /// The check's workspace in bytes.
    pub ram_bytes: u32,
    /// The firmware's flash in bytes, without the image.
    pub flash_bytes: u32,
    /// The firmware's statics in bytes: the workspace and all else but the stack.
    pub static_bytes: u32,
    /// The log, line by line, with levels.
    pub log: Vec<String>,
    /// Every store to a pin's registers, in order. Empty if the emulator does not report them.
    pub gpio_writes: Vec<GpioWrite>,
    /// Whether the run ended with success: for every verdict but a refused image.
    pub exit_success: bool,
}

impl Qemu {
    /// A board with this firmware, the emulator of the search path and two minutes of time.
    pub fn new(firmware: impl Into<PathBuf>) -> Self {
        Self {
            firmware: firmware.into(),
            program: "qemu-system-arm".into(),
            timeout: Duration::from_secs(120),
        }
    }

    /// The same with another limit on the wall clock.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The same with another emulator.
    #[must_use]
    pub fn with_program(self, program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            ..self
        }
    }

    /// Puts an image into the board's flash and runs the firmware to its end.
    ///
    /// # Errors
    ///
    /// If something is missing, the device faults or takes too long, or its
    /// closing line, exit code and pin do not tell the same story. A refused
    /// image is a report, not an error.
    pub fn run(&self, image: &Path) -> Result<DeviceReport, DeviceError> {
        let Finished {
            firmware,
            status,
            lines,
            stderr,
        } = self.finish(image)?;
        report(firmware, status, &lines, &stderr)
    }

    /// Runs `hambo-budget` on a file of model parts, one after the other: a
    /// cost for each.
    ///
    /// # Errors
    ///
    /// If something is missing, the device faults or takes too long, or it
    /// did not count every model that it says it has.
    pub fn costs(&self, models: &Path) -> Result<Vec<ModelCost>, DeviceError> {
        let Finished { status, lines, .. } = self.finish(models)?;
        let messages = lines.iter().map(|line| line.message.as_str());
        let costs = ModelCost::parse_all(messages).filter(|_| status.success());
        costs.ok_or_else(|| DeviceError::NoCosts {
            status,
            last_line: last_line(&lines),
        })
    }

    /// Puts a file into the board's flash and runs the firmware until it stops.
    fn finish(&self, image: &Path) -> Result<Finished, DeviceError> {
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
        require_room(image, firmware)?;

        let run = self.emulate(image, firmware)?;
        let lines = log::decode(&table, &run.stdout)?;
        match run.status {
            Some(status) => Ok(Finished {
                firmware,
                status,
                lines,
                stderr: run.stderr,
            }),
            None => Err(DeviceError::Timeout {
                limit: self.timeout,
                last_line: last_line(&lines),
            }),
        }
    }

    fn emulate(&self, image: &Path, firmware: Firmware) -> Result<Run, DeviceError> {
        let program = self.program.display().to_string();
        let start = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => DeviceError::NoQemu {
                program: program.clone(),
            },
            _ => DeviceError::Start {
                program: program.clone(),
                source,
            },
        };
        // In an option list a comma in a value is written twice.
        let path = image.to_str().ok_or_else(|| DeviceError::PathNotText {
            path: image.to_path_buf(),
        })?;
        let loader = format!(
            "loader,file={},addr={:#x},force-raw=on",
            path.replace(',', ",,"),
            firmware.model_start
        );

        let mut child = Command::new(&self.program)
            .args(["-M", "netduinoplus2", "-nographic", "-no-reboot"])
            .args(["-monitor", "none", "-serial", "none"])
            .args(["-semihosting-config", "enable=on,target=native"])
            // One instruction per nanosecond of the board's time: a count that repeats.
            .args(["-icount", "shift=0"])
            // Accesses to the ports, on standard error.
            .args(["-d", "unimp"])
            .arg("-kernel")
            .arg(&self.firmware)
            .args(["-device", &loader])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(start)?;

        let stdout = child.stdout.take().map(collect);
        let stderr = child.stderr.take().map(collect);
        let status = wait(&mut child, self.timeout).map_err(start)?;
        Ok(Run {
            status,
            stdout: collected(stdout),
            stderr: String::from_utf8_lossy(&collected(stderr)).into_owned(),
        })
    }
}

/// A run that came to its own end.
struct Finished {
    firmware: Firmware,
    status: ExitStatus,
    lines: Vec<LogLine>,
    stderr: String,
}

/// What is left of the emulator. No status means that it was stopped.
struct Run {
    status: Option<ExitStatus>,
    stdout: Vec<u8>,
    stderr: String,
}

fn require_room(image: &Path, firmware: Firmware) -> Result<(), DeviceError> {
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
    let room = u64::from(firmware.model_length);
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
fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error still counts.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn collected(reader: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    reader
        .and_then(|reader| reader.join().ok())
        .unwrap_or_default()
}

/// Waits for the end, or ends the child and gives `None`.
fn wait(child: &mut Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
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

/// The report, if closing line, exit code and pin agree.
fn report(
    firmware: Firmware,
    status: ExitStatus,
    lines: &[LogLine],
    stderr: &str,
) -> Result<DeviceReport, DeviceError> {
    let gpio_writes: Vec<_> = stderr.lines().filter_map(GpioWrite::parse).collect();
    let driven_high = gpio_writes.iter().any(|write| write.enables_outputs());
    let mut closing = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| ResultLine::is_one(&line.message));
    let Some((position, line)) = closing.next() else {
        return Err(DeviceError::NoClosingLine {
            status,
            last_line: last_line(lines),
            driven_high,
            messages: messages(stderr),
        });
    };
    if position + 1 != lines.len() {
        return Err(DeviceError::NotClosed);
    }
    let result = ResultLine::parse(&line.message)?;

    let exit_success = status.success();
    if exit_success != (result.verdict != DeviceVerdict::Refused) {
        return Err(DeviceError::ExitDisagrees {
            verdict: result.verdict.as_str(),
            status,
        });
    }

    if !gpio_writes.is_empty() && driven_high != result.output_enabled {
        return Err(DeviceError::PinDisagrees {
            reported: if result.output_enabled { "on" } else { "off" },
            driven: if driven_high {
                "driven high"
            } else {
                "never driven high"
            },
        });
    }

    Ok(DeviceReport {
        bound: result.bound,
        bound_bits: result.bound_bits,
        digest: result.digest,
        verdict: result.verdict,
        output_enabled: result.output_enabled,
        instructions: result.instructions,
        stack_high_water: result.stack_high_water,
        ram_bytes: result.ram_bytes,
        flash_bytes: firmware.flash_bytes,
        static_bytes: firmware.static_bytes,
        log: lines.iter().map(LogLine::with_level).collect(),
        gpio_writes,
        exit_success,
    })
}

fn last_line(lines: &[LogLine]) -> String {
    lines
        .last()
        .map_or_else(|| "(none)".into(), LogLine::with_level)
}

/// The emulator's own words, without the accesses to ports.
fn messages(stderr: &str) -> String {
    let lines: Vec<_> = stderr
        .lines()
        .filter(|line| !line.contains(": unimplemented device "))
        .take(20)
        .collect();
    lines.join("\n")
}

#[cfg(all(test, unix))]
mod tests {
    use super::{DeviceReport, LogLine, report};
    use crate::device::{DeviceError, DeviceVerdict, Firmware};
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

    const DEPLOY: &str = "result bound=1.5 bits=3fc00000 digest=0000000a verdict=deploy output=on instructions=1 stack=2 ram=3";
    const REFUSED: &str = "result bound=NaN bits=7fc00000 digest=0000000a verdict=refused output=off instructions=1 stack=2 ram=3";
    const LOW: &str =
        "GPIOA: unimplemented device write (size 4, offset 0x018, value 0x00200000)\n";
    const HIGH: &str =
        "GPIOA: unimplemented device write (size 4, offset 0x018, value 0x00000020)\n";

    fn run(messages: &[&str], exit_code: i32, stderr: &str) -> Result<DeviceReport, DeviceError> {
        let firmware = Firmware {
            model_start: 0,
            model_length: 0,
            flash_bytes: 7,
            static_bytes: 8,
        };
        let lines: Vec<_> = messages
            .iter()
            .map(|message| LogLine {
                level: "info",
                message: (*message).into(),
            })
            .collect();
        report(
            firmware,
            ExitStatus::from_raw(exit_code << 8),
            &lines,
            stderr,
        )
    }

    #[test]
    fn a_closed_log_is_a_report() -> Result<(), DeviceError> {
        let report = run(&["hello", DEPLOY], 0, &[LOW, HIGH].concat())?;
        assert_eq!(report.verdict, DeviceVerdict::Deploy);
        assert!(report.output_enabled && report.exit_success);
        assert_eq!(report.gpio_writes.len(), 2);
        assert_eq!(report.log.len(), 2);
        assert_eq!(report.flash_bytes, 7);
        Ok(())
    }

    #[test]
    fn a_refused_image_is_a_report_of_failure() -> Result<(), DeviceError> {
        let report = run(&[REFUSED], 1, LOW)?;
        assert_eq!(report.verdict, DeviceVerdict::Refused);
        assert!(!report.output_enabled && !report.exit_success);
        Ok(())
    }

    #[test]
    fn success_without_a_closing_line_is_an_error() {
        for messages in [&[][..], &["hello"], &["a result bound=1"]] {
            let result = run(messages, 0, "");
            assert!(
                matches!(result, Err(DeviceError::NoClosingLine { .. })),
                "{result:?}"
            );
        }
    }

    #[test]
    fn the_closing_line_comes_once_and_last() {
        for messages in [&[DEPLOY, DEPLOY][..], &[DEPLOY, "hello"]] {
            let result = run(messages, 0, HIGH);
            assert!(matches!(result, Err(DeviceError::NotClosed)), "{result:?}");
        }
    }

    #[test]
    fn exit_code_and_verdict_must_agree() {
        for (line, exit_code, pin) in [(DEPLOY, 1, HIGH), (REFUSED, 0, LOW)] {
            let result = run(&[line], exit_code, pin);
            assert!(
                matches!(result, Err(DeviceError::ExitDisagrees { .. })),
                "{result:?}"
            );
        }
    }

    #[test]
    fn pin_and_verdict_must_agree() {
        for (line, exit_code, pin) in [(DEPLOY, 0, LOW), (REFUSED, 1, HIGH)] {
            let result = run(&[line], exit_code, pin);
            assert!(
                matches!(result, Err(DeviceError::PinDisagrees { .. })),
                "{result:?}"
            );
        }
    }
}
