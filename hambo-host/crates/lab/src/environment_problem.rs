//! A true system as a decision problem: the controller decides.

use hambo_core::numeric::random::Stream;

use super::environment::system::Environment;
use hambo_base::Error;
use hambo_check::reinforcement::{Actions, Problem};

/// Copies of a system. A learner's actions in [−1, 1] are stretched to the
/// task's limits; an episode lasts the task's horizon, unless the system terminates it.
///
/// ```
/// use hambo_lab::environment::Pendulum;
/// use hambo_check::reinforcement::{Actions, Problem};
/// use hambo_lab::environment_problem::EnvironmentProblem;
///
/// let pendulum = Pendulum::new()?;
/// let mut problem = EnvironmentProblem::new(&pendulum, 2, 7);
/// assert_eq!(problem.actions(), Actions::Continuous(1));
/// problem.start(0, 0)?;
/// problem.start(1, 0)?;
/// let mut seen = [0.0; 6];
/// problem.observe(&mut seen);
/// assert_eq!(seen[..3], seen[3..]);
/// # Ok::<(), hambo_base::Error>(())
/// ```
///
/// A learner plays in it:
///
/// ```
/// use hambo_lab::environment::Pendulum;
/// use hambo_check::reinforcement::{
///     LearningOptions, Rounds, SoftActorCritic, SoftActorCriticOptions, Value,
/// };
/// use hambo_lab::environment_problem::EnvironmentProblem;
///
/// let pendulum = Pendulum::new()?;
/// let mut problem = EnvironmentProblem::new(&pendulum, 1, 0);
/// let rounds = Rounds {
///     rounds: 2,
///     episodes: 1,
///     gradient_steps: 5,
///     evaluation_episodes: 1,
///     ..Rounds::default()
/// };
/// let learning = LearningOptions {
///     hidden: vec![16; 2],
///     value: Value::Endless { discount: 0.99 },
///     rounds,
///     batch: 32,
///     ..LearningOptions::default()
/// };
/// let options = SoftActorCriticOptions { learning, ..SoftActorCriticOptions::default() };
/// let mut learner = SoftActorCritic::new(&problem, options)?;
/// while let Some(report) = learner.round(&mut problem)? {
///     assert!(report.training_return < 0.0);
/// }
/// let policy = learner.actor().policy(&[-2.0], &[2.0]);
/// assert_eq!(policy.layers.len(), 3);
/// # Ok::<(), hambo_base::Error>(())
/// ```
pub struct EnvironmentProblem<'a> {
    system: &'a dyn Environment,
    seed: u64,
    states: Vec<Vec<f64>>,
}

impl<'a> EnvironmentProblem<'a> {
    /// `lanes` copies of a system; the seed decides where episodes start.
    #[must_use]
    pub fn new(system: &'a dyn Environment, lanes: usize, seed: u64) -> Self {
        let states = (0..lanes).map(|_| system.reset(&mut Stream::new(seed, 0)));
        Self {
            system,
            seed,
            states: states.collect(),
        }
    }
}

