//! The logs of table 1: HalfCheetah driven at random, and by a controller of middling skill.

use super::agents::{AGENTS, Agents};
use crate::environment::random::{MeanReturn, random_returns, random_run};
use crate::environment::rollout::{EnvironmentRun, rollout_for};
use crate::environment::system::Environment;
use hambo_base::Error;
use hambo_task::policy::HostPolicy;

/// The system of table 1.
pub(super) const SYSTEM: &str = "half_cheetah";

/// Noise on the medium controller's actions, as a part of half their range: D4RL logs a
/// controller that draws its actions, and ours does not draw.
const NOISE: f32 = 0.2;

/// Which of the system's logging controllers is the medium one: 50,000 steps of training.
const MEDIUM: usize = 1;

/// Who logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedBy {
    /// Uniform actions.
    Random,
    /// An agent in the middle of its training, with noise.
    Medium,
}

impl LoggedBy {
    /// As the rows and D4RL call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Medium => "medium",
        }
    }

    /// Its episodes.
    pub(super) fn run(
        self,
        system: &dyn Environment,
        (episodes, steps): (u32, u32),
        seed: u64,
    ) -> Result<EnvironmentRun, Error> {
        match self {
            Self::Random => Ok(random_run(steps, system, episodes, seed)?),
            Self::Medium => rollout_for(steps, system, &medium(system)?, episodes, NOISE, seed),
        }
    }

    /// What its controller returns without the noise of the log.
    pub(super) fn own_return(
        self,
        system: &dyn Environment,
        (episodes, steps): (u32, u32),
        seed: u64,
    ) -> Result<MeanReturn, Error> {
        Ok(match self {
            Self::Random => MeanReturn::of(&random_returns(steps, system, episodes, seed)),
            Self::Medium => {
                let policy = medium(system)?;
                rollout_for(steps, system, &policy, episodes, 0.0, seed)?.mean_return()
            }
        })
    }
}

/// The system with its controllers.
pub(super) fn agents() -> Result<&'static Agents, Error> {
    let found = AGENTS.iter().find(|agents| agents.system == SYSTEM);
    found.ok_or_else(|| Error::Usage(format!("no controllers for `{SYSTEM}`")))
}

fn medium(system: &dyn Environment) -> Result<HostPolicy, Error> {
    let found = agents()?.logging(system.task())?.into_iter().nth(MEDIUM);
    found.ok_or_else(|| Error::Usage(format!("no medium controller for `{SYSTEM}`")))
}

/// D4RL's scale for HalfCheetah: 0 is its random controller, 100 its expert, both over 1,000
/// steps. Returns over fewer steps are stretched to as many.
///
/// ```
/// use hambo_lab::reproduce::offline_log::d4rl_score;
/// use hambo_lab::environment::MeanReturn;
///
/// let value = MeanReturn { mean: 12135.0, std_error: 0.0 };
/// assert_eq!(d4rl_score(value, 1000).mean, 100.0);
/// let value = MeanReturn { mean: -28.0178953, std_error: 12.4 };
/// let tenth = d4rl_score(value, 100);
/// assert!(tenth.mean.abs() < 1e-9 && (tenth.std_error - 1.0).abs() < 1e-2);
/// ```
#[must_use]
pub fn d4rl_score(value: MeanReturn, steps: u32) -> MeanReturn {
    const STEPS: f64 = 1000.0;
    const RANDOM: f64 = -280.178_953;
    const EXPERT: f64 = 12_135.0;
    let longer = STEPS / f64::from(steps);
    let unit = 100.0 / (EXPERT - RANDOM);
    MeanReturn {
        mean: unit * (longer * value.mean - RANDOM),
        std_error: unit * longer * value.std_error,
    }
}
