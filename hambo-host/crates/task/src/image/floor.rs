//! What a robot asks of every bundle, to the bytes of a floor.

use hambo_core::floor::{FloorManifest, Question, question};
use hambo_core::image::{Bundle, Part};

use hambo_core::task::{Allocation, DistributionFree};

use super::aligned::AlignedBytes;
use super::bundle::{BundleAbout, name};
use super::part::{EncodeError, encode_part};

/// A floor with the limits of the noise, if there are any, and the robot's own transitions: s, a
/// and s′, one after the other.
///
/// # Errors
/// If it is larger than the format allows.
pub fn encode_floor(
    manifest: &FloorManifest,
    noise_limits: &[f32],
    transitions: &[f32],
) -> Result<AlignedBytes, EncodeError> {
    let bytes = encode_part(Part::Floor, manifest, &[noise_limits, transitions].concat())?;
    Ok(AlignedBytes::new(&bytes))
}

/// The floor of a robot that takes a bundle at its word: an emulated board has no robot of
/// its own. Bytes that are no bundle get a floor that nothing passes.
///
/// # Errors
/// If a name is too long.
pub fn floor_of_trust(bundle: &[u8]) -> Result<AlignedBytes, EncodeError> {
    let aligned = AlignedBytes::new(bundle);
    let bundle = Bundle::parse(aligned.as_bytes()).ok();
    let unknown = BundleAbout::default();
    let task = bundle.as_ref().map(|bundle| bundle.image().task());
    let (states, actions) = task.map_or((1, 1), |task| {
        (task.state_dimension(), task.action_limits.low.len())
    });
    let small = |size: usize| u16::try_from(size).unwrap_or(u16::MAX);
    let asked = task.and_then(question).unwrap_or(Question {
        reward: [0; 32],
        termination: [0; 32],
        power_off: [0; 32],
        known: [0; 32],
        state_limits: [0; 32],
        action_limits: [0; 32],
        initial: [0; 32],
    });
    let (board, robot) = match &bundle {
        Some(bundle) => (bundle.board(), bundle.robot()),
        None => (unknown.board.as_str(), unknown.robot.as_str()),
    };
    let manifest = FloorManifest {
        board: name("the board's name", board)?,
        robot: name("the robot's name", robot)?,
        counter: 0,
        period: None,
        states: small(states),
        actions: small(actions),
        threshold: None,
        delta: 1.0_f32.next_down(),
        horizon: task.map_or(0, |task| task.horizon),
        beta: 0.0,
        trajectories: 0,
        searched: 0,
        sweeps: 0,
        allocation: Allocation::Focused,
        distribution_free: DistributionFree::Nothing,
        noise: false,
        fallback: false,
        calibration: false,
        continuous_adversary: false,
        question: asked,
        constraints: heapless::Vec::new(),
        monitor: None,
        noise_width: 1.0,
        noise_limits: 0,
        transitions: 0,
    };
    encode_floor(&manifest, &[], &[])
}
