//! What a device that drives and a host that plays the robot tell each other,
//! in [frames](crate::link::frame) over a UART.
//!
//! | device | host |
//! |---|---|
//! | [`DriveMessage::Hello`], before the check and after one that passed | [`RobotMessage::Begin`], to each |
//! | [`DriveMessage::Ready`] | [`RobotMessage::Sample`], one a period |
//! | [`DriveMessage::Acted`] to each sample, once after [`DriveMessage::Candidate`] | [`RobotMessage::Stop`] at last |
//! | [`DriveMessage::Kept`] for each transition kept, then [`DriveMessage::Ended`] | |
//!
//! A device that stops by itself sends `Kept` and `Ended` after its last answer. One
//! whose check did not pass says nothing after its first message.
//!
//! At any moment the host may ask for something else ([`RobotMessage::Ask`]), and gets a
//! [`DriveMessage::Answer`]: that is how controllers come over the wire ([`crate::link::update`]).

use heapless::Vec;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::device::{Decision, Refusal, decision_name};
use super::update::{Answer, Ask};
use crate::check::Outcome;
use crate::drive::monitor::{MonitorCounts, Observation, Trip};
use crate::drive::{Drive, Mode, Tick};
use crate::image::Image;

/// The most numbers that one message carries: a transition s, a, s′.
pub const MAX_NUMBERS: usize = 48;

/// Numbers of a message.
pub type Numbers = Vec<f32, MAX_NUMBERS>;

/// What the host says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RobotMessage {
    /// A robot is there.
    Begin(Begin),
    /// What its sensors measure in this period.
    Sample(SensorSample),
    /// A measurement from a loop that lives elsewhere, with the action that it has computed.
    Claim(Claim),
    /// The end of the drive.
    Stop,
    /// Something about bundles.
    Ask(Ask),
}

/// What a robot says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// How many states it measures: the first ones of the task.
    pub measured: u16,
    /// The seed of the chance in a controller that has some.
    pub seed: u64,
    /// A number that was never used before, if the control loop lives elsewhere and the
    /// device only guards its line.
    pub elsewhere: Option<Nonce>,
}

/// A number that is used once.
pub type Nonce = [u8; 16];

/// What a loop that lives elsewhere must present in every period.
pub type Token = [u8; 16];

/// A period of a loop that lives elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The token of [`Ready`].
    pub token: Token,
    /// The period, from 0.
    pub tick: u32,
    /// The measured states, then the action that the loop applies.
    pub numbers: Numbers,
    /// Whether the states are of this period.
    pub is_fresh: bool,
}

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensorSample {
    /// The period, from 0.
    pub tick: u32,
    /// The measured states.
    pub state: Numbers,
    /// Whether they are of this period.
    pub is_fresh: bool,
}

/// What the device says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DriveMessage {
    /// Is a robot there?
    Hello,
    /// The outputs are on, and the first sample is awaited.
    Ready(Ready),
    /// What came of a sample.
    Acted(Acted),
    /// What came of another bundle in flash, which was checked meanwhile.
    Candidate(CandidateResult),
    /// One of the last transitions, s, a, s′ one after the other; the oldest first.
    Kept(Numbers),
    /// The outputs are off, and nothing follows.
    Ended(DriveSummary),
    /// The outputs are off: nothing drives.
    Refused(DriveRefusal),
    /// To something that was asked about bundles.
    Answer(Answer),
}

/// A device that is ready to drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// ds of the image's task.
    pub states: u16,
    /// da.
    pub actions: u16,
    /// Whether a fallback passed its own check.
    pub has_fallback: bool,
    /// The control period in microseconds.
    pub period_us: u32,
    /// The hash of the image that was checked.
    pub image_hash: [u8; 32],
    /// For a loop that lives elsewhere.
    pub token: Option<Token>,
}

/// A token for the loop that asked with a nonce, on a device that has run for `ticks` ticks.
/// It is as fresh as the nonce, and no secret: it keeps a loop that was started for another bundle
/// or before a reset from going on, not one that listens to the line.
pub fn token(image_hash: &[u8; 32], nonce: &Nonce, ticks: u64) -> Token {
    let mut hash = Sha256::new();
    hash.update(image_hash);
    hash.update(nonce);
    hash.update(ticks.to_le_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    let mut token = [0; 16];
    for (to, from) in token.iter_mut().zip(hash) {
        *to = from;
    }
    token
}

/// Why a device whose check passed does not drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum DriveRefusal {
    /// The bytes that were checked cannot be read again.
    Image,
    /// The fallback's bytes are wrong.
    Fallback,
    /// The drive needs more memory than this firmware has.
    Capacity,
    /// A state that the robot does not measure is not known, or a setting is out of
    /// its range.
    Settings,
    /// A transition does not fit a message.
    TooLarge,
    /// The bundle's time step is not the period of this board's loop, or it states none.
    Period,
    /// The board's watchdog does not run.
    Watchdog,
}

/// What came of a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Acted {
    /// The sample's period.
    pub tick: u32,
    /// Who drives in it.
    pub mode: Mode,
    /// What the actuators get; empty if nobody drives.
    pub action: Numbers,
    /// What the monitor says of the transition that led here.
    pub observation: Option<Observation>,
    /// Instructions from the sample to the action, under emulation.
    pub instructions: u32,
}

/// What came of the second bundle in flash, which is checked while the first one's
/// controller drives. It opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateResult {
    /// The decision.
    pub verdict: Decision,
    /// The lower bound of the return; NaN without a check.
    pub bound: f32,
    /// One number for all estimates, see [`Outcome::digest`].
    pub digest: u32,
    /// The hash of the image; none if it was refused.
    pub image_hash: Option<[u8; 32]>,
    /// Periods of the drive until the check was over.
    pub period: u32,
}

