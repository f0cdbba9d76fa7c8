//! Soft actor-critic (Haarnoja et al.): the paper's search for the worst eta of
//! CA, and the way to controllers on true systems.

use serde::{Deserialize, Serialize};

use super::course::{Course, mean};
use super::drive::{EVALUATION, Step, drive};
use super::lanes::LaneNetwork;
use super::options::{Common, InputUnits, Rounds, Value, holds, positive};
use super::replay::{Columns, Replay, Transition};
use super::sac_step::{Learnt, Rates, SacStep};
use super::squashed_gaussian::Draws;
use super::weights::{Twins, Weights, widths};
use super::{Actions, Problem, ReinforcementError, RoundReport, TrainedActor};
use crate::Error;
use crate::foundation::checkpoint::CheckpointError;
use crate::foundation::network::adam::Adam;
use crate::foundation::network::perceptron::{LayerShape, layer_shapes, parameter_count};
use crate::foundation::random::Random;

/// How soft actor-critic learns; the defaults are the paper's.
///
/// ```
/// use hambo_host::reinforcement::SoftActorCriticOptions;
/// let options = SoftActorCriticOptions { seed: 3, ..SoftActorCriticOptions::default() };
/// assert_eq!((options.hidden.as_slice(), options.batch), (&[256, 256][..], 1024));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoftActorCriticOptions {
    /// Widths of the hidden layers, of actor and critics alike.
    pub hidden: Vec<usize>,
    /// What the critics predict.
    pub value: Value,
    /// The course of learning.
    pub rounds: Rounds,
    /// Transitions of a gradient step.
    pub batch: usize,
    /// The most transitions that are kept to learn from.
    pub replay: usize,
    /// Adam's rate for actor and critics.
    pub learning_rate: f32,
    /// Adam's rate for the logarithm of the temperature.
    pub temperature_rate: f32,
    /// The temperature at first: what a unit of entropy is worth in (scaled) reward.
    pub temperature: f32,
    /// The entropy that the temperature steers to; minus the number of actions if none.
    pub target_entropy: Option<f32>,
    /// How far the targets move towards the critics in each step.
    pub polyak: f32,
    /// Factor of all rewards; values of order 1 to 100 learn best.
    pub reward_scale: f32,
    /// Units of the observations; as they are if none.
    pub units: Option<InputUnits>,
    /// Seed of all that chance decides in the learner.
    pub seed: u64,
}

impl Default for SoftActorCriticOptions {
    fn default() -> Self {
        Self {
            hidden: vec![256; 2],
            value: Value::Finite { discount: 1.0 },
            rounds: Rounds::default(),
            batch: 1024,
            replay: 1_000_000,
            learning_rate: 1e-3,
            temperature_rate: 5e-5,
            temperature: 0.1,
            target_entropy: None,
            polyak: 0.005,
            reward_scale: 1.0,
            units: None,
            seed: 0,
        }
    }
}

impl SoftActorCriticOptions {
    fn check(&self) -> Result<(), ReinforcementError> {
        Common {
            hidden: &self.hidden,
            value: self.value,
            batch: self.batch,
            replay: self.replay,
            learning_rate: self.learning_rate,
            polyak: self.polyak,
            reward_scale: self.reward_scale,
        }
        .check()?;
        self.rounds.check()?;
        let rate = self.temperature_rate >= 0.0 && self.temperature_rate.is_finite();
        holds(rate, "temperature_rate", "0 or positive")?;
        holds(positive(self.temperature), "temperature", "positive")?;
        let finite = self.target_entropy.is_none_or(f32::is_finite);
        holds(finite, "target_entropy", "finite")
    }
}

/// Streams of the learner's chance.
const INITIAL: u64 = 0;
const COURSE: u64 = 1;

/// A learner between two rounds: all that it has become, ready for `serde`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoftActorCriticState {
    options: SoftActorCriticOptions,
    course: Course,
    actor: Weights,
    twins: Twins,
    temperature: Weights,
    replay: Replay,
    /// Random numbers drawn so far.
    draws: u64,
}

impl SoftActorCriticState {
    /// The options it was begun with.
    #[must_use]
    pub fn options(&self) -> &SoftActorCriticOptions {
        &self.options
    }
}

/// The learner. [`Self::round`] until it returns `None`, then [`Self::actor`].
///
/// ```
/// use hambo_host::environment::Pendulum;
/// use hambo_host::reinforcement::{
///     EnvironmentProblem, Rounds, SoftActorCritic, SoftActorCriticOptions, Value,
/// };
///
/// let pendulum = Pendulum::new()?;
/// let mut problem = EnvironmentProblem::new(&pendulum, 1, 0);
/// let options = SoftActorCriticOptions {
///     hidden: vec![16; 2],
///     value: Value::Endless { discount: 0.99 },
///     rounds: Rounds {
///         rounds: 2,
///         episodes: 1,
///         gradient_steps: 5,
///         evaluation_episodes: 1,
///         ..Rounds::default()
///     },
///     batch: 32,
///     ..SoftActorCriticOptions::default()
/// };
/// let mut learner = SoftActorCritic::new(&problem, options)?;
/// while let Some(report) = learner.round(&mut problem)? {
///     assert!(report.training_return < 0.0);
/// }
/// let policy = learner.actor().policy(&[-2.0], &[2.0]);
/// assert_eq!(policy.layers.len(), 3);
/// # Ok::<(), hambo_host::Error>(())
/// ```
pub struct SoftActorCritic {
    state: SoftActorCriticState,
    actions: usize,
    units: InputUnits,
    actor_layers: Vec<LayerShape>,
    step: SacStep,
    rates: Rates,
}

