//! The checked controller drives: a sample comes in over the UART, an action goes
//! out, period by period.
//!
//! Only what has passed its check gets here, with its permit in a heartbeat: the line has
//! an edge for every period in which loop and monitor went on. Every way out leads
//! through the line being dead. A host that plays the robot under
//! emulation sends the samples, so the loop runs in lockstep with it; on a board
//! of its own the samples come at the rate of [`PERIOD_US`].

use hambo_core::{
    Bundle, Heartbeat, LineDead, Pulse,
    drive::{Actuator, Claimed, Drive, DriveError, DriveSettings, OtherAction, Sensor, Stop},
    drive_link::{
        Acted, Begin, Claim, DriveMessage, DriveRefusal, DriveSummary, MAX_NUMBERS, Numbers, Ready,
        RobotMessage, SensorSample, Token, token,
    },
    frame::{self, FrameReader},
};
use hambo_firmware::{
    board::{self, EnablePin, Uart, Watchdog},
    counter::Counter,
    workspace,
};

/// The control period in microseconds. A bundle with another time step is refused.
pub const PERIOD_US: u32 = 50_000;

/// Without an edge for so many milliseconds the watchdog resets the board: less than two periods,
/// and more than one on a watchdog whose clock is half as fast again.
const PULSE_LIMIT: u32 = 90;

/// Polls without a byte after which the robot is gone: seconds.
const POLLS: u32 = 20_000_000;

/// The line to the robot.
pub struct RobotLink {
    uart: Uart,
    reader: FrameReader,
}

impl RobotLink {
    /// Opens the line and asks whether a robot is there. Its answer waits in the line
    /// until the check has passed.
    pub fn open() -> Self {
        let mut link = Self {
            uart: Uart::new(),
            reader: FrameReader::default(),
        };
        // Where no robot is, nobody needs the question.
        let _ = link.send(&DriveMessage::Hello);
        link
    }

    /// The robot's answer. `None` if nothing has come in.
    pub fn begin(&mut self) -> Option<Begin> {
        if !self.uart.has_byte() {
            return None;
        }
        // Bytes may have been lost during the check; the robot answers again.
        self.send(&DriveMessage::Hello)?;
        loop {
            if let RobotMessage::Begin(begin) = self.receive()? {
                return Some(begin);
            }
        }
    }

    /// The next whole message. `None` if the line is silent for too long.
    fn receive(&mut self) -> Option<RobotMessage> {
        loop {
            let byte = self.uart.receive(POLLS)?;
            if let Some(message) = self.reader.push(byte) {
                return Some(message);
            }
        }
    }

    /// `None` if the line is stuck, or the message too long.
    fn send(&mut self, message: &DriveMessage) -> Option<()> {
        self.uart.send(&frame::encode(message)?).ok()
    }
}

/// The sample of this period.
struct Sample(SensorSample);

impl Sensor for Sample {
    type Error = DriveRefusal;

    fn read(&mut self, state: &mut [f32]) -> Result<bool, DriveRefusal> {
        if self.0.state.len() != state.len() {
            return Err(DriveRefusal::Settings);
        }
        if self.0.is_fresh {
            for (to, from) in state.iter_mut().zip(&self.0.state) {
                *to = *from;
            }
        }
        Ok(self.0.is_fresh)
    }
}

/// Who applies the action: the robot, by the answer that is sent after the period's work, or
/// a loop that lives elsewhere and has said what it applies.
enum Reply {
    Robot,
    Elsewhere(Numbers),
}

impl Actuator for Reply {
    type Error = OtherAction;

    fn apply(&mut self, action: &[f32]) -> Result<(), OtherAction> {
        match self {
            Self::Robot => Ok(()),
            Self::Elsewhere(claimed) => Claimed(claimed).apply(action),
        }
    }
}

/// Drives until the robot says stop, the drive stops itself, or the robot is gone.
/// Whatever happens, the line is dead afterwards. Whether the drive came to its end.
#[inline(never)]
pub fn run(
    begin: Begin,
    line: &mut Heartbeat<EnablePin>,
    link: &mut RobotLink,
    rows: &mut [[f32; workspace::LANES]],
    counter: &Counter,
    watchdog: &mut Watchdog,
) -> bool {
    // Borrowed where it was made: a copy would cost kilobytes of stack.
    let driven = match &Bundle::parse_prefix(board::model_region()) {
        Ok(bundle) => drive(begin, bundle, line, rows, link, counter, watchdog),
        Err(_) => Err(DriveRefusal::Image),
    };
    line.end(LineDead::Ended);
    match driven {
        Ok(Some(summary)) => link.send(&DriveMessage::Ended(summary)).is_some(),
        Ok(None) => false,
        Err(refusal) => {
            // Whoever does not hear it sees that nothing moves.
            let _ = link.send(&DriveMessage::Refused(refusal));
            false
        }
    }
}

