//! The one loop of both learners: rounds of whole episodes, each followed by
//! gradient steps and an evaluation, with the transitions kept to learn from.

use serde::{Deserialize, Serialize};

use super::episodes::{EVALUATION, Step, run_episodes};
use super::error::ReinforcementError;
use super::history::RoundReport;
use super::history::{History, mean};
use super::lanes::LaneNetwork;
use super::learner::{ActingNetwork, Exploration, Learner, Sizes};
use super::logged::{Logged, LoggedStep};
use super::options::{InputUnits, Value};
use super::problem::decision::{Actions, Problem};
use super::replay::{Batch, Replay};
use super::waves::Waves;
use super::window::Window;
use hambo_base::Error;
use hambo_base::checkpoint::CheckpointError;
use hambo_base::network::perceptron::parameter_count;
use hambo_base::network::{Layer, unpack};
use hambo_base::random::Random;

/// Where a learner explores with waves, one lane in this many does in every round.
const WAVES_EVERY: usize = 8;

/// A learner between two rounds: all that it has become, ready for `serde`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriverState<Options, Weights> {
    options: Options,
    history: History,
    weights: Weights,
    replay: Replay,
    /// Random numbers drawn so far.
    draws: u64,
}

impl<Options, Weights> DriverState<Options, Weights> {
    /// The options it was begun with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Steps in the problem so far, evaluations apart.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.history.steps
    }
}

/// The state of a learner of this kind.
pub type StateOf<L> = DriverState<<L as Learner>::Options, <L as Learner>::Weights>;

/// A learner with its rounds: [`Self::round`] until it returns `None`.
pub struct Driver<L: Learner> {
    state: StateOf<L>,
    units: InputUnits,
    sizes: Sizes,
    batch: Batch,
    learner: L,
    logged: Option<Logged>,
}

impl<L: Learner> Driver<L> {
    /// A learner with random weights for problems of this one's sizes.
    ///
    /// # Errors
    /// If the options are out of range or the learner cannot decide the problem's actions.
    pub fn new(problem: &dyn Problem, options: L::Options) -> Result<Self, ReinforcementError> {
        let learning = L::learning(&options);
        learning.check()?;
        L::check(&options)?;
        let sizes = Sizes::of::<L>(problem, learning)?;
        let mut random = Random::new(learning.seed, L::STREAMS[0]);
        let state = DriverState {
            history: History::new(),
            weights: L::first_weights(&sizes, &options, &mut random),
            replay: Replay::new(sizes.columns, learning.replay),
            draws: 0,
            options,
        };
        Self::resume(problem, state)
    }

    /// A learner that goes on where a state was taken, as if never stopped.
    ///
    /// # Errors
    /// If the state is not one of a learner for such a problem.
    pub fn resume(problem: &dyn Problem, state: StateOf<L>) -> Result<Self, ReinforcementError> {
        let learning = L::learning(&state.options);
        learning.check()?;
        L::check(&state.options)?;
        let sizes = Sizes::of::<L>(problem, learning)?;
        let choices = match problem.actions() {
            Actions::Continuous(_) => None,
            Actions::Discrete(choices) => Some(choices),
        };
        let sound = L::fits(&state.weights, &sizes)
            && state.history.is_sound(parameter_count(&sizes.actor))
            && state.replay.is_sound(sizes.columns, learning.replay)
            && choices.is_none_or(|choices| state.replay.actions_below(choices));
        if !sound {
            let problem = "is damaged, or of a problem of other sizes";
            return Err(CheckpointError { problem }.into());
        }
        let tick = matches!(learning.value, Value::Finite { .. });
        let tick = tick.then_some(learning.steps as f32 / problem.horizon() as f32);
        Ok(Self {
            units: InputUnits::of(learning.units.as_ref(), problem)?,
            batch: Batch::new(learning.batch),
            learner: L::new(&sizes, &state.options, tick),
            sizes,
            state,
            logged: None,
        })
    }

