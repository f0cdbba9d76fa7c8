//! How controllers are improved.

use hambo_core::variant::Variant;
use serde::{Deserialize, Serialize};

use crate::reinforcement::{Rounds, SoftActorCriticOptions, Value};

/// Sizes and rates of the two learners, and how candidates are judged.
///
/// ```
/// use hambo_host::improve::ImproveOptions;
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
            judge_every: 5,
            seed: 0,
        }
    }
}

impl ImproveOptions {
    pub(super) fn value(&self) -> Value {
        Value::Endless {
            discount: self.discount,
        }
    }

    pub(super) fn rounds_of(&self, gradient_steps: usize) -> Rounds {
        Rounds {
            rounds: self.rounds,
            episodes: self.rollouts,
            gradient_steps,
            random_episodes: self.rollouts,
            // The duel judges; the learners keep their last weights.
            evaluation_episodes: 0,
            patience: self.rounds,
        }
    }

    pub(super) fn controller(&self, reward_scale: f32) -> SoftActorCriticOptions {
        SoftActorCriticOptions {
            hidden: self.hidden.clone(),
            value: self.value(),
            rounds: self.rounds_of(self.controller_steps),
            batch: self.batch,
            replay: 200_000,
            // Steers the entropy within a few hundred steps.
            temperature_rate: 1e-3,
            reward_scale,
            seed: self.seed,
            ..SoftActorCriticOptions::default()
        }
    }
}
