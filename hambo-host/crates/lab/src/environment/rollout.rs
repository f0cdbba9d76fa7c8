//! Driving a system with a controller: the log and the true return.

use hambo_core::image::Part;
use hambo_core::image::container::Container;
use hambo_core::numeric::Slices;
use hambo_core::numeric::random::Stream;
use hambo_core::policy::Policy;
use hambo_core::policy::PolicyInputs;
use rayon::prelude::*;

use super::system::Environment;
use hambo_base::Error;
use hambo_base::one_lane::{one_lane, one_lane_mut};
use hambo_data::{Block, Log, Numbers, Origin, Table, Transition};
use hambo_task::image::{AlignedBytes, encode_policy};
use hambo_task::policy::HostPolicy;

/// Episodes of a controller on a system.
#[derive(Clone, Debug)]
pub struct EnvironmentRun {
    /// All transitions, actions as executed.
    pub log: Log,
    /// The return of each episode, undiscounted.
    pub returns: Vec<f64>,
    /// Whether each episode terminated; if not, it reached the horizon.
    pub terminated: Vec<bool>,
}

impl EnvironmentRun {
    /// The log as a file holds it. Where the system's task knows a termination, its rows tell
    /// how each episode ended.
    #[must_use]
    pub fn table(&self, system: &dyn Environment) -> Table {
        let (log, names) = (&self.log, system.task().names());
        let rows = || log.rows();
        let block =
            |columns: usize, numbers: Vec<f32>| Block::new(columns, Numbers::Single(numbers));
        let flat = |numbers: Vec<&[f32]>| numbers.concat();
        let (states, actions) = (log.state_dimension(), log.action_dimension());
        let episodes: Vec<u32> = rows().map(|row| row.episode).collect();
        // Of each row: whether its episode ends with it, and how.
        let ends = |terminated: bool| {
            let last = |row: usize| episodes.get(row) != episodes.get(row + 1);
            let how = |episode: u32| self.terminated.get(episode as usize) == Some(&terminated);
            let rows = episodes.iter().enumerate();
            rows.map(|(row, episode)| last(row) && how(*episode))
                .collect()
        };
        let told = system.task().termination.is_some();
        Table {
            file: "rollout".into(),
            states: block(states, flat(rows().map(|row| row.state).collect())),
            actions: block(actions, flat(rows().map(|row| row.action).collect())),
            next_states: Some(block(
                states,
                flat(rows().map(|row| row.next_state).collect()),
            )),
            rewards: Some(block(1, rows().map(|row| row.reward).collect())),
            terminals: told.then(|| ends(true)),
            timeouts: told.then(|| ends(false)),
            episodes: Some(episodes.iter().map(|episode| f64::from(*episode)).collect()),
            gaps: None,
            names,
            roles_known: true,
            origin: Origin::default(),
        }
    }
}

/// Drives `episodes` episodes of the task's horizon, as [`rollout_for`].
///
/// # Errors
/// As [`rollout_for`].
pub fn rollout(
    system: &dyn Environment,
    policy: &HostPolicy,
    episodes: u32,
    action_noise: f32,
    seed: u64,
) -> Result<EnvironmentRun, Error> {
    let horizon = system.task().horizon;
    rollout_for(horizon, system, policy, episodes, action_noise, seed)
}

/// Drives `episodes` episodes of at most `horizon` steps; one that terminates is shorter.
/// `policy` is one for the system's task. `action_noise` is the standard deviation of Gaussian
/// noise on each action, as a part of half its range. The same for a seed on any number of
/// threads.
///
/// # Errors
/// If the policy does not fit, or a number is not finite.
pub fn rollout_for(
    horizon: u32,
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
        .map(|episode| {
            let stream = Stream::new(seed, episode);
            Episode::drive(system, &policy, horizon, action_noise, stream)
        })
        .collect();
    let task = system.task();
    let mut log = Log::new(task.logged_states().len(), task.action_names.len());
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
    let terminated = episodes.iter().map(|episode| episode.terminated).collect();
    Ok(EnvironmentRun {
        log,
        returns,
        terminated,
    })
}

struct Step {
    state: Vec<f32>,
    action: Vec<f32>,
    next_state: Vec<f32>,
    reward: f64,
}

struct Episode {
    steps: Vec<Step>,
    terminated: bool,
}

