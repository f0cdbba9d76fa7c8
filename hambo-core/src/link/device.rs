//! What a device tells its host, whatever carries it: semihosting, a UART, a debug probe.
//!
//! A message travels in a [`frame`]. Frames of the defmt log end with a zero
//! byte too: both can share a stream. Whatever is cut, damaged or contradicts
//! itself is an error and never reads as deploy.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::frame::{self, Frame};
use super::handover::Doubt;
use crate::check::Outcome;
use crate::drive::monitor::{MonitorCounts, Trip};
use crate::floor::Shortfall;
use crate::gate::{Reasons, Verdict};
use crate::image::{ImageError, Part};
use crate::numeric::CapacityError;

/// The largest number of models that are counted in one run.
const MAX_COSTS: usize = 8;

/// All that a device may say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DeviceMessage {
    /// What came of an image: the last message of a run of the gate.
    Result(DeviceResult),
    /// What each model in flash costs: the last message of `hambo-budget`.
    Costs(ModelCosts),
    /// What the monitor saw: the last message of `hambo-monitor`.
    Watched(WatchedDrive),
}

/// A cost for each model.
pub type ModelCosts = Vec<ModelCost, MAX_COSTS>;

/// What came of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceResult {
    /// The decision.
    pub verdict: Decision,
    /// The lower bound of the return; NaN without a check.
    pub bound: f32,
    /// What the bound had to reach.
    pub threshold: Option<f32>,
    /// The estimate without an adversary; NaN without a check.
    pub neutral: f32,
    /// One number for all estimates, see [`Outcome::digest`].
    pub digest: u32,
    /// Why the verdict is not `deploy`.
    pub reasons: Reasons,
    /// Whether the outputs are on.
    pub output_enabled: bool,
    /// What the check took.
    pub usage: Usage,
}

/// What the device decided: the verdict of its check, or why none ran.
pub type Decision = Result<Verdict, Refusal>;

pub(super) fn decision_name(decision: Decision) -> &'static str {
    decision.map_or("refused", Verdict::name)
}

/// Why no check ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Refusal {
    /// The flash holds no sound bundle, or no sound floor.
    Image(ImageError),
    /// The bundle asks for less than its robot does.
    Floor(Shortfall),
    /// The fallback controller does not pass.
    Fallback,
    /// The image needs more memory than this firmware has.
    Capacity(CapacityError),
    /// A check ran before and holds the memory.
    WorkspaceTaken,
    /// The check passed, and the image in flash is no longer the one that was checked, or
    /// the decision could not be repeated.
    Changed,
    /// Nobody whom this robot trusts has signed the bundle or the floor.
    Unverified(Part, Doubt),
}

/// What a check took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// From the start of the check to its verdict.
    pub work: Work,
    /// The most stack ever in use, in bytes.
    pub stack_high_water: u32,
    /// The check's workspace in bytes.
    pub workspace_bytes: u32,
    /// The longest slice of the check, in the unit of `work`: an abort takes effect within it.
    pub longest_slice: u32,
    /// Why the board started, and how it is protected.
    pub board: BoardStatus,
}

/// What a board says of itself. Shown, not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardStatus {
    /// Why it started.
    pub reset: ResetCause,
    /// The level of the brown-out reset: 0 is off, 3 the highest voltage. None if the board
    /// does not tell.
    pub brown_out_level: Option<u8>,
    /// Whether a debugger is kept from reading flash. None if the board does not tell.
    pub read_out_protected: Option<bool>,
}

/// Why a board started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResetCause {
    /// Power came.
    PowerOn,
    /// Power was too low for a while.
    BrownOut,
    /// The reset pin, or a debugger.
    Pin,
    /// The program asked for it.
    Software,
    /// A watchdog was not fed.
    Watchdog,
    /// The board does not tell, as an emulated one.
    Unknown,
}

impl ResetCause {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PowerOn => "power-on",
            Self::BrownOut => "brown-out",
            Self::Pin => "reset pin",
            Self::Software => "software",
            Self::Watchdog => "watchdog",
            Self::Unknown => "unknown",
        }
    }
}

