//! How controllers are improved.

use hambo_core::task::Variant;
use serde::{Deserialize, Serialize};

use crate::reinforcement::{InputUnits, LearningOptions, Rounds, SoftActorCriticOptions, Value};

/// Sizes and rates of the two learners, and how candidates are judged.
///
/// ```
/// use hambo_check::improve::ImproveOptions;
/// let options = ImproveOptions { seed: 3, ..ImproveOptions::default() };
/// assert_eq!(options.horizon, 20);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImproveOptions {
    /// Whom the controller has to stand up to: CA or DA1.
    pub variant: Variant,
    /// Steps of a rollout of the model from a state of the log.
    pub horizon: u32,
    /// Rounds of each learner.
    pub rounds: usize,
    /// Rollouts of a round, side by side.
    pub rollouts: usize,
    /// Gradient steps of the controller in a round.
    pub controller_steps: usize,
    /// Gradient steps of the adversary in a round.
    pub adversary_steps: usize,
    /// Widths of the hidden layers of all networks.
    pub hidden: Vec<usize>,
    /// Transitions of a gradient step.
    pub batch: usize,
    /// What a reward is worth one step later.
    pub discount: f32,
    /// Adam's rate of both learners.
    pub learning_rate: f32,
    /// The share of the controller's batches that are rows of the log itself. Only for tasks
    /// that do not terminate: a log does not say which of its rows did.
    pub logged_share: f32,
    /// Gradient steps by which the controller imitates the log before the first round.
    pub imitation_steps: usize,
    /// What a unit of the logged actions' log likelihood is worth to the controller.
    pub imitation: f32,
    /// Rounds before the controller learns: its critics get to know what it imitates.
    pub critic_rounds: usize,
    /// The controller's learning rate, as a part of its critics'.
    pub actor_rate: f32,
    /// Whether the controller's learning rate falls to 0 along a line.
    pub anneal: bool,
    /// How much of a candidate's weights stays from round to round: candidates are averages over
    /// about 1 / (1 − averaging) rounds. With 0 they are the current controller.
    pub averaging: f32,
    /// Rounds from one candidate to the next.
    pub judge_every: usize,
    /// Seed of everything.
    pub seed: u64,
}

impl Default for ImproveOptions {
    fn default() -> Self {
        Self {
            variant: Variant::ContinuousAdversary,
            horizon: 20,
            rounds: 60,
            rollouts: 64,
            controller_steps: 200,
            adversary_steps: 50,
            hidden: vec![256; 2],
            batch: 256,
            discount: 0.99,
            learning_rate: 1e-3,
            logged_share: 0.0,
            imitation_steps: 0,
            imitation: 0.0,
            critic_rounds: 0,
            actor_rate: 1.0,
            anneal: false,
            averaging: 0.0,
            judge_every: 5,
            seed: 0,
        }
    }
}

impl ImproveOptions {
    /// Options of a learner with this many gradient steps in a round.
    pub(super) fn learning(
        &self,
        gradient_steps: usize,
        reward_scale: f32,
        units: InputUnits,
    ) -> LearningOptions {
        LearningOptions {
            hidden: self.hidden.clone(),
            value: Value::Endless {
                discount: self.discount,
            },
            rounds: Rounds {
                rounds: self.rounds,
                episodes: self.rollouts,
                gradient_steps,
                // What imitates needs no chance to begin with.
                random_episodes: match self.imitation_steps {
                    0 => self.rollouts,
                    _ => 0,
                },
                // Candidates are judged by a check; the learners keep their last weights.
                evaluation_episodes: 0,
                patience: self.rounds,
                most_steps: None,
            },
            batch: self.batch,
            learning_rate: self.learning_rate,
            reward_scale,
            units: Some(units),
            seed: self.seed,
            ..LearningOptions::default()
        }
    }

    pub(super) fn controller(
        &self,
        reward_scale: f32,
        units: InputUnits,
    ) -> SoftActorCriticOptions {
        SoftActorCriticOptions {
            learning: LearningOptions {
                replay: 200_000,
                ..self.learning(self.controller_steps, reward_scale, units)
            },
            // Steers the entropy within a few hundred steps.
            temperature_rate: 1e-3,
            imitation: self.imitation,
            ..SoftActorCriticOptions::default()
        }
    }
}