impl Episode {
    fn drive(
        system: &dyn Environment,
        policy: &impl Policy,
        horizon: u32,
        action_noise: f32,
        mut stream: Stream,
    ) -> Self {
        let task = system.task();
        let mut inner = system.reset(&mut stream);
        let mut state = system.observe(&inner);
        let mut scratch = vec![[0.0; 1]; policy.scratch_rows().unwrap_or(0)];
        let whole = Slices::default();
        let mut steps = Vec::new();
        let mut terminated = false;
        for _ in 0..horizon {
            if terminated {
                break;
            }
            let mut normals = || -> Vec<f32> {
                let actions = task.action_names.iter();
                actions.map(|_| stream.standard_normal()).collect()
            };
            let (own, added) = (normals(), normals());
            let mut wanted = vec![0.0; task.action_names.len()];
            // A learned reward's state, which no controller looks at.
            let mut seen = state.clone();
            seen.resize(task.state_names.len(), 0.0);
            let inputs = PolicyInputs {
                noise: one_lane(&own),
                ..PolicyInputs::new(one_lane(&seen), &mut scratch, &whole)
            };
            policy.act(inputs, one_lane_mut(&mut wanted));
            let ranges = task.action_high.iter().zip(&task.action_low);
            let noisy: Vec<f32> = wanted
                .iter()
                .zip(&added)
                .zip(ranges)
                .map(|((a, noise), (high, low))| a + action_noise * 0.5 * (high - low) * noise)
                .collect();
            let action = system.limited(&noisy);
            let reward = system.step(&mut inner, &action);
            terminated = system.has_ended(&inner);
            let next_state = system.observe(&inner);
            steps.push(Step {
                state: std::mem::replace(&mut state, next_state.clone()),
                action,
                next_state,
                reward,
            });
        }
        Self { steps, terminated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::pendulum::Pendulum;
    use crate::environment::point_safety::PointSafety;
    use hambo_task::task::TaskFile;

    /// Counts steps and ends after as many as its start says.
    struct Countdown(TaskFile);

    impl Environment for Countdown {
        fn task(&self) -> &TaskFile {
            &self.0
        }
        fn reset(&self, stream: &mut Stream) -> Vec<f64> {
            vec![f64::from(1.0 + (9.0 * stream.uniform()).floor())]
        }
        fn observe(&self, state: &[f64]) -> Vec<f32> {
            vec![state[0] as f32]
        }
        fn step(&self, state: &mut [f64], _: &[f32]) -> f64 {
            state[0] -= 1.0;
            1.0
        }
        fn has_ended(&self, state: &[f64]) -> bool {
            state[0] <= 0.0
        }
    }

    #[test]
    fn episodes_that_end_for_ever_stop_and_say_so() {
        let text = "name = 'countdown'\nhorizon = 6\n[state]\nnames = ['left']\n[action]\n\
                    names = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nlearned = true\n\
                    [termination]\nexpr = 'next.left <= 0'\n[initial]\nkind = 'data'\n";
        let system = Countdown(TaskFile::parse(text, "countdown.toml").unwrap());
        let policy = "kind = 'linear'\ngain = [[1]]\nbias = [0]";
        let policy = HostPolicy::parse(policy, "linear", system.task()).unwrap();
        let run = rollout(&system, &policy, 40, 0.0, 1).unwrap();
        let table = run.table(&system);
        let (terminals, timeouts) = (table.terminals.unwrap(), table.timeouts.unwrap());
        let rows: Vec<_> = run.log.rows().collect();
        let (mut ended, mut cut) = (0, 0);
        for (number, terminated) in (0..).zip(&run.terminated) {
            let own = rows.iter().enumerate();
            let own: Vec<_> = own.filter(|(_, row)| row.episode == number).collect();
            let (first, (last, _)) = (own[0].1.state[0], own[own.len() - 1]);
            assert_eq!(own.len(), (first as usize).min(6));
            assert_eq!(run.returns[number as usize], own.len() as f64);
            assert_eq!(*terminated, first <= 6.0);
            for (row, _) in &own {
                assert_eq!(terminals[*row], *row == last && *terminated);
                assert_eq!(timeouts[*row], *row == last && !*terminated);
            }
            ended += usize::from(*terminated);
            cut += usize::from(!*terminated);
        }
        assert!(ended > 5 && cut > 5);
        let short = rollout_for(2, &system, &policy, 40, 0.0, 1).unwrap();
        assert!(short.returns.iter().all(|value| *value <= 2.0));
    }

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
