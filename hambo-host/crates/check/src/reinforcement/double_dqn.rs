//! Clipped double DQN: the paper's search for the worst member at every step of
//! DA1.
//!
//! The core's adversary sees (s, a) and not the time, but values to the end of
//! a horizon depend on it. So the critics see the time, and a third network, the
//! chooser, learns their advantages without it; it acts, and it is exported.

use serde::{Deserialize, Serialize};

use super::dqn_step::{ChooserWeights, DqnStep, Rates, largest};
use super::driver::{Driver, StateOf};
use super::error::ReinforcementError;
use super::learner::{ActingNetwork, Exploration, Learner, Sizes};
use super::options::{LearningOptions, ensure_option};
use super::problem::decision::Actions;
use super::replay::Batch;
use super::trained::TrainedChooser;
use super::weights::{Twins, Weights};
use hambo_base::network::perceptron::parameter_count;
use hambo_base::random::Random;

/// How clipped double DQN learns; sizes and rates are the paper's by default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoubleDqnOptions {
    /// What soft actor-critic is told as well.
    pub learning: LearningOptions,
    /// Share of random choices in the first round.
    pub first_epsilon: f32,
    /// Share of random choices from round `epsilon_rounds` on.
    pub last_epsilon: f32,
    /// Rounds over which the share falls.
    pub epsilon_rounds: usize,
}

impl Default for DoubleDqnOptions {
    fn default() -> Self {
        Self {
            learning: LearningOptions::default(),
            first_epsilon: 1.0,
            last_epsilon: 0.05,
            epsilon_rounds: 10,
        }
    }
}

impl DoubleDqnOptions {
    /// Share of random choices in a round.
    fn epsilon(&self, round: usize) -> f32 {
        let part = (round as f32 / self.epsilon_rounds.max(1) as f32).min(1.0);
        self.first_epsilon + part * (self.last_epsilon - self.first_epsilon)
    }
}

/// Clipped double DQN: [`Driver::round`] until it returns `None`, then [`Driver::chooser`].
/// It is used like [`SoftActorCritic`](super::SoftActorCritic), whose example shows a run.
pub type DoubleDqn = Driver<Chooser>;

/// The state of [`DoubleDqn`] between two rounds.
pub type DoubleDqnState = StateOf<Chooser>;

impl DoubleDqn {
    /// The chooser with the best evaluation, or the last one without any.
    #[must_use]
    pub fn chooser(&self) -> TrainedChooser {
        let (layers, units) = self.best();
        TrainedChooser { layers, units }
    }
}

/// A network that chooses, and two critics.
pub struct Chooser {
    choices: usize,
    options: DoubleDqnOptions,
    step: DqnStep,
    rates: Rates,
}

impl Learner for Chooser {
    type Options = DoubleDqnOptions;
    type Weights = ChooserWeights;

    const NAMES: [&'static str; 2] = ["double DQN", "one of several choices"];
    const STREAMS: [u32; 2] = [3, 4];

    fn learning(options: &DoubleDqnOptions) -> &LearningOptions {
        &options.learning
    }

    fn check(options: &DoubleDqnOptions) -> Result<(), ReinforcementError> {
        let share =
            |epsilon, name| ensure_option((0.0..=1.0).contains(&epsilon), name, "in [0, 1]");
        share(options.first_epsilon, "first_epsilon")?;
        share(options.last_epsilon, "last_epsilon")
    }

    fn decides(actions: Actions) -> Option<(&'static str, usize)> {
        match actions {
            Actions::Continuous(_) => None,
            Actions::Discrete(count) => Some(("number of choices", count)),
        }
    }

    fn widths(count: usize) -> [usize; 3] {
        [count, 0, count]
    }

    fn first_weights(sizes: &Sizes, _: &DoubleDqnOptions, random: &mut Random) -> ChooserWeights {
        ChooserWeights {
            chooser: Weights::new(&sizes.actor, random),
            twins: Twins::new(&sizes.critic, random),
        }
    }

    fn new(sizes: &Sizes, options: &DoubleDqnOptions, tick: Option<f32>) -> Self {
        let learning = &options.learning;
        Self {
            choices: sizes.count,
            step: DqnStep::new(&sizes.actor, &sizes.critic, learning.batch),
            rates: Rates {
                discount: learning.later_discount(),
                tick,
                learning_rate: learning.learning_rate,
                polyak: learning.polyak,
            },
            options: options.clone(),
        }
    }

    fn fits(weights: &ChooserWeights, sizes: &Sizes) -> bool {
        weights.chooser.fits(parameter_count(&sizes.actor))
            && weights.twins.fits(parameter_count(&sizes.critic))
    }

    fn actor(weights: &ChooserWeights) -> &Weights {
        &weights.chooser
    }

    fn explore(&mut self, network: &mut ActingNetwork<'_>, random: &mut Random, how: Exploration) {
        let epsilon = match how {
            Exploration::Random => 1.0,
            Exploration::OfRound(round) => self.options.epsilon(round),
        };
        let (outputs, actions) = network.outputs_and_actions();
        let rows = outputs.chunks_exact(self.choices);
        for (action, preferences) in actions.iter_mut().zip(rows) {
            let explores = random.uniform() < epsilon;
            let any = random.index(self.choices);
            *action = if explores { any } else { largest(preferences) } as f32;
        }
    }

    fn act(&self, outputs: &[f32], actions: &mut [f32]) {
        let rows = outputs.chunks_exact(self.choices);
        for (action, preferences) in actions.iter_mut().zip(rows) {
            *action = largest(preferences) as f32;
        }
    }

    fn learn(&mut self, weights: &mut ChooserWeights, batch: &Batch, _: &mut Random) -> f64 {
        self.step.learn(weights, batch, &self.rates)
    }

    fn exploration(&self, _: &ChooserWeights, round: usize) -> f32 {
        self.options.epsilon(round)
    }
}