/// Drives with the very bytes that were checked. The summary of a drive, or none if the
/// robot is gone.
#[inline(never)]
fn drive(
    begin: Begin,
    bundle: &Bundle<'_>,
    line: &mut Heartbeat<EnablePin>,
    rows: &mut [[f32; workspace::LANES]],
    link: &mut RobotLink,
    counter: &Counter,
    watchdog: &mut Watchdog,
) -> Result<Option<DriveSummary>, DriveRefusal> {
    let (image, fallback) = (bundle.image(), bundle.fallback());
    if line.image_hash() != image.hash() {
        return Err(DriveRefusal::Image);
    }
    if bundle.period() != Some(PERIOD_US) {
        return Err(DriveRefusal::Period);
    }
    let task = image.task();
    let (states, actions) = (task.state_dimension(), task.action_limits.low.len());
    if states.saturating_mul(2).saturating_add(actions) > MAX_NUMBERS {
        return Err(DriveRefusal::TooLarge);
    }
    let settings = DriveSettings {
        monitor: bundle.monitor().ok_or(DriveRefusal::Settings)?,
        measured: usize::from(begin.measured),
        seed: begin.seed,
    };
    let (rows, _) = rows.as_flattened_mut().as_chunks_mut();
    let mut drive = Drive::new(image, fallback, settings, rows).map_err(|error| match error {
        DriveError::Capacity(_) => DriveRefusal::Capacity,
        DriveError::Fallback => DriveRefusal::Fallback,
        DriveError::Parameter(_) | DriveError::NotMeasured(_) => DriveRefusal::Settings,
    })?;
    let hash = image.hash();
    let ready = Ready {
        image_hash: *hash,
        token: begin
            .elsewhere
            .map(|nonce| token(hash, &nonce, counter.elapsed())),
        states: states as u16,
        actions: actions as u16,
        has_fallback: fallback.is_some(),
        period_us: PERIOD_US,
    };
    if link.send(&DriveMessage::Ready(ready)).is_none() {
        return Ok(None);
    }
    watchdog.limit(PULSE_LIMIT);
    let Some(longest) = follow(&mut drive, ready.token, line, link, counter, watchdog) else {
        return Ok(None);
    };
    line.end(LineDead::Ended);
    for transition in drive.last_transitions() {
        let Ok(numbers) = Numbers::from_slice(transition) else {
            return Ok(None);
        };
        if link.send(&DriveMessage::Kept(numbers)).is_none() {
            return Ok(None);
        }
    }
    Ok(Some(DriveSummary::of(&drive, longest)))
}

/// Answers samples until the drive has stopped; the instructions of the longest
/// period. `None` if the robot is gone.
fn follow(
    drive: &mut Drive<'_>,
    token: Option<Token>,
    line: &mut Heartbeat<EnablePin>,
    link: &mut RobotLink,
    counter: &Counter,
    watchdog: &mut Watchdog,
) -> Option<u32> {
    let mut longest = 0;
    while !drive.mode().is_stopped() {
        let (mut sample, mut reply) = match link.receive()? {
            RobotMessage::Sample(sample) if token.is_none() && sample.tick == drive.ticks() => {
                (Sample(sample), Reply::Robot)
            }
            RobotMessage::Claim(claim)
                if token == Some(claim.token) && claim.tick == drive.ticks() =>
            {
                claimed(claim, drive.measured())?
            }
            // The answer to the second question.
            RobotMessage::Begin(_) if drive.ticks() == 0 => continue,
            RobotMessage::Stop => {
                drive.stop(Stop::Asked);
                break;
            }
            // A sample that is missing or comes twice: the robot has lost count.
            _ => {
                drive.stop(Stop::Sensor);
                break;
            }
        };
        let begin = counter.elapsed();
        let tick = drive.tick(&mut sample, &mut reply);
        let stopped = tick.mode.is_stopped();
        let instructions = u32::try_from(counter.elapsed() - begin).unwrap_or(u32::MAX);
        longest = longest.max(instructions);
        let acted = Acted::of(&tick, instructions)?;
        let pulse = Pulse {
            ticks: drive.ticks(),
            observed: drive.counts().steps,
        };
        if stopped {
            line.end(LineDead::Ended);
        } else if let Ok(proof) = line.beat(pulse) {
            watchdog.feed(proof);
        } else {
            // Nothing moves without the line.
            drive.stop(Stop::Actuator);
            return None;
        }
        link.send(&DriveMessage::Acted(acted))?;
    }
    Some(longest)
}

/// What a loop elsewhere has measured, and what it applies. `None` if there are too few numbers.
fn claimed(claim: Claim, measured: usize) -> Option<(Sample, Reply)> {
    let (state, action) = claim.numbers.split_at_checked(measured)?;
    let sample = SensorSample {
        tick: claim.tick,
        state: Numbers::from_slice(state).ok()?,
        is_fresh: claim.is_fresh,
    };
    Some((
        Sample(sample),
        Reply::Elsewhere(Numbers::from_slice(action).ok()?),
    ))
}
