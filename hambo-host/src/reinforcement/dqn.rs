//! Clipped double DQN: the paper's search for the worst member at every step of
//! DA1.
//!
//! The core's adversary sees (s, a) and not the time, but values to the end of
//! a horizon depend on it. So the critics see the time, and a third network, the
//! chooser, learns their advantages without it; it acts, and it is exported.

use serde::{Deserialize, Serialize};

use super::course::{Course, mean};
use super::dqn_step::{DqnStep, Rates, largest};
use super::drive::{EVALUATION, Step, drive};
use super::lanes::LaneNetwork;
use super::options::{Common, InputUnits, Rounds, Value, holds};
use super::replay::{Columns, Replay, Transition};
use super::weights::{Twins, Weights, widths};
use super::{Actions, Problem, ReinforcementError, RoundReport, TrainedChooser};
use crate::Error;
use crate::foundation::checkpoint::CheckpointError;
use crate::foundation::network::perceptron::{LayerShape, layer_shapes, parameter_count};
use crate::foundation::random::Random;

/// How clipped double DQN learns; sizes and rates are the paper's by default.
///
/// ```
/// use hambo_host::reinforcement::DoubleDqnOptions;
/// let options = DoubleDqnOptions { seed: 3, ..DoubleDqnOptions::default() };
/// assert_eq!((options.hidden.as_slice(), options.batch), (&[256, 256][..], 1024));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoubleDqnOptions {
    /// Widths of the hidden layers of all networks.
    pub hidden: Vec<usize>,
    /// What the critics predict.
    pub value: Value,
    /// The course of learning.
    pub rounds: Rounds,
    /// Transitions of a gradient step.
    pub batch: usize,
    /// The most transitions that are kept to learn from.
    pub replay: usize,
    /// Adam's rate.
    pub learning_rate: f32,
    /// Share of random choices in the first round.
    pub first_epsilon: f32,
    /// Share of random choices from round `epsilon_rounds` on.
    pub last_epsilon: f32,
    /// Rounds over which the share falls.
    pub epsilon_rounds: usize,
    /// How far the targets move towards the critics in each step.
    pub polyak: f32,
    /// Factor of all rewards; values of order 1 to 100 learn best.
    pub reward_scale: f32,
    /// Units of the observations; as they are if none.
    pub units: Option<InputUnits>,
    /// Seed of all that chance decides in the learner.
    pub seed: u64,
}

impl Default for DoubleDqnOptions {
    fn default() -> Self {
        Self {
            hidden: vec![256; 2],
            value: Value::Finite { discount: 1.0 },
            rounds: Rounds::default(),
            batch: 1024,
            replay: 1_000_000,
            learning_rate: 1e-3,
            first_epsilon: 1.0,
            last_epsilon: 0.05,
            epsilon_rounds: 10,
            polyak: 0.005,
            reward_scale: 1.0,
            units: None,
            seed: 0,
        }
    }
}

impl DoubleDqnOptions {
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
        let share = 0.0..=1.0;
        let first = share.contains(&self.first_epsilon);
        holds(first, "first_epsilon", "in [0, 1]")?;
        holds(
            share.contains(&self.last_epsilon),
            "last_epsilon",
            "in [0, 1]",
        )
    }

    /// Share of random choices in a round.
    fn epsilon(&self, round: usize) -> f32 {
        let part = (round as f32 / self.epsilon_rounds.max(1) as f32).min(1.0);
        self.first_epsilon + part * (self.last_epsilon - self.first_epsilon)
    }
}

/// Streams of the learner's chance.
const INITIAL: u64 = 2;
const COURSE: u64 = 3;

/// A learner between two rounds: all that it has become, ready for `serde`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoubleDqnState {
    options: DoubleDqnOptions,
    course: Course,
    chooser: Weights,
    twins: Twins,
    replay: Replay,
    /// Random numbers drawn so far.
    draws: u64,
}