impl SoftActorCritic {
    /// A learner with random weights for problems of this one's sizes.
    ///
    /// # Errors
    /// If the options are out of range or the problem's actions are choices.
    pub fn new(
        problem: &dyn Problem,
        options: SoftActorCriticOptions,
    ) -> Result<Self, ReinforcementError> {
        options.check()?;
        let sizes = Sizes::of(problem, &options)?;
        let mut random = Random::new(options.seed, INITIAL);
        let state = SoftActorCriticState {
            course: Course::new(),
            actor: Weights::new(&sizes.actor, &mut random),
            twins: Twins::new(&sizes.critic, &mut random),
            temperature: Weights {
                parameters: vec![options.temperature.ln()],
                adam: Adam::new(1),
            },
            replay: Replay::new(sizes.columns, options.replay),
            draws: 0,
            options,
        };
        Self::resume(problem, state)
    }

    /// A learner that goes on where a state was taken, as if never stopped.
    ///
    /// # Errors
    /// If the state is not one of a learner for such a problem.
    pub fn resume(
        problem: &dyn Problem,
        state: SoftActorCriticState,
    ) -> Result<Self, ReinforcementError> {
        let options = &state.options;
        options.check()?;
        let sizes = Sizes::of(problem, options)?;
        let sound = state.actor.fits(parameter_count(&sizes.actor))
            && state.twins.fits(parameter_count(&sizes.critic))
            && state.temperature.fits(1)
            && state.course.is_sound(parameter_count(&sizes.actor))
            && state.replay.is_sound(sizes.columns, options.replay);
        if !sound {
            let problem = "is damaged, or of a problem of other sizes";
            return Err(CheckpointError { problem }.into());
        }
        let actions = sizes.columns.action;
        let entropy = options.target_entropy.unwrap_or(-(actions as f32));
        let tick = 1.0 / problem.horizon() as f32;
        Ok(Self {
            actions,
            units: InputUnits::of(options.units.as_ref(), problem)?,
            step: SacStep::new(&sizes.actor, &sizes.critic, options.batch),
            rates: Rates {
                discount: options.value.discount(),
                tick: matches!(options.value, Value::Finite { .. }).then_some(tick),
                target_entropy: entropy,
                learning_rate: options.learning_rate,
                temperature_rate: options.temperature_rate,
                polyak: options.polyak,
            },
            actor_layers: sizes.actor,
            state,
        })
    }

    /// All that the learner has become.
    #[must_use]
    pub fn state(&self) -> &SoftActorCriticState {
        &self.state
    }

    /// The actor with the best evaluation, or the last one without any.
    #[must_use]
    pub fn actor(&self) -> TrainedActor {
        let state = &self.state;
        let parameters = state.course.best(&state.actor.parameters);
        TrainedActor::new(&self.actor_layers, parameters, &self.units)
    }

    /// The actor of now.
    #[must_use]
    pub fn last_actor(&self) -> TrainedActor {
        let parameters = &self.state.actor.parameters;
        TrainedActor::new(&self.actor_layers, parameters, &self.units)
    }

    /// One round: episodes, gradient steps, evaluation. `None` when learning is
    /// over. The problem may change from round to round, not its sizes.
    ///
    /// # Errors
    /// If the problem fails or its numbers, or the weights, are not finite.
    pub fn round(&mut self, problem: &mut dyn Problem) -> Result<Option<RoundReport>, Error> {
        let rounds = self.state.options.rounds.clone();
        if self.state.course.is_over(&rounds) {
            return Ok(None);
        }
        let sizes = Sizes::of(problem, &self.state.options)?;
        self.state.replay.check(sizes.columns)?;
        let mut random = Random::at(self.state.options.seed, COURSE, self.state.draws);
        if self.state.course.round == 0 && rounds.random_episodes > 0 {
            self.collect(problem, rounds.random_episodes, true, &mut random)?;
        }
        let returns = self.collect(problem, rounds.episodes, false, &mut random)?;
        let mut loss = 0.0;
        for _ in 0..rounds.gradient_steps {
            loss += self.gradient_step(&mut random);
        }
        let state = &mut self.state;
        state.draws = random.draws();
        let finite = state.actor.is_finite() && state.twins.is_finite();
        if !finite || !state.temperature.is_finite() {
            let round = state.course.round;
            return Err(ReinforcementError::Diverged { round }.into());
        }
        state.course.round += 1;
        let evaluation_return = match rounds.evaluation_episodes {
            0 => None,
            episodes => {
                let found = mean(&self.evaluate(problem, episodes)?);
                let state = &mut self.state;
                state.course.look(found, &state.actor.parameters);
                Some(found)
            }
        };
        Ok(Some(RoundReport {
            round: self.state.course.round,
            rounds: rounds.rounds,
            steps: self.state.course.steps,
            training_return: mean(&returns),
            evaluation_return,
            critic_loss: loss / rounds.gradient_steps as f64,
            exploration: self.state.temperature.parameters[0].exp(),
        }))
    }

