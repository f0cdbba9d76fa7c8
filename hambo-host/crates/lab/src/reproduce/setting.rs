//! A log of a system's own controllers, and one check as the figures take it.

use hambo_core::task::Allocation;
use hambo_core::task::Variant;

use super::agents::Agents;
use crate::environment::rollout::rollout_for;
use crate::environment::system::Environment;
use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_check::adversary::EffortLevel;
use hambo_check::{CheckOptions, CheckResult};
use hambo_data::{Log, Transition, with_return_so_far};
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::{Reward, TaskFile};

/// Episodes that are driven at once until there are enough rows.
const EPISODES: u32 = 50;

/// `rows` transitions, the same number from each of the logging controllers.
///
/// # Errors
/// If a number is not finite.
pub fn logged(
    system: &dyn Environment,
    agents: &Agents,
    rows: u32,
    seed: u64,
) -> Result<Log, Error> {
    let task = system.task();
    let logging = agents.logging(task)?;
    let mut log = Log::new(task.logged_states().len(), task.action_names.len());
    let mut episodes = 0;
    for (place, policy) in (0..).zip(&logging) {
        let wanted = (place as usize + 1) * rows as usize / logging.len();
        let mut batch = 0;
        while log.len() < wanted {
            // Seeds of batches and controllers do not meet.
            let batch_seed = (seed << 32) | (place << 16) | batch;
            let (steps, noise) = (agents.logged_steps, agents.action_noise);
            let run = rollout_for(steps, system, policy, EPISODES, noise, batch_seed)?;
            let left = wanted - log.len();
            for row in run.log.rows().take(left) {
                let episode = episodes + row.episode;
                log.push(Transition { episode, ..row })?;
            }
            episodes += EPISODES;
            batch += 1;
        }
    }
    Ok(match task.reward {
        Reward::Learned(_) => with_return_so_far(&log)?,
        Reward::Computed(_) => log,
    })
}

/// How hard a check of the figures looks for the worst case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckSizes {
    /// Sampled trajectories.
    pub trajectories: u32,
    /// Searched trajectories.
    pub searched: u32,
    /// Sweeps of the search.
    pub sweeps: u32,
    /// How the adversary's starts share the steps.
    pub allocation: Allocation,
    /// Whether trajectories have the model's noise.
    pub noise: bool,
}

/// Checks a controller under some variants.
///
/// # Errors
/// As [`check::run`].
pub fn checked(
    task: &TaskFile,
    (log, model, policy): (&Log, &ModelFile, &HostPolicy),
    variants: &[Variant],
    sizes: CheckSizes,
    seed: u64,
) -> Result<CheckResult, Error> {
    let options = CheckOptions {
        log: Some(log),
        variants,
        effort: EffortLevel::Quick,
        sweeps: Some(sizes.sweeps),
        trajectories: Some(sizes.trajectories),
        searched: Some(sizes.searched),
        allocation: Some(sizes.allocation),
        noise: sizes.noise,
        seed,
        plan: 0,
        ..CheckOptions::default()
    };
    Ok(hambo_check::run(task, model, policy, &options, &mut Unobserved)?.result)
}
