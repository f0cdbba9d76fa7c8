//! Driving a system at random: the zero of a scale of returns, and logs that cover a box.

use hambo_core::numeric::random::Stream;

use super::rollout::EnvironmentRun;
use super::system::Environment;
use hambo_data::{Log, LogError, Transition};

/// Returns of episodes of at most `horizon` steps in which every action is uniform between its
/// limits.
#[must_use]
pub fn random_returns(
    horizon: u32,
    system: &dyn Environment,
    episodes: u32,
    seed: u64,
) -> Vec<f64> {
    let value = |episode| {
        let mut value = 0.0;
        let mut add = |_: &[f64], _: &[f32], reward: f64, _: &[f64]| value += reward;
        drive_at_random(horizon, system, Stream::new(seed, episode), &mut add);
        value
    };
    (0..episodes).map(value).collect()
}

/// The same episodes with their transitions.
///
/// # Errors
/// If a number is not finite.
pub fn random_run(
    horizon: u32,
    system: &dyn Environment,
    episodes: u32,
    seed: u64,
) -> Result<EnvironmentRun, LogError> {
    let task = system.task();
    let mut run = EnvironmentRun {
        log: Log::new(task.logged_states().len(), task.action_names.len()),
        returns: Vec::new(),
        terminated: Vec::new(),
    };
    for episode in 0..episodes {
        let (mut value, mut pushed) = (0.0, Ok(()));
        let mut add = |before: &[f64], action: &[f32], reward: f64, after: &[f64]| {
            value += reward;
            if pushed.is_ok() {
                pushed = run.log.push(Transition {
                    state: &system.observe(before),
                    action,
                    next_state: &system.observe(after),
                    reward: reward as f32,
                    episode,
                });
            }
        };
        let stream = Stream::new(seed, episode);
        let terminated = drive_at_random(horizon, system, stream, &mut add);
        pushed?;
        run.returns.push(value);
        run.terminated.push(terminated);
    }
    Ok(run)
}

/// What is told of a step: the inner state before, the action, the reward, the state after.
type EachStep<'a> = dyn FnMut(&[f64], &[f32], f64, &[f64]) + 'a;

/// One episode; returns whether it terminated.
fn drive_at_random(
    horizon: u32,
    system: &dyn Environment,
    mut stream: Stream,
    each: &mut EachStep<'_>,
) -> bool {
    let mut state = system.reset(&mut stream);
    for _ in 0..horizon {
        let action = uniform_action(system, &mut stream);
        let before = state.clone();
        let reward = system.step(&mut state, &action);
        each(&before, &action, reward, &state);
        if system.has_ended(&state) {
            return true;
        }
    }
    false
}

/// Transitions from states that `draw` gives, with uniform actions; each is an episode of
/// its own. Where the system stops a state at a limit of the task, the row is drawn again:
/// rollouts do the same, and to a smooth model the limit is a kink.
///
/// # Errors
/// If a number is not finite.
pub fn uniform_log(
    system: &dyn Environment,
    draw: &dyn Fn(&mut Stream) -> Vec<f64>,
    rows: u32,
    seed: u64,
) -> Result<Log, LogError> {
    let task = system.task();
    let mut log = Log::new(task.logged_states().len(), task.action_names.len());
    for episode in 0..rows {
        let mut stream = Stream::new(seed, episode);
        loop {
            let mut state = draw(&mut stream);
            let before = system.observe(&state);
            let action = uniform_action(system, &mut stream);
            let reward = system.step(&mut state, &action) as f32;
            let after = system.observe(&state);
            let mut places = after.iter().enumerate();
            if places.any(|(state, x)| task.is_at_limit(state, *x)) {
                continue;
            }
            log.push(Transition {
                state: &before,
                action: &action,
                next_state: &after,
                reward,
                episode,
            })?;
            break;
        }
    }
    Ok(log)
}

fn uniform_action(system: &dyn Environment, stream: &mut Stream) -> Vec<f32> {
    let task = system.task();
    let limits = task.action_low.iter().zip(&task.action_high);
    let action: Vec<f32> = limits
        .map(|(low, high)| low + stream.uniform() * (high - low))
        .collect();
    system.limited(&action)
}

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanReturn {
    pub mean: f64,
    /// Its standard error; 0 for one value.
    pub std_error: f64,
}

impl MeanReturn {
    /// Of independent values.
    ///
    /// ```
    /// use hambo_lab::environment::MeanReturn;
    ///
    /// let two = MeanReturn::of(&[1.0, 3.0]);
    /// assert_eq!((two.mean, two.std_error), (2.0, 1.0));
    /// ```
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2));
        let variance = squares.sum::<f64>() / (count - 1.0).max(1.0);
        Self {
            mean,
            std_error: (variance / count).sqrt(),
        }
    }
}

impl EnvironmentRun {
    /// The mean over the episodes.
    #[must_use]
    pub fn mean_return(&self) -> MeanReturn {
        MeanReturn::of(&self.returns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::pendulum::Pendulum;
    use crate::environment::point_env::PointEnv;

    #[test]
    fn random_transitions_are_those_of_the_returns() {
        let system = Pendulum::new().unwrap();
        let run = random_run(30, &system, 4, 9).unwrap();
        assert_eq!(run.returns, random_returns(30, &system, 4, 9));
        assert_eq!((run.log.len(), run.terminated), (120, vec![false; 4]));
        let rows: Vec<_> = run.log.rows().collect();
        for pair in rows
            .windows(2)
            .filter(|pair| pair[0].episode == pair[1].episode)
        {
            assert_eq!(pair[0].next_state, pair[1].state);
        }
        let sum: f64 = rows[..30].iter().map(|row| f64::from(row.reward)).sum();
        assert!((sum - run.returns[0]).abs() < 1e-3);
    }

    #[test]
    fn random_actions_cover_their_limits() {
        let system = PointEnv::new().unwrap();
        let draw = |stream: &mut Stream| system.reset(stream);
        let log = uniform_log(&system, &draw, 2000, 5).unwrap();
        for axis in 0..2 {
            let mean = log.rows().map(|row| row.action[axis]).sum::<f32>() / 2000.0;
            // Three standard deviations of the mean of 2,000 uniform numbers in [−1, 1].
            assert!(mean.abs() < 3.0 * 0.577 / 2000_f32.sqrt(), "{mean}");
            assert!(log.rows().any(|row| row.action[axis] > 0.99));
            assert!(log.rows().any(|row| row.action[axis] < -0.99));
        }
        let episodes: std::collections::HashSet<u32> = log.rows().map(|row| row.episode).collect();
        assert_eq!(episodes.len(), 2000);
    }

    #[test]
    fn a_random_torque_does_not_swing_the_pendulum_up() {
        let system = Pendulum::new().unwrap();
        let returns = MeanReturn::of(&random_returns(200, &system, 200, 1));
        // Gymnasium's uniform policy returns about −1,200.
        assert!((-1350.0..-1050.0).contains(&returns.mean), "{returns:?}");
    }
}
