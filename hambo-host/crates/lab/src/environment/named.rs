//! The built-in systems by name.

use super::mujoco;
use super::pendulum::Pendulum;
use super::point_env::PointEnv;
use super::point_safety::PointSafety;
use super::system::Environment;
use crate::environment::mujoco::MUJOCO_ENVIRONMENTS;

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