    /// Returns of the actor of now, acting with its mean.
    ///
    /// # Errors
    /// If the problem fails or its numbers are not finite.
    pub fn evaluate(&self, problem: &mut dyn Problem, episodes: usize) -> Result<Vec<f64>, Error> {
        let mut network = LaneNetwork::new(&self.actor_layers, problem.lanes());
        let parameters = &self.state.actor.parameters;
        let count = self.actions;
        let mut act = |observations: &[f32], actions: &mut [f32]| {
            network.forward(parameters, observations);
            let rows = network.values.chunks_exact(2 * count);
            for (action, outputs) in actions.chunks_exact_mut(count).zip(rows) {
                for (a, mean) in action.iter_mut().zip(outputs) {
                    *a = mean.tanh();
                }
            }
        };
        let numbers = EVALUATION..EVALUATION.saturating_add(episodes as u32);
        drive(problem, &self.units, numbers, &mut act, &mut |_| ())
    }

    /// One gradient step from the transitions so far; returns the critics' mean
    /// squared error.
    pub(crate) fn gradient_step(&mut self, random: &mut Random) -> f64 {
        let state = &mut self.state;
        state.replay.draw(random, &mut self.step.batch);
        self.step.make_noise(random);
        let learnt = Learnt {
            actor: &mut state.actor,
            twins: &mut state.twins,
            temperature: &mut state.temperature,
        };
        self.step.learn(learnt, &self.rates)
    }

    /// The smaller of the critics' values, for an observation in the networks' units.
    #[cfg(test)]
    pub(super) fn value_at(&self, observation: &[f32], time: f32, action: &[f32]) -> f32 {
        let time: &[f32] = if self.rates.tick.is_some() {
            &[time]
        } else {
            &[]
        };
        let input = [observation, time, action].concat();
        let layers = layer_shapes(&widths(input.len(), &self.state.options.hidden, 1));
        let values = self.state.twins.0.iter().map(|critic| {
            let mut network = super::weights::Work::new(&layers, 1).network;
            network.forward(&critic.weights.parameters, &input)[0]
        });
        values.fold(f32::INFINITY, f32::min)
    }

    /// Episodes with drawn or random actions, kept to learn from.
    fn collect(
        &mut self,
        problem: &mut dyn Problem,
        episodes: usize,
        at_random: bool,
        random: &mut Random,
    ) -> Result<Vec<f64>, Error> {
        let (lanes, count) = (problem.lanes(), self.actions);
        let mut network = LaneNetwork::new(&self.actor_layers, lanes);
        let mut draws = Draws::new(lanes, count);
        let state = &mut self.state;
        let parameters = &state.actor.parameters;
        let mut act = |observations: &[f32], actions: &mut [f32]| {
            if at_random {
                let uniform = |a: &mut f32| *a = (2.0 * random.uniform() - 1.0) as f32;
                actions.iter_mut().for_each(uniform);
                return;
            }
            network.forward(parameters, observations);
            let normal = |number: &mut f32| *number = random.normal() as f32;
            draws.noise.iter_mut().for_each(normal);
            draws.draw(&network.values, count);
            actions.copy_from_slice(&draws.actions);
        };
        let (value, scale) = (state.options.value, state.options.reward_scale);
        let horizon = problem.horizon() as f32;
        let (replay, course) = (&mut state.replay, &mut state.course);
        let numbers = course.begin(episodes);
        let mut keep = |step: &Step<'_>| {
            course.steps += 1;
            replay.push(&Transition::of(step, horizon, value, scale));
        };
        drive(problem, &self.units, numbers, &mut act, &mut keep)
    }
}

struct Sizes {
    columns: Columns,
    actor: Vec<LayerShape>,
    critic: Vec<LayerShape>,
}

impl Sizes {
    fn of(
        problem: &dyn Problem,
        options: &SoftActorCriticOptions,
    ) -> Result<Self, ReinforcementError> {
        let Actions::Continuous(action) = problem.actions() else {
            return Err(ReinforcementError::Actions {
                learner: "soft actor-critic",
                decides: "numbers",
                asks: problem.actions(),
            });
        };
        super::problem::check_sizes(problem, "number of actions", action)?;
        let observation = problem.observation_size();
        let inputs = observation + options.value.time_inputs() + action;
        Ok(Self {
            columns: Columns {
                observation,
                action,
            },
            actor: layer_shapes(&widths(observation, &options.hidden, 2 * action)),
            critic: layer_shapes(&widths(inputs, &options.hidden, 1)),
        })
    }
}
