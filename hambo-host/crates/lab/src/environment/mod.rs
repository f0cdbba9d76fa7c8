//! Built-in systems whose true return is known.
//!
//! Goes in: a controller and a number of episodes. Comes out: a log and the
//! true return. May use: `formats` and below.

mod disturbance;
mod mujoco;
mod pendulum;
mod point_env;
mod point_safety;
mod random;
mod rollout;

use hambo_core::numeric::random::Stream;

pub use disturbance::{Disturbance, DisturbedSystem, Reading};
#[cfg(feature = "mujoco")]
pub use mujoco::{Engine, HalfCheetah, Hopper};
pub use mujoco::{GET_MUJOCO, HAS_MUJOCO, MUJOCO_ENVIRONMENTS};
pub use pendulum::Pendulum;
pub use point_env::PointEnv;
pub use point_safety::{PointSafety, TruePath, UNSAFE_BELOW};
pub use random::{MeanReturn, random_returns, random_run, uniform_log};
pub use rollout::{EnvironmentRun, rollout, rollout_for};

use hambo_task::task::TaskFile;

/// A system that can be driven.
pub trait Environment: Sync {
    /// Its task.
    fn task(&self) -> &TaskFile;

    /// The system's own state at the start of an episode.
    fn reset(&self, stream: &mut Stream) -> Vec<f64>;

    /// What the controller sees of a state.
    fn observe(&self, state: &[f64]) -> Vec<f32>;

    /// The action as the system executes it.
    fn limited(&self, action: &[f32]) -> Vec<f32> {
        let task = self.task();
        let limits = task.action_low.iter().zip(&task.action_high);
        let pairs = action.iter().zip(limits);
        pairs.map(|(a, (low, high))| a.clamp(*low, *high)).collect()
    }

    /// One step with a limited action: changes the state, returns the reward.
    fn step(&self, state: &mut [f64], action: &[f32]) -> f64;

    /// Whether an episode that has come to this state by a step is over for ever; most systems
    /// go on.
    fn has_ended(&self, _state: &[f64]) -> bool {
        false
    }

    /// The same system with so many times the mass; none where there is no mass, or no such
    /// one.
    fn with_mass(&self, _factor: f64) -> Option<Box<dyn Environment>> {
        None
    }
}

/// The systems that every build has; see [`MUJOCO_ENVIRONMENTS`] for more.
pub const ENVIRONMENTS: [(&str, &str); 3] = [
    (
        "point_safety",
        "the paper's point that must go around a disc",
    ),
    ("point_env", "the paper's point that walks to the origin"),
    (
        "pendulum",
        "Gymnasium's Pendulum-v1: swing up and stay there",
    ),
];

/// The built-in system of a name.
///
/// # Errors
/// If there is none; the message names those there are.
///
/// ```
/// let pendulum = hambo_lab::environment::named("pendulum")?;
/// assert_eq!(pendulum.task().horizon, 200);
/// assert!(hambo_lab::environment::named("moon").is_err());
/// # Ok::<(), hambo_base::Error>(())
/// ```
pub fn named(name: &str) -> Result<Box<dyn Environment>, hambo_base::Error> {
    match name {
        "point_safety" => Ok(Box::new(PointSafety::new()?)),
        "point_env" => Ok(Box::new(PointEnv::new()?)),
        "pendulum" => Ok(Box::new(Pendulum::new()?)),
        _ => mujoco::named(name).unwrap_or_else(|| {
            let known = ENVIRONMENTS.iter().chain(&MUJOCO_ENVIRONMENTS);
            let known: Vec<&str> = known.map(|(name, _)| *name).collect();
            Err(hambo_base::Error::Usage(format!(
                "there is no environment `{name}`; known: {}",
                known.join(", ")
            )))
        }),
    }
}

/// Whether a system is simulated by MuJoCo.
#[must_use]
pub fn needs_mujoco(name: &str) -> bool {
    let mut names = MUJOCO_ENVIRONMENTS.iter();
    names.any(|(known, _)| *known == name)
}