/// An amount of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Instructions under emulation; the same in every run.
    Instructions(u64),
    /// Processor cycles on a board.
    Cycles(u64),
}

/// Instructions of all counted calls of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCost {
    /// Of the forward passes.
    pub forward: u64,
    /// Of the adjoints, each back through a forward pass.
    pub adjoint: u64,
    /// How many forward passes, and how many adjoints.
    pub calls: u32,
}

/// What the monitor saw of the transitions in flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedDrive {
    /// One number for all observations, see
    /// [`Observation::digest`](crate::drive::monitor::Observation::digest).
    pub digest: u32,
    /// How many transitions were what.
    pub counts: MonitorCounts,
    /// Why it tripped, if it did.
    pub trip: Option<Trip>,
    /// Instructions of all transitions together.
    pub instructions: u64,
    /// Instructions of the longest.
    pub longest: u64,
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// Not a message, or not all of it, or not as it was sent.
    Damaged,
    /// Outputs on without a passed check, or off after one, or a passed check
    /// without a finite bound.
    Contradiction,
}

impl DeviceMessage {
    /// The message between two zero bytes. `None` if it is longer than
    /// [`MAX_FRAME`](frame::MAX_FRAME).
    pub fn to_frame(&self) -> Option<Frame> {
        frame::encode(self)
    }

    /// Reads what lies between two zero bytes, and decodes it in place.
    ///
    /// # Errors
    /// If it is not a whole message as it was sent, or if the message
    /// contradicts itself.
    pub fn from_frame(frame: &mut [u8]) -> Result<Self, FrameError> {
        let message = frame::decode(frame).ok_or(FrameError::Damaged)?;
        match &message {
            Self::Result(result) if !result.is_consistent() => Err(FrameError::Contradiction),
            _ => Ok(message),
        }
    }
}

impl DeviceResult {
    /// The result of a check, with the outputs still off.
    pub fn checked<S>(outcome: &Outcome<S>, usage: Usage) -> Self {
        Self {
            verdict: Ok(outcome.verdict),
            bound: outcome.bound,
            threshold: outcome.threshold,
            neutral: outcome.neutral,
            digest: outcome.digest(),
            reasons: outcome.reasons.clone(),
            output_enabled: false,
            usage,
        }
    }

    /// The result when no check could run: the outputs are off.
    pub fn refused(refusal: Refusal, usage: Usage) -> Self {
        Self {
            verdict: Err(refusal),
            bound: f32::NAN,
            threshold: None,
            neutral: f32::NAN,
            digest: 0,
            reasons: Reasons::new(),
            output_enabled: false,
            usage,
        }
    }

    /// The decision in a word.
    pub fn decision(&self) -> &'static str {
        decision_name(self.verdict)
    }

    fn is_consistent(&self) -> bool {
        let deploy = self.verdict == Ok(Verdict::Deploy);
        deploy == self.output_enabled && (!deploy || self.bound.is_finite())
    }
}

impl Work {
    /// The number alone.
    pub fn count(self) -> u64 {
        match self {
            Self::Instructions(count) | Self::Cycles(count) => count,
        }
    }

    /// What is counted.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Instructions(_) => "instructions",
            Self::Cycles(_) => "cycles",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{MAX_REASONS, Reason};
    use crate::image::Problem;
    use crate::model::Calibration;

    fn deploy() -> DeviceResult {
        DeviceResult {
            verdict: Ok(Verdict::Deploy),
            bound: 1.5,
            threshold: Some(-0.0),
            neutral: 2.0,
            digest: 10,
            output_enabled: true,
            ..refused()
        }
    }

    fn refused() -> DeviceResult {
        let error = Part::Model.error(Problem::Magic);
        let usage = Usage {
            work: Work::Instructions(u64::MAX),
            stack_high_water: 96,
            workspace_bytes: 65_536,
            longest_slice: u32::MAX,
            board: BoardStatus {
                reset: ResetCause::Unknown,
                brown_out_level: Some(u8::MAX),
                read_out_protected: Some(true),
            },
        };
        DeviceResult::refused(Refusal::Image(error), usage)
    }

