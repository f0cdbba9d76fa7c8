//! One period of the control loop for every sample that comes in. It runs in an interrupt below
//! that of the serial line ([`hambo_firmware::interrupt`]): what comes in while a reply is sent,
//! a stop above all, waits in the ring and is next.

use crate::robot_link::{POLLS, RobotLink};
use core::cell::Cell;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use critical_section::Mutex;
use hambo_core::drive::{Actuator, Claimed, Drive, OtherAction, Sensor, Stop};
use hambo_core::link::drive::{
    Acted, CandidateResult, Claim, DriveMessage, DriveRefusal, Numbers, RobotMessage, SensorSample,
    Token,
};
use hambo_core::link::update::{Answer, Objection, Reply};
use hambo_core::{Heartbeat, LineDead};
use hambo_firmware::{
    board::{EnablePin, Watchdog},
    counter::Counter,
};

/// The state of a drive.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum DriveState {
    /// The next sample is awaited.
    Going = 1,
    /// The drive has stopped.
    Stopped = 2,
    /// The robot is gone.
    Gone = 3,
}

/// What loop and program tell each other.
pub struct Shared {
    state: AtomicU8,
    periods: AtomicU32,
    candidate: Mutex<Cell<Option<CandidateResult>>>,
}

impl Shared {
    /// A drive that begins.
    pub fn new() -> Self {
        Self {
            state: AtomicU8::new(DriveState::Going as u8),
            periods: AtomicU32::new(0),
            candidate: Mutex::new(Cell::new(None)),
        }
    }

    /// Whether samples are still answered.
    pub fn is_going(&self) -> bool {
        self.state.load(Ordering::Relaxed) == DriveState::Going as u8
    }

    /// How many periods there were.
    pub fn periods(&self) -> u32 {
        self.periods.load(Ordering::Relaxed)
    }

    /// The robot hears of it in the next period.
    pub fn publish(&self, result: CandidateResult) {
        critical_section::with(|section| self.candidate.borrow(section).set(Some(result)));
    }

    /// Waits until the drive is over. A robot that says nothing for too long is gone. Whether
    /// the drive came to its own end.
    pub fn wait(&self) -> bool {
        let (mut periods, mut polls) = (self.periods(), 0_u32);
        while self.is_going() {
            let now = self.periods();
            polls = if now == periods {
                polls.wrapping_add(1)
            } else {
                0
            };
            periods = now;
            if polls > POLLS {
                self.end(DriveState::Gone);
            }
        }
        self.state.load(Ordering::Relaxed) == DriveState::Stopped as u8
    }

    fn end(&self, state: DriveState) {
        self.state.store(state as u8, Ordering::Relaxed);
    }

    fn take_candidate(&self) -> Option<CandidateResult> {
        critical_section::with(|section| self.candidate.borrow(section).take())
    }
}

/// Answers samples until the drive has stopped.
pub struct ControlLoop<'l, 'd> {
    pub drive: &'l mut Drive<'d>,
    /// What a loop that lives elsewhere must present.
    pub token: Option<Token>,
    pub line: &'l mut Heartbeat<EnablePin>,
    pub link: &'l mut RobotLink,
    pub watchdog: &'l mut Watchdog,
    pub counter: &'l Counter,
    pub shared: &'l Shared,
    /// Instructions of the longest period.
    pub longest: u32,
}

impl ControlLoop<'_, '_> {
    /// Takes the messages that wait.
    pub fn receive(&mut self) {
        while let Some(message) = self.link.take() {
            // Nobody answers after the end.
            if self.shared.is_going() {
                let goes_on = self.on_message(message);
                if goes_on.is_none() {
                    self.line.end(LineDead::Ended);
                    self.shared.end(DriveState::Gone);
                } else if self.drive.mode().is_stopped() {
                    self.line.end(LineDead::Ended);
                    self.shared.end(DriveState::Stopped);
                }
            }
        }
    }

    /// One message; a sample is a period. `None` if the line to the robot or that of the outputs
    /// is dead.
    #[inline(never)]
    fn on_message(&mut self, message: RobotMessage) -> Option<()> {
        let tick = self.drive.ticks();
        let (mut sample, mut applied) = match message {
            RobotMessage::Sample(sample) if self.token.is_none() && sample.tick == tick => {
                (Sample(sample), Applied::Robot)
            }
            RobotMessage::Claim(claim) if self.token == Some(claim.token) && claim.tick == tick => {
                claimed(claim, self.drive.measured())?
            }
            // The answer to the second question.
            RobotMessage::Begin(_) if tick == 0 => return Some(()),
            RobotMessage::Stop => {
                self.drive.stop(Stop::Asked);
                return Some(());
            }
            RobotMessage::Ask(ask) => {
                let reply = Reply::Refused(Objection::Driving);
                let number = ask.number;
                self.link
                    .send(&DriveMessage::Answer(Answer { number, reply }))?;
                return Some(());
            }
            // A sample that is missing or comes twice: the robot has lost count.
            _ => {
                self.drive.stop(Stop::Sensor);
                return Some(());
            }
        };
        // A sample that comes too early waits. A clock that stands still ends in a reset.
        while self.line.wait(self.counter.ticks()) > 0 {}
        let begin = self.counter.elapsed();
        let tick = self.drive.tick(&mut sample, &mut applied);
        let stopped = tick.mode.is_stopped();
        let instructions = u32::try_from(self.counter.elapsed() - begin).unwrap_or(u32::MAX);
        let acted = Acted::of(&tick, instructions)?;
        self.longest = self.longest.max(instructions);
        if stopped {
            self.line.end(LineDead::Ended);
        } else {
            let pulse = self.drive.pulse();
            let now = self.counter.ticks();
            let Some(Ok(proof)) = pulse.map(|pulse| self.line.beat(pulse, now)) else {
                // Nothing moves without the line.
                self.drive.stop(Stop::Actuator);
                return None;
            };
            self.watchdog.feed(proof);
        }
        self.shared
            .periods
            .store(self.drive.ticks(), Ordering::Relaxed);
        if let Some(result) = self.shared.take_candidate() {
            self.link.send(&DriveMessage::Candidate(result))?;
        }
        self.link.send(&DriveMessage::Acted(acted))?;
        // The action is on its way; the line wants this before the next edge.
        self.drive.reread();
        Some(())
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
enum Applied {
    Robot,
    Elsewhere(Numbers),
}

impl Actuator for Applied {
    type Error = OtherAction;

    fn apply(&mut self, action: &[f32]) -> Result<(), OtherAction> {
        match self {
            Self::Robot => Ok(()),
            Self::Elsewhere(claimed) => Claimed(claimed).apply(action),
        }
    }
}

/// What a loop elsewhere has measured, and what it applies. `None` if there are too few numbers.
fn claimed(claim: Claim, measured: usize) -> Option<(Sample, Applied)> {
    let (state, action) = claim.numbers.split_at_checked(measured)?;
    let sample = SensorSample {
        tick: claim.tick,
        state: Numbers::from_slice(state).ok()?,
        is_fresh: claim.is_fresh,
    };
    Some((
        Sample(sample),
        Applied::Elsewhere(Numbers::from_slice(action).ok()?),
    ))
}
