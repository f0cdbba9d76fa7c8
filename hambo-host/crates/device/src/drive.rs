//! The robot in the loop: the firmware under QEMU senses, decides and drives, and the host
//! plays the robot at the other end of its serial line.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Instant;

use hambo_core::gate::Verdict;
use hambo_core::link::device::{DeviceMessage, DeviceResult};
use hambo_core::link::drive::{
    Acted, Begin, CandidateResult, DriveMessage, DriveSummary, Numbers, Ready, RobotMessage,
    SensorSample,
};

use super::error::DeviceError;
use super::floor_file::FloorFile;
use super::gpio;
use super::gpio::GpioWrite;
use super::output::DeviceOutput;
use super::qemu::Qemu;
use super::qemu::{collect, collected, loader, require_room, wait};
use super::robot_line::RobotLine;

/// A robot as its controller meets it.
pub trait Robot {
    /// What its sensors say in this period; none ends the drive.
    fn measure(&mut self) -> Option<Measurement>;

    /// Moves it by one period.
    fn act(&mut self, action: &[f32]);
}

/// What sensors say.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The measured states.
    pub state: Vec<f32>,
    /// Whether they are of this period.
    pub is_fresh: bool,
}

/// A period: what was measured and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Period {
    /// What went in.
    pub sample: SensorSample,
    /// What came out.
    pub acted: Acted,
}

/// What a device did with an image and a robot.
#[derive(Clone, Debug)]
pub struct DeviceDrive {
    /// What came of the check.
    pub result: DeviceResult,
    /// What the device said before the first period; none if it did not drive.
    pub ready: Option<Ready>,
    /// All periods, in order; none if the check did not pass.
    pub periods: Vec<Period>,
    /// The last transitions of the checked controller, s, a, s′ one after the other.
    pub kept: Vec<Vec<f32>>,
    /// How it ended; none if it did not drive.
    pub summary: Option<DriveSummary>,
    /// What came of the candidate; none without one, and if the drive ended before its check.
    pub candidate: Option<CandidateResult>,
    /// Whether the output pin was ever high.
    pub driven_high: bool,
    /// Edges of the output pin: one for every period in which loop and monitor went on.
    pub edges: usize,
}

/// All that was said over the line.
#[derive(Default)]
struct Conversation {
    ready: Option<Ready>,
    periods: Vec<Period>,
    kept: Vec<Vec<f32>>,
    summary: Option<DriveSummary>,
    candidate: Option<CandidateResult>,
}