/// A drive that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveSummary {
    /// Who drove last.
    pub mode: Mode,
    /// How many periods there were.
    pub ticks: u32,
    /// See [`Drive::digest`].
    pub digest: u32,
    /// How many transitions were what.
    pub counts: MonitorCounts,
    /// Why the monitor tripped, if it did.
    pub trip: Option<Trip>,
    /// Instructions of the longest period, under emulation.
    pub longest: u32,
    /// The most stack ever in use on a device, in bytes.
    pub stack_high_water: u32,
}

impl CandidateResult {
    /// The decision in a word.
    pub fn decision(&self) -> &'static str {
        decision_name(self.verdict)
    }

    /// Of a check.
    pub fn checked<S>(outcome: &Outcome<S>, image: &Image<'_>) -> Self {
        Self {
            verdict: Ok(outcome.verdict),
            bound: outcome.bound,
            digest: outcome.digest(),
            image_hash: Some(*image.hash()),
            period: 0,
        }
    }

    /// Of a bundle that is refused.
    pub fn refused(refusal: Refusal) -> Self {
        Self {
            verdict: Err(refusal),
            bound: f32::NAN,
            digest: 0,
            image_hash: None,
            period: 0,
        }
    }
}

impl Acted {
    /// What a period came to, for the sample of that number. `None` if the action
    /// does not fit a message.
    pub fn of(tick: &Tick<'_>, instructions: u32) -> Option<Self> {
        Some(Self {
            tick: tick.number,
            mode: tick.mode,
            action: Numbers::from_slice(tick.action.unwrap_or_default()).ok()?,
            observation: tick.observation,
            instructions,
        })
    }
}

impl DriveSummary {
    /// What a drive came to.
    pub fn of(drive: &Drive<'_>, longest: u32) -> Self {
        Self {
            mode: drive.mode(),
            ticks: drive.ticks(),
            digest: drive.digest(),
            counts: drive.counts(),
            trip: drive.trip(),
            longest,
            stack_high_water: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Stop;
    use crate::link::frame::{FrameReader, encode};
    use crate::numeric::CapacityError;

    #[test]
    fn the_longest_messages_fit_a_frame() {
        let numbers = Numbers::from_slice(&[f32::from_bits(0xffff_fff7); MAX_NUMBERS]).unwrap();
        let observation = Observation {
            residual: f32::NAN,
            state: 255,
            surprise: true,
            outside: true,
            trip: Some(Trip::Far(255)),
        };
        let acted = DriveMessage::Acted(Acted {
            tick: u32::MAX,
            mode: Mode::Stopped(Stop::Trip(Trip::Far(255))),
            action: numbers.clone(),
            observation: Some(observation),
            instructions: u32::MAX,
        });
        let counts = MonitorCounts {
            steps: u32::MAX,
            surprises: u32::MAX,
            stale: u32::MAX,
            far: u32::MAX,
            outside: u32::MAX,
        };
        let ended = DriveMessage::Ended(DriveSummary {
            mode: Mode::Fallback(Trip::Surprises),
            ticks: u32::MAX,
            digest: u32::MAX,
            counts,
            trip: Some(Trip::OutsideSupport),
            longest: u32::MAX,
            stack_high_water: u32::MAX,
        });
        let capacity = CapacityError {
            needed: usize::MAX,
            available: usize::MAX,
        };
        let candidate = DriveMessage::Candidate(CandidateResult {
            image_hash: Some([0xff; 32]),
            digest: u32::MAX,
            period: u32::MAX,
            ..CandidateResult::refused(Refusal::Capacity(capacity))
        });
        let kept = DriveMessage::Kept(numbers.clone());
        for message in [acted, kept, ended, candidate] {
            let frame = encode(&message).unwrap();
            let mut reader = FrameReader::default();
            let found = frame.iter().find_map(|byte| reader.push(*byte));
            // NaN is not itself, its bits are.
            let found: DriveMessage = found.unwrap();
            assert_eq!(format!("{found:?}"), format!("{message:?}"));
        }
        let sample = RobotMessage::Sample(SensorSample {
            tick: u32::MAX,
            state: numbers,
            is_fresh: true,
        });
        assert!(encode(&sample).is_some());
        let claim = RobotMessage::Claim(Claim {
            token: [0xff; 16],
            tick: u32::MAX,
            numbers: Numbers::from_slice(&[f32::NAN; MAX_NUMBERS]).unwrap(),
            is_fresh: true,
        });
        assert!(encode(&claim).is_some());
    }

    #[test]
    fn a_token_is_of_one_image_one_nonce_and_one_start() {
        let own = token(&[1; 32], &[2; 16], 3);
        assert_eq!(own, token(&[1; 32], &[2; 16], 3));
        for other in [
            token(&[0; 32], &[2; 16], 3),
            token(&[1; 32], &[0; 16], 3),
            token(&[1; 32], &[2; 16], 4),
        ] {
            assert_ne!(own, other);
        }
    }

    #[test]
    fn one_side_does_not_read_the_other_sides_numbers_as_its_own() {
        let begin = RobotMessage::Begin(Begin {
            measured: 3,
            seed: u64::MAX,
            elsewhere: Some([0xff; 16]),
        });
        let mut reader = FrameReader::default();
        let frame = encode(&begin).unwrap();
        let found: Option<RobotMessage> = frame.iter().find_map(|byte| reader.push(*byte));
        assert_eq!(found, Some(begin));
    }
}