impl Problem for EnvironmentProblem<'_> {
    fn lanes(&self) -> usize {
        self.states.len()
    }

    fn observation_size(&self) -> usize {
        self.system.task().logged_states().len()
    }

    fn actions(&self) -> Actions {
        Actions::Continuous(self.system.task().action_names.len())
    }

    fn horizon(&self) -> usize {
        self.system.task().horizon as usize
    }

    fn start(&mut self, lane: usize, episode: u32) -> Result<(), Error> {
        if let Some(state) = self.states.get_mut(lane) {
            *state = self.system.reset(&mut Stream::new(self.seed, episode));
        }
        Ok(())
    }

    fn observe(&self, observations: &mut [f32]) {
        let rows = observations.chunks_exact_mut(self.observation_size());
        for (row, state) in rows.zip(&self.states) {
            for (to, from) in row.iter_mut().zip(self.system.observe(state)) {
                *to = from;
            }
        }
    }

    fn step(
        &mut self,
        actions: &[f32],
        rewards: &mut [f32],
        terminated: &mut [bool],
    ) -> Result<(), Error> {
        let task = self.system.task();
        let lanes = actions.chunks_exact(task.action_names.len());
        let results = rewards.iter_mut().zip(terminated);
        let states = self.states.iter_mut();
        for ((state, action), (reward, ended)) in states.zip(lanes).zip(results) {
            let limits = task.action_low.iter().zip(&task.action_high);
            let stretched = action.iter().zip(limits);
            let stretched: Vec<f32> = stretched
                .map(|(a, (low, high))| low + 0.5 * (a + 1.0) * (high - low))
                .collect();
            *reward = self.system.step(state, &self.system.limited(&stretched)) as f32;
            *ended = self.system.has_ended(state);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::pendulum::Pendulum;
    use crate::environment::rollout::rollout;
    use hambo_base::network::Activation;
    use hambo_base::network::reference::outputs;
    use hambo_check::reinforcement::{
        InputUnits, LearningOptions, SoftActorCritic, SoftActorCriticOptions,
    };
    use hambo_task::policy::HostPolicy;

    /// The exported controller is the actor's mean, stretched, in the core as here.
    #[test]
    fn a_trained_actor_drives_as_its_mean_network_says() {
        let pendulum = Pendulum::new().unwrap();
        let problem = EnvironmentProblem::new(&pendulum, 1, 0);
        let units = InputUnits {
            mean: vec![0.1, -0.1, 0.5],
            scale: vec![0.7, 0.6, 3.0],
        };
        let options = SoftActorCriticOptions {
            learning: LearningOptions {
                hidden: vec![32; 2],
                seed: 3,
                units: Some(units.clone()),
                ..LearningOptions::default()
            },
            ..SoftActorCriticOptions::default()
        };
        let actor = SoftActorCritic::new(&problem, options).unwrap().actor();
        let task = pendulum.task();
        let policy = actor.policy(&task.action_low, &task.action_high);
        let run = rollout(&pendulum, &HostPolicy::Perceptron(policy), 1, 0.0, 1).unwrap();
        let parameters = hambo_base::network::pack(&actor.mean_layers());
        let parameters: Vec<f64> = parameters.into_iter().map(f64::from).collect();
        for row in run.log.rows().take(50) {
            let input: Vec<f64> = (0..3)
                .map(|i| f64::from((row.state[i] - units.mean[i]) / units.scale[i]))
                .collect();
            let mean = outputs(&[3, 32, 32, 1], Activation::Relu, &parameters, &input)[0];
            assert!((f64::from(row.action[0]) - 2.0 * mean.tanh()).abs() < 1e-5);
        }
        let drawn = actor.stochastic_policy(&task.action_low, &task.action_high);
        let run = rollout(&pendulum, &HostPolicy::Perceptron(drawn), 1, 0.0, 1).unwrap();
        assert!(run.returns[0].is_finite());
        let adversary = actor.adversary();
        assert_eq!(adversary.layers, actor.mean_layers());
        assert_eq!(
            (adversary.input_mean, adversary.input_scale),
            (units.mean, units.scale)
        );
    }

    #[test]
    fn actions_reach_the_limits() {
        let pendulum = Pendulum::new().unwrap();
        let mut problem = EnvironmentProblem::new(&pendulum, 3, 1);
        let mut states = vec![pendulum.reset(&mut Stream::new(1, 4)); 3];
        for lane in 0..3 {
            problem.start(lane, 4).unwrap();
        }
        let (mut rewards, mut ended) = ([0.0; 3], [true; 3]);
        let actions = [-1.0, 0.0, 1.0];
        problem.step(&actions, &mut rewards, &mut ended).unwrap();
        assert_eq!(ended, [false; 3]);
        let torques = [-2.0, 0.0, 2.0];
        for ((state, torque), reward) in states.iter_mut().zip(torques).zip(rewards) {
            assert_eq!(pendulum.step(state, &[torque]) as f32, reward);
        }
        assert_eq!(problem.states, states);
    }
}