/// The learner. [`Self::round`] until it returns `None`, then [`Self::chooser`].
///
/// ```
/// use hambo_host::Error;
/// use hambo_host::reinforcement::{Actions, DoubleDqn, DoubleDqnOptions, Problem, Rounds};
///
/// /// The last of three choices pays.
/// struct Guess;
///
/// impl Problem for Guess {
///     fn lanes(&self) -> usize {
///         1
///     }
///     fn observation_size(&self) -> usize {
///         1
///     }
///     fn actions(&self) -> Actions {
///         Actions::Discrete(3)
///     }
///     fn horizon(&self) -> usize {
///         10
///     }
///     fn start(&mut self, _: usize, _: u32) -> Result<(), Error> {
///         Ok(())
///     }
///     fn observe(&self, observations: &mut [f32]) {
///         observations.fill(1.0);
///     }
///     fn step(
///         &mut self,
///         actions: &[f32],
///         rewards: &mut [f32],
///         terminated: &mut [bool],
///     ) -> Result<(), Error> {
///         rewards[0] = if actions[0] == 2.0 { 1.0 } else { 0.0 };
///         terminated[0] = false;
///         Ok(())
///     }
/// }
///
/// let rounds = Rounds {
///     rounds: 5,
///     episodes: 10,
///     gradient_steps: 100,
///     evaluation_episodes: 1,
///     ..Rounds::default()
/// };
/// let options = DoubleDqnOptions {
///     hidden: vec![16],
///     rounds,
///     batch: 32,
///     ..DoubleDqnOptions::default()
/// };
/// let mut learner = DoubleDqn::new(&Guess, options)?;
/// let mut found = 0.0_f64;
/// while let Some(report) = learner.round(&mut Guess)? {
///     found = found.max(report.evaluation_return.unwrap_or(0.0));
/// }
/// assert_eq!(found, 10.0);
/// assert_eq!(learner.chooser().adversary().layers.len(), 2);
/// # Ok::<(), Error>(())
/// ```
pub struct DoubleDqn {
    state: DoubleDqnState,
    choices: usize,
    units: InputUnits,
    chooser_layers: Vec<LayerShape>,
    step: DqnStep,
    rates: Rates,
}

