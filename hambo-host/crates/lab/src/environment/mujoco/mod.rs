//! Hopper and HalfCheetah, moved by the MuJoCo engine itself.
//!
//! The engine is linked only with the cargo feature `mujoco`; without it the names are known, and
//! asking for one says how to get it. Each system comes twice: as the engine of the days of
//! `mujoco_py` moved it (Gym's v3, the paper's) and as today's does (Gymnasium's v4).

#[cfg(feature = "mujoco")]
mod half_cheetah;
#[cfg(feature = "mujoco")]
mod hopper;
#[cfg(feature = "mujoco")]
mod model;
#[cfg(all(test, feature = "mujoco"))]
mod reference_tests;
#[cfg(feature = "mujoco")]
mod simulation;

#[cfg(feature = "mujoco")]
pub use half_cheetah::HalfCheetah;
#[cfg(feature = "mujoco")]
pub use hopper::Hopper;
#[cfg(feature = "mujoco")]
pub use model::Engine;

use super::system::Environment;
use hambo_base::Error;

/// The systems that need the engine.
pub const MUJOCO_ENVIRONMENTS: [(&str, &str); 4] = [
    ("hopper", "Gym's Hopper-v3: one leg hops forward"),
    ("hopper_v4", "Gymnasium's Hopper-v4, by today's engine"),
    ("half_cheetah", "Gym's HalfCheetah-v3: two legs run forward"),
    (
        "half_cheetah_v4",
        "Gymnasium's HalfCheetah-v4, by today's engine",
    ),
];

/// How to get them.
pub const GET_MUJOCO: &str =
    "needs the MuJoCo engine: `cargo xtask mujoco` fetches it and builds hambo with it";

/// Whether they are built in.
pub const HAS_MUJOCO: bool = cfg!(feature = "mujoco");

/// The system of a name, if it is one of these.
#[cfg(feature = "mujoco")]
pub(super) fn named(name: &str) -> Option<Result<Box<dyn Environment>, Error>> {
    fn boxed<E: Environment + 'static>(
        system: Result<E, Error>,
    ) -> Result<Box<dyn Environment>, Error> {
        system.map(|system| Box::new(system) as Box<dyn Environment>)
    }
    Some(match name {
        "hopper" => boxed(Hopper::new(Engine::V3)),
        "hopper_v4" => boxed(Hopper::new(Engine::V4)),
        "half_cheetah" => boxed(HalfCheetah::new(Engine::V3)),
        "half_cheetah_v4" => boxed(HalfCheetah::new(Engine::V4)),
        _ => return None,
    })
}

/// Says of each of these how to get it.
#[cfg(not(feature = "mujoco"))]
pub(super) fn named(name: &str) -> Option<Result<Box<dyn Environment>, Error>> {
    let mut known = MUJOCO_ENVIRONMENTS.iter();
    known.find(|(known, _)| *known == name)?;
    Some(Err(Error::Usage(format!("`{name}` {GET_MUJOCO}"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hambo_task::task::TaskFile;

    /// In every build.
    #[test]
    fn the_task_files_are_good() {
        let files = [
            (include_str!("../../../../../tasks/hopper.toml"), [11, 3]),
            (
                include_str!("../../../../../tasks/half_cheetah.toml"),
                [17, 6],
            ),
        ];
        for (text, sizes) in files {
            let task = TaskFile::parse(text, "task.toml").unwrap();
            let names = task.names();
            assert_eq!([names.states.len(), names.actions.len()], sizes);
            assert!(task.learns_reward());
        }
    }

    /// Every name is a system, or tells how to get it.
    #[test]
    fn every_name_is_known() {
        for (name, _) in MUJOCO_ENVIRONMENTS {
            match (HAS_MUJOCO, named(name)) {
                (true, Some(Ok(system))) => assert!(system.task().horizon > 0),
                (false, Some(Err(error))) => {
                    assert!(error.to_string().contains("cargo xtask mujoco"));
                }
                _ => panic!("{name}"),
            }
        }
        assert!(named("pendulum").is_none());
    }
}