    /// From now on a share of every batch comes from these transitions: (state, action in
    /// [−1, 1], next state, reward), of episodes that do not end. They are no part of
    /// [`Self::state`]: who resumes gives them again.
    ///
    /// # Errors
    /// If a row is not of the problem's sizes, or values end with the horizon: a log does not
    /// know when.
    pub fn learn_from_log<'r>(
        &mut self,
        rows: impl Iterator<Item = LoggedStep<'r>>,
        share: f32,
    ) -> Result<(), ReinforcementError> {
        let learning = L::learning(&self.state.options);
        let logged = Logged::new(rows, share, self.sizes.columns, learning, &self.units)?;
        self.logged = Some(logged).filter(|logged| !logged.is_empty());
        Ok(())
    }

    /// A batch of logged transitions alone, and who may learn from it; `None` without a log.
    pub(super) fn logged_batch(
        &mut self,
        random: &mut Random,
    ) -> Option<(&mut L, &mut L::Weights, &Batch)> {
        self.logged.as_ref()?.draw(random, &mut self.batch);
        Some((&mut self.learner, &mut self.state.weights, &self.batch))
    }

    pub(super) fn learner_mut(&mut self) -> &mut L {
        &mut self.learner
    }

    /// Random numbers from where the learner stands.
    pub(super) fn random(&self) -> Random {
        let seed = L::learning(&self.state.options).seed;
        Random::at(seed, L::STREAMS[1], self.state.draws)
    }

    /// Where it stands after some were drawn.
    pub(super) fn keep_random(&mut self, random: &Random) {
        self.state.draws = random.draws();
    }

    /// All that the learner has become.
    #[must_use]
    pub fn state(&self) -> &StateOf<L> {
        &self.state
    }

    #[must_use]
    pub fn rounds_done(&self) -> usize {
        self.state.history.round
    }

    /// One round: episodes, gradient steps, evaluation. `None` when learning is
    /// over. The problem may change from round to round, not its sizes.
    ///
    /// # Errors
    /// If the problem fails or its numbers, or the weights, are not finite.
    pub fn round(&mut self, problem: &mut dyn Problem) -> Result<Option<RoundReport>, Error> {
        let learning = L::learning(&self.state.options);
        let rounds = learning.rounds.clone();
        if self.state.history.is_over(&rounds, problem.horizon()) {
            return Ok(None);
        }
        let sizes = Sizes::of::<L>(problem, learning)?;
        self.state.replay.check(sizes.columns)?;
        let mut random = Random::at(learning.seed, L::STREAMS[1], self.state.draws);
        let round = self.state.history.round;
        if round == 0 && rounds.random_episodes > 0 {
            let how = Exploration::Random;
            self.collect(problem, rounds.random_episodes, how, &mut random)?;
            let full = (rounds.random_episodes * problem.horizon()) as u64;
            while rounds.most_steps.is_some() && self.state.history.steps < full {
                self.collect(problem, 1, how, &mut random)?;
            }
        }
        let how = Exploration::OfRound(round);
        let before = self.state.history.steps;
        let returns = self.collect(problem, rounds.episodes, how, &mut random)?;
        let gradient_steps = match rounds.most_steps {
            Some(_) => (self.state.history.steps - before) as usize,
            None => rounds.gradient_steps,
        };
        let mut loss = 0.0;
        for _ in 0..gradient_steps {
            loss += self.gradient_step(&mut random);
        }
        self.state.draws = random.draws();
        if !L::fits(&self.state.weights, &self.sizes) {
            return Err(ReinforcementError::Diverged { round }.into());
        }
        self.state.history.round += 1;
        let evaluation_return = match rounds.evaluation_episodes {
            0 => None,
            episodes => {
                let found = mean(&self.evaluate(problem, episodes)?);
                let state = &mut self.state;
                let parameters = &L::actor(&state.weights).parameters;
                state.history.note(found, parameters);
                Some(found)
            }
        };
        Ok(Some(RoundReport {
            round: self.state.history.round,
            rounds: rounds.rounds,
            most_steps: rounds.most_steps,
            steps: self.state.history.steps,
            training_return: mean(&returns),
            evaluation_return,
            critic_loss: loss / gradient_steps as f64,
            exploration: self.learner.exploration(&self.state.weights, round),
        }))
    }

    /// Returns of the current learner, without exploration.
    ///
    /// # Errors
    /// If the problem fails or its numbers are not finite.
    pub fn evaluate(&self, problem: &mut dyn Problem, episodes: usize) -> Result<Vec<f64>, Error> {
        let mut network = LaneNetwork::new(&self.sizes.actor, problem.lanes());
        let parameters = &L::actor(&self.state.weights).parameters;
        let mut act = |observations: &[f32], actions: &mut [f32]| {
            network.forward(parameters, observations);
            self.learner.act(&network.values, actions);
        };
        let numbers = EVALUATION..EVALUATION.saturating_add(episodes as u32);
        run_episodes(problem, &self.units, numbers, &mut act, &mut |_| ())
    }

    /// One gradient step from the transitions so far; returns the critics' mean
    /// squared error.
    pub fn gradient_step(&mut self, random: &mut Random) -> f64 {
        let state = &mut self.state;
        match &self.logged {
            Some(logged) => logged.draw_beside(&state.replay, random, &mut self.batch),
            None => state.replay.draw(random, &mut self.batch),
        }
        self.learner.learn(&mut state.weights, &self.batch, random)
    }

    /// Layers of the acting network with the best evaluation, or of the last one
    /// without any; and the units of what it sees.
    pub(super) fn best(&self) -> (Vec<Layer>, InputUnits) {
        let last = &L::actor(&self.state.weights).parameters;
        let parameters = self.state.history.best(last);
        (unpack(&self.sizes.actor, parameters), self.units.clone())
    }

    /// Layers of the current network.
    pub(super) fn last(&self) -> (Vec<Layer>, InputUnits) {
        let parameters = &L::actor(&self.state.weights).parameters;
        (unpack(&self.sizes.actor, parameters), self.units.clone())
    }

    /// What learns and what it is told, for tests.
    #[cfg(test)]
    pub(super) fn weights(&self) -> &L::Weights {
        &self.state.weights
    }

    /// Episodes with exploration, kept to learn from.
    fn collect(
        &mut self,
        problem: &mut dyn Problem,
        episodes: usize,
        how: Exploration,
        random: &mut Random,
    ) -> Result<Vec<f64>, Error> {
        let mut network = LaneNetwork::new(&self.sizes.actor, problem.lanes());
        let state = &mut self.state;
        let parameters = &L::actor(&state.weights).parameters;
        let learner = &mut self.learner;
        let learning = L::learning(&state.options);
        let every = match how {
            Exploration::Random => 1,
            Exploration::OfRound(_) => WAVES_EVERY,
        };
        let (actions, horizon, lanes) = (problem.actions(), problem.horizon(), problem.lanes());
        let waves = learning.waves;
        let mut waves = waves.then(|| Waves::new(actions, horizon, lanes, random));
        let mut act = |observations: &[f32], actions: &mut [f32]| {
            let mut network = ActingNetwork {
                network: &mut network,
                parameters,
                observations,
                actions,
            };
            learner.explore(&mut network, random, how);
            if let Some(waves) = &mut waves {
                waves.act(every, actions, random);
            }
        };
        let (value, scale) = (learning.value, learning.reward_scale);
        let mut window = Window::new(learning.steps, value, scale, horizon);
        let (replay, history) = (&mut state.replay, &mut state.history);
        let numbers = history.begin(episodes);
        let mut keep = |step: &Step<'_>| {
            history.steps += 1;
            window.add(step, &mut |transition| replay.push(transition));
        };
        run_episodes(problem, &self.units, numbers, &mut act, &mut keep)
    }
}
