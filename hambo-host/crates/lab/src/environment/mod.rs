//! Built-in systems whose true return is known.
//!
//! Goes in: a controller and a number of episodes. Comes out: a log and the
//! true return. May use: `formats` and below.

pub(super) mod disturbance;
pub(super) mod mujoco;
pub mod named;
pub(crate) mod pendulum;
pub(super) mod point_env;
pub mod point_safety;
pub mod random;
pub mod rollout;
pub mod system;

pub use disturbance::{Disturbance, DisturbedSystem, Reading};
#[cfg(feature = "mujoco")]
pub use mujoco::{Engine, HalfCheetah, Hopper};
pub use mujoco::{GET_MUJOCO, HAS_MUJOCO, MUJOCO_ENVIRONMENTS};
pub use named::{ENVIRONMENTS, named, needs_mujoco};
pub use pendulum::Pendulum;
pub use point_env::PointEnv;
pub use point_safety::{PointSafety, TruePath, UNSAFE_BELOW};
pub use random::{MeanReturn, random_returns, random_run, uniform_log};
pub use rollout::{EnvironmentRun, rollout, rollout_for};
pub use system::Environment;
