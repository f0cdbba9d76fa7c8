//! Soft actor-critic (Haarnoja et al.): the paper's search for the worst eta of
//! CA, and the way to controllers on true systems.

use serde::{Deserialize, Serialize};

use super::driver::{Driver, StateOf};
use super::error::ReinforcementError;
use super::learner::{ActingNetwork, Exploration, Learner, Sizes};
use super::options::{LearningOptions, ensure_option, positive};
use super::problem::decision::Actions;
use super::replay::Batch;
use super::sac_step::{ActorCriticWeights, Rates, SacStep};
use super::squashed_gaussian::Draws;
use super::trained::TrainedActor;
use super::weights::{Twins, Weights};
use hambo_base::network::adam::Adam;
use hambo_base::network::perceptron::parameter_count;
use hambo_base::random::Random;

/// How soft actor-critic learns; the defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoftActorCriticOptions {
    /// What double DQN is told as well.
    pub learning: LearningOptions,
    /// Adam's rate for the logarithm of the temperature.
    pub temperature_rate: f32,
    /// The temperature at first: what a unit of entropy is worth in (scaled) reward.
    pub temperature: f32,
    /// The entropy that the temperature steers to; minus the number of actions if none.
    pub target_entropy: Option<f32>,
    /// What a unit of the logged actions' log likelihood is worth in (scaled) reward, to an
    /// actor that learns from a log as well.
    pub imitation: f32,
}

impl Default for SoftActorCriticOptions {
    fn default() -> Self {
        Self {
            learning: LearningOptions::default(),
            temperature_rate: 5e-5,
            temperature: 0.1,
            target_entropy: None,
            imitation: 0.0,
        }
    }
}

/// Soft actor-critic: [`Driver::round`] until it returns `None`, then [`Driver::actor`].
pub type SoftActorCritic = Driver<ActorCritic>;

/// The state of [`SoftActorCritic`] between two rounds.
pub type SoftActorCriticState = StateOf<ActorCritic>;

impl SoftActorCritic {
    /// The actor with the best evaluation, or the last one without any.
    #[must_use]
    pub fn actor(&self) -> TrainedActor {
        let (layers, units) = self.best();
        TrainedActor { layers, units }
    }

    /// Lets the actor imitate the logged actions before it learns, by `steps` of greatest
    /// likelihood. Without [`learn_from_log`](Driver::learn_from_log) there is nothing to imitate.
    pub fn imitate(&mut self, steps: usize) {
        let mut random = self.random();
        for _ in 0..steps {
            let Some((learner, weights, batch)) = self.logged_batch(&mut random) else {
                return;
            };
            let rate = learner.rates.learning_rate;
            learner.step.imitate(&mut weights.actor, batch, rate);
        }
        self.keep_random(&random);
    }

    /// Sets the actor's learning rate, which is that of the critics at first; without one only
    /// the critics learn. It is no part of the state.
    pub fn set_actor_rate(&mut self, rate: Option<f32>) {
        self.learner_mut().rates.actor_rate = rate;
    }

    /// The current actor.
    #[must_use]
    pub fn last_actor(&self) -> TrainedActor {
        let (layers, units) = self.last();
        TrainedActor { layers, units }
    }
}

/// An actor that draws its actions, and two critics.
pub struct ActorCritic {
    actions: usize,
    step: SacStep,
    rates: Rates,
    /// Of all lanes in exploration.
    draws: Draws,
}

impl Learner for ActorCritic {
    type Options = SoftActorCriticOptions;
    type Weights = ActorCriticWeights;

    const NAMES: [&'static str; 2] = ["soft actor-critic", "numbers"];
    const STREAMS: [u32; 2] = [1, 2];

    fn learning(options: &SoftActorCriticOptions) -> &LearningOptions {
        &options.learning
    }

    fn check(options: &SoftActorCriticOptions) -> Result<(), ReinforcementError> {
        let rate = options.temperature_rate >= 0.0 && options.temperature_rate.is_finite();
        ensure_option(rate, "temperature_rate", "0 or positive")?;
        ensure_option(positive(options.temperature), "temperature", "positive")?;
        let imitation = options.imitation >= 0.0 && options.imitation.is_finite();
        ensure_option(imitation, "imitation", "0 or positive")?;
        let finite = options.target_entropy.is_none_or(f32::is_finite);
        ensure_option(finite, "target_entropy", "finite")
    }

    fn decides(actions: Actions) -> Option<(&'static str, usize)> {
        match actions {
            Actions::Continuous(count) => Some(("number of actions", count)),
            Actions::Discrete(_) => None,
        }
    }

    fn widths(count: usize) -> [usize; 3] {
        [2 * count, count, 1]
    }

    fn first_weights(
        sizes: &Sizes,
        options: &SoftActorCriticOptions,
        random: &mut Random,
    ) -> ActorCriticWeights {
        ActorCriticWeights {
            actor: Weights::new(&sizes.actor, random),
            twins: Twins::new(&sizes.critic, random),
            temperature: Weights {
                parameters: vec![options.temperature.ln()],
                adam: Adam::new(1),
            },
        }
    }

    fn new(sizes: &Sizes, options: &SoftActorCriticOptions, tick: Option<f32>) -> Self {
        let (actions, learning) = (sizes.count, &options.learning);
        Self {
            actions,
            step: SacStep::new(&sizes.actor, &sizes.critic, learning.batch),
            rates: Rates {
                discount: learning.later_discount(),
                tick,
                target_entropy: options.target_entropy.unwrap_or(-(actions as f32)),
                learning_rate: learning.learning_rate,
                actor_rate: Some(learning.learning_rate),
                imitation: options.imitation,
                temperature_rate: options.temperature_rate,
                polyak: learning.polyak,
            },
            draws: Draws::default(),
        }
    }

    fn fits(weights: &ActorCriticWeights, sizes: &Sizes) -> bool {
        weights.actor.fits(parameter_count(&sizes.actor))
            && weights.twins.fits(parameter_count(&sizes.critic))
            && weights.temperature.fits(1)
    }

    fn actor(weights: &ActorCriticWeights) -> &Weights {
        &weights.actor
    }

    fn explore(&mut self, network: &mut ActingNetwork<'_>, random: &mut Random, how: Exploration) {
        if how == Exploration::Random {
            let uniform = |a: &mut f32| *a = 2.0 * random.uniform() - 1.0;
            network.actions.iter_mut().for_each(uniform);
            return;
        }
        let (outputs, actions) = network.outputs_and_actions();
        if self.draws.actions.len() != actions.len() {
            self.draws = Draws::new(actions.len() / self.actions, self.actions);
        }
        let normal = |number: &mut f32| *number = random.normal();
        self.draws.noise.iter_mut().for_each(normal);
        self.draws.draw(outputs, self.actions);
        actions.copy_from_slice(&self.draws.actions);
    }

    fn act(&self, outputs: &[f32], actions: &mut [f32]) {
        let rows = outputs.chunks_exact(2 * self.actions);
        for (action, outputs) in actions.chunks_exact_mut(self.actions).zip(rows) {
            for (a, mean) in action.iter_mut().zip(outputs) {
                *a = mean.tanh();
            }
        }
    }

    fn learn(
        &mut self,
        weights: &mut ActorCriticWeights,
        batch: &Batch,
        random: &mut Random,
    ) -> f64 {
        self.step.make_noise(random);
        self.step.learn(weights, batch, &self.rates)
    }

    fn exploration(&self, weights: &ActorCriticWeights, _: usize) -> f32 {
        weights.temperature.parameters[0].exp()
    }
}