    fn frame(message: &DeviceMessage) -> std::vec::Vec<u8> {
        let frame = message.to_frame().unwrap();
        let (Some(0), Some(0)) = (frame.first(), frame.last()) else {
            panic!("no delimiters: {frame:?}");
        };
        let inside = &frame[1..frame.len() - 1];
        assert!(!inside.contains(&0), "{inside:?}");
        inside.to_vec()
    }

    #[test]
    fn messages_come_back_bit_for_bit() {
        let sent = DeviceMessage::Result(deploy());
        assert_eq!(DeviceMessage::from_frame(&mut frame(&sent)), Ok(sent));

        let sent = DeviceMessage::Result(refused());
        let Ok(DeviceMessage::Result(result)) = DeviceMessage::from_frame(&mut frame(&sent)) else {
            panic!("not a result");
        };
        assert_eq!(result.bound.to_bits(), f32::NAN.to_bits());
        assert_eq!(result.verdict, refused().verdict);
    }

    #[test]
    fn the_longest_messages_fit() {
        let mut longest = deploy();
        longest.digest = u32::MAX;
        while longest.reasons.len() < MAX_REASONS {
            let reason = Reason::NotCalibrated(Calibration::Blind(u16::MAX));
            longest.reasons.push(reason).unwrap();
        }
        longest.usage.stack_high_water = u32::MAX;
        longest.usage.workspace_bytes = u32::MAX;
        let cost = ModelCost {
            forward: u64::MAX,
            adjoint: u64::MAX,
            calls: u32::MAX,
        };
        let watched = WatchedDrive {
            digest: u32::MAX,
            counts: MonitorCounts {
                steps: u32::MAX,
                surprises: u32::MAX,
                stale: u32::MAX,
                far: u32::MAX,
                outside: u32::MAX,
            },
            trip: Some(Trip::Far(u8::MAX)),
            instructions: u64::MAX,
            longest: u64::MAX,
        };
        for sent in [
            DeviceMessage::Watched(watched),
            DeviceMessage::Result(longest),
            DeviceMessage::Costs(Vec::from_array([cost; MAX_COSTS])),
        ] {
            assert_eq!(DeviceMessage::from_frame(&mut frame(&sent)), Ok(sent));
        }
    }

    #[test]
    fn a_cut_or_damaged_frame_is_no_message() {
        let good = frame(&DeviceMessage::Result(deploy()));
        let damaged = Err(FrameError::Damaged);
        for length in 0..good.len() {
            let mut cut = good[..length].to_vec();
            assert_eq!(DeviceMessage::from_frame(&mut cut), damaged, "{length}");
            let mut late = good[length + 1..].to_vec();
            assert_eq!(DeviceMessage::from_frame(&mut late), damaged, "{length}");
            for bit in 0..8 {
                let mut flipped = good.clone();
                flipped[length] ^= 1 << bit;
                assert_eq!(DeviceMessage::from_frame(&mut flipped), damaged, "{length}");
            }
        }
        let mut longer = [good.as_slice(), &[1]].concat();
        assert_eq!(DeviceMessage::from_frame(&mut longer), damaged);
    }

    #[test]
    fn outputs_and_verdict_must_agree() {
        let contradictions: [fn(&mut DeviceResult); 4] = [
            |result| result.output_enabled = false,
            |result| result.verdict = Ok(Verdict::Reject),
            |result| result.bound = f32::NAN,
            |result| result.bound = f32::INFINITY,
        ];
        for contradict in contradictions {
            let mut result = deploy();
            contradict(&mut result);
            let mut frame = frame(&DeviceMessage::Result(result));
            let read = DeviceMessage::from_frame(&mut frame);
            assert_eq!(read, Err(FrameError::Contradiction));
        }
    }
}
