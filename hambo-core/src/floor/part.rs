//! The floor part: numbers and hashes in the manifest, limits of the noise and transitions in the
//! arena.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use crate::image::container::Container;
use crate::image::{ImageError, MonitorSettings, Name, Part, Problem};
use crate::task::{Allocation, DistributionFree, MAX_CONSTRAINTS};

/// The manifest of a floor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorManifest {
    /// The board.
    pub board: Name,
    /// The robot.
    pub robot: Name,
    /// The least counter of a bundle.
    pub counter: u32,
    /// The time between two actions in microseconds, where the robot has one.
    pub period: Option<u32>,
    /// ds.
    pub states: u16,
    /// da.
    pub actions: u16,
    /// The least threshold; none asks for none.
    pub threshold: Option<f32>,
    /// The largest delta.
    pub delta: f32,
    /// The horizon: a longer one collects more of a reward, a shorter one fewer of the costs.
    pub horizon: u32,
    /// The least beta · tau of any state.
    pub beta: f32,
    /// The least number of sampled trajectories.
    pub trajectories: u32,
    /// The least number of searched trajectories.
    pub searched: u32,
    /// The least number of sweeps.
    pub sweeps: u32,
    /// What may be left out of the search at most.
    pub allocation: Allocation,
    /// The least of what must hold for any distribution.
    pub distribution_free: DistributionFree,
    /// Whether the system's own chance must be played out.
    pub noise: bool,
    /// Whether there must be a fallback controller.
    pub fallback: bool,
    /// Whether the model must be calibrated.
    pub calibration: bool,
    /// Whether HAMBO-CA must decide.
    pub continuous_adversary: bool,
    /// What must be asked.
    pub question: Question,
    /// The identities of the constraints that must be there.
    pub constraints: Vec<[u8; 32], MAX_CONSTRAINTS>,
    /// The blindest monitor that a bundle may bring; none asks for no monitor.
    pub monitor: Option<MonitorSettings>,
    /// z: how many aleatoric standard deviations noise may take.
    pub noise_width: f32,
    /// How many states have a limit of their noise in the arena: all that the model moves, or none.
    pub noise_limits: u16,
    /// How many transitions the arena holds behind them.
    pub transitions: u16,
}

/// What a task asks, as hashes: two tasks that ask the same have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Reward and discount.
    pub reward: [u8; 32],
    /// When a trajectory ends.
    pub termination: [u8; 32],
    /// Where the robot may be switched off.
    pub power_off: [u8; 32],
    /// Known states and circles.
    pub known: [u8; 32],
    /// Limits and periods of the states.
    pub state_limits: [u8; 32],
    /// Limits of the actions.
    pub action_limits: [u8; 32],
    /// Initial states; of those from a log, or of the worst that were found, the kind alone.
    pub initial: [u8; 32],
}

/// A floor whose bytes are intact. Only bytes make one.
///
/// ```
/// use hambo_core::floor::Floor;
/// use hambo_core::image::{Part, Problem};
/// // Flash that nobody has written to: such a robot admits nothing.
/// static FLASH: [u128; 8] = [u128::MAX; 8];
/// let error = Floor::parse_prefix(bytemuck::cast_slice(&FLASH)).map(|_| ()).unwrap_err();
/// assert_eq!((error.part, error.problem), (Part::Floor, Problem::Magic));
/// ```
#[derive(Clone, Debug)]
pub struct Floor<'a> {
    pub(super) manifest: FloorManifest,
    /// The largest aleatoric standard deviation of each state that the model moves.
    pub(super) noise_limits: &'a [f32],
    /// s, a and s′ of each transition, one after the other.
    pub(super) transitions: &'a [f32],
    /// The hash of its part.
    pub(super) hash: [u8; 32],
    /// The part as it was read.
    bytes: &'a [u8],
}

impl<'a> Floor<'a> {
    /// Reads a floor from the start of `bytes`, such as a region of flash; what
    /// follows it does not count.
    ///
    /// # Errors
    /// If any byte of it is wrong or missing.
    #[inline(never)]
    pub fn parse_prefix(bytes: &'a [u8]) -> Result<Self, ImageError> {
        let mut rest = bytes;
        let part = Container::take(&mut rest, Part::Floor)?;
        let length = bytes.len().saturating_sub(rest.len());
        let own = bytes.get(..length).unwrap_or_default();
        Self::of(&part, own).map_err(|problem| Part::Floor.error(problem))
    }

    /// The bytes that it was read from, without a signature or what else follows them.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    fn of(part: &Container<'a>, bytes: &'a [u8]) -> Result<Self, Problem> {
        let manifest: FloorManifest = part.read_manifest()?;
        let sound = manifest.threshold.is_none_or(f32::is_finite)
            && manifest.delta > 0.0
            && manifest.delta < 1.0
            && manifest.beta >= 0.0
            && manifest.noise_width > 0.0
            && manifest.noise_width.is_finite()
            && manifest.period != Some(0)
            && manifest.monitor.is_none_or(|monitor| monitor.is_sound());
        Problem::Number.unless(sound)?;
        let width = 2 * usize::from(manifest.states) + usize::from(manifest.actions);
        let count = width
            .checked_mul(usize::from(manifest.transitions))
            .ok_or(Problem::Dimension)?;
        let numbers: &[f32] = bytemuck::try_cast_slice(part.arena).map_err(|_| Problem::Arena)?;
        let (noise_limits, numbers) = numbers
            .split_at_checked(usize::from(manifest.noise_limits))
            .ok_or(Problem::Arena)?;
        Problem::Number.unless(noise_limits.iter().all(|x| x.is_finite() && *x >= 0.0))?;
        let (transitions, padding) = numbers.split_at_checked(count).ok_or(Problem::Arena)?;
        let finite = transitions.iter().all(|x| x.is_finite());
        Problem::Arena.unless(width > 0 && padding.len() < 4 && finite)?;
        Ok(Self {
            manifest,
            noise_limits,
            transitions,
            hash: part.hash,
            bytes,
        })
    }

    /// A floor without transitions; for the example of this crate.
    pub(crate) fn of_manifest(manifest: FloorManifest) -> Self {
        Self {
            manifest,
            noise_limits: &[],
            transitions: &[],
            hash: [3; 32],
            bytes: &[],
        }
    }
}