impl DoubleDqn {
    /// A learner with random weights for problems of this one's sizes.
    ///
    /// # Errors
    /// If the options are out of range or the problem's actions are numbers.
    pub fn new(
        problem: &dyn Problem,
        options: DoubleDqnOptions,
    ) -> Result<Self, ReinforcementError> {
        options.check()?;
        let sizes = Sizes::of(problem, &options)?;
        let mut random = Random::new(options.seed, INITIAL);
        let state = DoubleDqnState {
            course: Course::new(),
            chooser: Weights::new(&sizes.chooser, &mut random),
            twins: Twins::new(&sizes.critic, &mut random),
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
        state: DoubleDqnState,
    ) -> Result<Self, ReinforcementError> {
        let options = &state.options;
        options.check()?;
        let sizes = Sizes::of(problem, options)?;
        let choices = sizes.choices;
        let sound = state.chooser.fits(parameter_count(&sizes.chooser))
            && state.twins.fits(parameter_count(&sizes.critic))
            && state.course.is_sound(parameter_count(&sizes.chooser))
            && state.replay.is_sound(sizes.columns, options.replay)
            && state.replay.actions_below(choices);
        if !sound {
            let problem = "is damaged, or of a problem of other sizes";
            return Err(CheckpointError { problem }.into());
        }
        let tick = 1.0 / problem.horizon() as f32;
        Ok(Self {
            choices,
            units: InputUnits::of(options.units.as_ref(), problem)?,
            step: DqnStep::new(&sizes.chooser, &sizes.critic, options.batch),
            rates: Rates {
                discount: options.value.discount(),
                tick: matches!(options.value, Value::Finite { .. }).then_some(tick),
                learning_rate: options.learning_rate,
                polyak: options.polyak,
            },
            chooser_layers: sizes.chooser,
            state,
        })
    }

    /// All that the learner has become.
    #[must_use]
    pub fn state(&self) -> &DoubleDqnState {
        &self.state
    }

    /// The chooser with the best evaluation, or the last one without any.
    #[must_use]
    pub fn chooser(&self) -> TrainedChooser {
        let state = &self.state;
        let parameters = state.course.best(&state.chooser.parameters);
        TrainedChooser::new(&self.chooser_layers, parameters, &self.units)
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
            self.collect(problem, rounds.random_episodes, 1.0, &mut random)?;
        }
        let epsilon = self.state.options.epsilon(self.state.course.round);
        let returns = self.collect(problem, rounds.episodes, epsilon, &mut random)?;
        let mut loss = 0.0;
        for _ in 0..rounds.gradient_steps {
            let state = &mut self.state;
            state.replay.draw(&mut random, &mut self.step.batch);
            let (chooser, twins) = (&mut state.chooser, &mut state.twins);
            loss += self.step.learn(chooser, twins, &self.rates);
        }
        let state = &mut self.state;
        state.draws = random.draws();
        if !state.chooser.is_finite() || !state.twins.is_finite() {
            let round = state.course.round;
            return Err(ReinforcementError::Diverged { round }.into());
        }
        state.course.round += 1;
        let evaluation_return = match rounds.evaluation_episodes {
            0 => None,
            episodes => {
                let found = mean(&self.evaluate(problem, episodes)?);
                let state = &mut self.state;
                state.course.look(found, &state.chooser.parameters);
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
            exploration: epsilon,
        }))
    }

    /// Returns of the chooser of now, without chance.
    ///
    /// # Errors
    /// If the problem fails or its numbers are not finite.
    pub fn evaluate(&self, problem: &mut dyn Problem, episodes: usize) -> Result<Vec<f64>, Error> {
        let mut network = LaneNetwork::new(&self.chooser_layers, problem.lanes());
        let parameters = &self.state.chooser.parameters;
        let mut act = |observations: &[f32], actions: &mut [f32]| {
            network.forward(parameters, observations);
            let rows = network.values.chunks_exact(self.choices);
            for (action, preferences) in actions.iter_mut().zip(rows) {
                *action = largest(preferences) as f32;
            }
        };
        let numbers = EVALUATION..EVALUATION.saturating_add(episodes as u32);
        drive(problem, &self.units, numbers, &mut act, &mut |_| ())
    }

    /// Episodes with some random choices, kept to learn from.
    fn collect(
        &mut self,
        problem: &mut dyn Problem,
        episodes: usize,
        epsilon: f32,
        random: &mut Random,
    ) -> Result<Vec<f64>, Error> {
        let choices = self.choices;
        let mut network = LaneNetwork::new(&self.chooser_layers, problem.lanes());
        let state = &mut self.state;
        let parameters = &state.chooser.parameters;
        let mut act = |observations: &[f32], actions: &mut [f32]| {
            network.forward(parameters, observations);
            let rows = network.values.chunks_exact(choices);
            for (action, preferences) in actions.iter_mut().zip(rows) {
                let explores = random.uniform() < f64::from(epsilon);
                let any = (random.uniform() * choices as f64) as usize;
                *action = if explores { any } else { largest(preferences) } as f32;
            }
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
    choices: usize,
    columns: Columns,
    chooser: Vec<LayerShape>,
    critic: Vec<LayerShape>,
}

impl Sizes {
    fn of(problem: &dyn Problem, options: &DoubleDqnOptions) -> Result<Self, ReinforcementError> {
        let Actions::Discrete(choices) = problem.actions() else {
            return Err(ReinforcementError::Actions {
                learner: "double DQN",
                decides: "one of several choices",
                asks: problem.actions(),
            });
        };
        super::problem::check_sizes(problem, "number of choices", choices)?;
        let observation = problem.observation_size();
        let inputs = observation + options.value.time_inputs();
        Ok(Self {
            choices,
            columns: Columns {
                observation,
                action: 1,
            },
            chooser: layer_shapes(&widths(observation, &options.hidden, choices)),
            critic: layer_shapes(&widths(inputs, &options.hidden, choices)),
        })
    }
}