impl Qemu {
    /// Puts an image into the board's flash, and lets the firmware check it and, if the check
    /// passes, drive the robot.
    ///
    /// # Errors
    /// If something is missing, the device faults or takes too long, passes and does not
    /// drive, is cut off in the middle, or if verdict and pin contradict each other. An image
    /// that is rejected is no error: then nothing was driven.
    pub fn drive(
        &self,
        image: &Path,
        begin: Begin,
        robot: &mut dyn Robot,
    ) -> Result<DeviceDrive, DeviceError> {
        let (firmware, table) = self.read_firmware()?;
        let half = firmware.candidate_start - firmware.model_start;
        let room = match &self.candidate {
            Some(candidate) => {
                require_room(candidate, firmware.model_length - half)?;
                half
            }
            None => firmware.model_length,
        };
        require_room(image, room)?;
        let floor = FloorFile::of(self.floor.as_deref(), image)?;
        require_room(floor.path(), firmware.floor.1)?;
        let line = |source| DeviceError::Line { source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(line)?;
        let port = listener.local_addr().map_err(line)?.port();
        let socket = format!("socket,id=robot,host=127.0.0.1,port={port},nodelay=on");
        let mut command = self.command(image, floor.path(), firmware)?;
        command.args(["-chardev", &socket, "-serial", "chardev:robot"]);
        if let Some(candidate) = &self.candidate {
            command.args(["-device", &loader(candidate, firmware.candidate_start)?]);
        }
        let start = |source| self.cannot_run(source);
        let mut child = command.spawn().map_err(start)?;
        let stdout = child.stdout.take().map(collect);
        let stderr = child.stderr.take().map(collect);
        let deadline = Instant::now() + self.timeout;
        let said = match RobotLine::accept(&listener, &mut child, deadline) {
            Ok(Some(mut line)) => talk(&mut line, begin, robot),
            Ok(None) => Ok(Conversation::default()),
            Err(source) => Err(line(source)),
        };
        if said.is_err() {
            // It would wait for a robot that says no more.
            let _ = child.kill();
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let status = wait(&mut child, left).map_err(start)?;
        let stderr = String::from_utf8_lossy(&collected(stderr)).into_owned();
        let stdout = collected(stdout);
        let said = said?;
        let output = DeviceOutput::decode(&table, &stdout)?;
        let last_line = output.last_line();
        let Some(status) = status else {
            let limit = self.timeout;
            return Err(DeviceError::Timeout { limit, last_line });
        };
        let writes: Vec<_> = stderr.lines().filter_map(GpioWrite::parse).collect();
        let driven_high = writes.iter().any(|write| write.enables_outputs());
        let left_high = gpio::left_high(&writes);
        let Some(DeviceMessage::Result(result)) = output.message else {
            return Err(DeviceError::NoResult {
                status,
                last_line,
                driven_high,
                left_high,
                messages: String::new(),
            });
        };
        let edges = gpio::edges(&writes);
        said.finish(result, (driven_high, left_high), edges, last_line)
    }
}

impl Conversation {
    /// The drive, if all that was seen of it agrees.
    fn finish(
        self,
        result: DeviceResult,
        (driven_high, left_high): (bool, bool),
        edges: usize,
        last_line: String,
    ) -> Result<DeviceDrive, DeviceError> {
        let deploys = result.verdict == Ok(Verdict::Deploy);
        // The line is a heartbeat: it rises in the first period.
        let moves = deploys && !self.periods.is_empty();
        if moves != driven_high || left_high {
            return Err(DeviceError::PinDisagrees {
                reported: if deploys { "on and then off" } else { "off" },
                driven: match (driven_high, left_high) {
                    (_, true) => "left high",
                    (true, false) => "driven high and then low",
                    (false, false) => "never driven high",
                },
            });
        }
        if deploys != self.summary.is_some() || deploys != self.ready.is_some() {
            let periods = self.periods.len();
            return Err(DeviceError::DriveCut { periods, last_line });
        }
        Ok(DeviceDrive {
            result,
            ready: self.ready,
            periods: self.periods,
            kept: self.kept,
            summary: self.summary,
            candidate: self.candidate,
            driven_high,
            edges,
        })
    }
}

/// Answers the device until it says no more.
fn talk(
    line: &mut RobotLine,
    begin: Begin,
    robot: &mut dyn Robot,
) -> Result<Conversation, DeviceError> {
    let broken = |source| DeviceError::Line { source };
    let mut said = Conversation::default();
    let mut asked: Option<SensorSample> = None;
    while let Some(message) = line.receive().map_err(broken)? {
        let goes_on = match message {
            DriveMessage::Hello => {
                line.send(&RobotMessage::Begin(begin)).map_err(broken)?;
                false
            }
            DriveMessage::Ready(ready) => {
                said.ready = Some(ready);
                true
            }
            DriveMessage::Acted(acted) => {
                let sample = asked.take().filter(|sample| sample.tick == acted.tick);
                let Some(sample) = sample else {
                    return Err(DeviceError::DriveCut {
                        periods: said.periods.len(),
                        last_line: "(none)".to_owned(),
                    });
                };
                let stopped = acted.mode.is_stopped();
                if !stopped {
                    robot.act(&acted.action);
                }
                said.periods.push(Period { sample, acted });
                !stopped
            }
            DriveMessage::Candidate(result) => {
                said.candidate = Some(result);
                false
            }
            DriveMessage::Kept(numbers) => {
                said.kept.push(numbers.to_vec());
                false
            }
            DriveMessage::Ended(summary) => {
                said.summary = Some(summary);
                false
            }
            // Nothing was asked.
            DriveMessage::Answer(_) => false,
            DriveMessage::Refused(why) => return Err(DeviceError::DriveRefused { why }),
        };
        if goes_on {
            let tick = u32::try_from(said.periods.len()).unwrap_or(u32::MAX);
            asked = next_sample(tick, robot).map_err(broken)?;
            let next = asked
                .clone()
                .map_or(RobotMessage::Stop, RobotMessage::Sample);
            line.send(&next).map_err(broken)?;
        }
    }
    Ok(said)
}

fn next_sample(tick: u32, robot: &mut dyn Robot) -> std::io::Result<Option<SensorSample>> {
    let Some(measured) = robot.measure() else {
        return Ok(None);
    };
    let too_many = |_| std::io::Error::other("a sample has too many states for a message");
    Ok(Some(SensorSample {
        tick,
        state: Numbers::from_slice(&measured.state).map_err(too_many)?,
        is_fresh: measured.is_fresh,
    }))
}
