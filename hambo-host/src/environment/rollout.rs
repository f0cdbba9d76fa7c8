//! Driving a system with a controller: the log and the true return.

use hambo_core::arithmetic::random::Stream;
use hambo_core::image::Part;
use hambo_core::image::container::Container;
use hambo_core::policy::Policy;
use rayon::prelude::*;

use super::Environment;
use crate::Error;
use crate::formats::image::{AlignedBytes, encode_policy};
use crate::formats::log::{Log, Transition};
use crate::formats::policy::HostPolicy;
use crate::foundation::one_lane::{one_lane, one_lane_mut};

/// Episodes of a controller on a system.
#[derive(Clone, Debug)]
pub struct EnvironmentRun {
    /// All transitions, actions as executed.
    pub log: Log,
    /// The return of each episode, undiscounted.
    pub returns: Vec<f64>,
}

/// Drives `episodes` episodes of the task's horizon. `action_noise` is the
/// standard deviation of Gaussian noise on each action, as a part of half its
/// range. The same for a seed on any number of threads.
///
/// # Errors
/// If the policy does not fit, or a number is not finite.
pub fn rollout(
    system: &dyn Environment,
    policy: &HostPolicy,
    episodes: u32,
    action_noise: f32,
    seed: u64,
) -> Result<EnvironmentRun, Error> {
    let bytes = AlignedBytes::new(&encode_policy(policy)?);
    let part = Container::take(&mut bytes.as_bytes(), Part::Policy)?;
    let policy = hambo_core::image::parse_policy(&part)?;
    let episodes: Vec<Episode> = (0..episodes)
        .into_par_iter()
        .map(|episode| Episode::drive(system, &policy, action_noise, seed, episode))
        .collect();
    let task = system.task();
    let mut log = Log::new(task.state_names.len(), task.action_names.len());
    let mut returns = Vec::new();
    for (number, episode) in (0..).zip(&episodes) {
        for step in &episode.steps {
            log.push(Transition {
                state: &step.state,
                action: &step.action,
                next_state: &step.next_state,
                reward: step.reward as f32,
                episode: number,
            })?;
        }
        returns.push(episode.steps.iter().map(|step| step.reward).sum());
    }
    Ok(EnvironmentRun { log, returns })
}

struct Step {
    state: Vec<f32>,
    action: Vec<f32>,
    next_state: Vec<f32>,
    reward: f64,
}

struct Episode {
    steps: Vec<Step>,
}

impl Episode {
    fn drive(
        system: &dyn Environment,
        policy: &impl Policy,
        action_noise: f32,
        seed: u64,
        episode: u32,
    ) -> Self {
        let task = system.task();
        let mut stream = Stream::new(seed, episode);
        let mut inner = system.reset(&mut stream);
        let mut state = system.observe(&inner);
        let mut scratch = vec![[0.0; 1]; policy.scratch_rows().unwrap_or(0)];
        let mut steps = Vec::new();
        for _ in 0..task.horizon {
            let mut normals = || -> Vec<f32> {
                let actions = task.action_names.iter();
                actions.map(|_| stream.standard_normal()).collect()
            };
            let (own, added) = (normals(), normals());
            let mut wanted = vec![0.0; task.action_names.len()];
            policy.act(
                one_lane(&state),
                one_lane(&own),
                &mut scratch,
                one_lane_mut(&mut wanted),
            );
            let ranges = task.action_high.iter().zip(&task.action_low);
            let noisy: Vec<f32> = wanted
                .iter()
                .zip(&added)
                .zip(ranges)
                .map(|((a, noise), (high, low))| a + action_noise * 0.5 * (high - low) * noise)
                .collect();
            let action = system.limited(&noisy);
            let reward = system.step(&mut inner, &action);
            let next_state = system.observe(&inner);
            steps.push(Step {
                state: std::mem::replace(&mut state, next_state.clone()),
                action,
                next_state,
                reward,
            });
        }
        Self { steps }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pendulum, PointSafety};
    use super::*;

    #[test]
    fn point_safety_is_what_its_own_walk_says() {
        let system = PointSafety::new().unwrap();
        let own = PointSafety::policy(1.6).unwrap();
        let run = rollout(&system, &HostPolicy::Waypoints(own.clone()), 1, 0.0, 3).unwrap();
        let truth = system.walk(&own);
        assert!((run.returns[0] - f64::from(truth.value)).abs() < 1e-4);
        assert_eq!(run.log.len(), truth.states.len() - 1);
    }

    #[test]
    fn episodes_differ_and_repeat() {
        let system = Pendulum::new().unwrap();
        let text = "kind = \"linear\"\ngain = [[0, -8, -2]]\nbias = [0]";
        let policy = HostPolicy::parse(text, "linear", system.task()).unwrap();
        let run = |seed| rollout(&system, &policy, 4, 0.3, seed).unwrap();
        assert_eq!(run(1).log, run(1).log);
        assert_ne!(run(1).log, run(2).log);
        let returns = run(1).returns;
        assert!(returns.iter().all(|value| *value < 0.0 && *value > -2000.0));
        assert!(returns.windows(2).all(|pair| pair[0] != pair[1]));
        // Limits hold for the noisy action too.
        assert!(run(1).log.rows().all(|row| row.action[0].abs() <= 2.0));
    }
}
