//! How controllers are improved.

use hambo_core::variant::Variant;
use serde::{Deserialize, Serialize};

use crate::reinforcement::{InputUnits, LearningOptions, Rounds, SoftActorCriticOptions, Value};

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
    /// What a learner is told that takes so many gradient steps in a round.
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
                random_episodes: self.rollouts,
                // Candidates are judged by a check; the learners keep their last weights.
                evaluation_episodes: 0,
                patience: self.rounds,
                most_steps: None,
            },
            batch: self.batch,
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
            ..SoftActorCriticOptions::default()
        }
    }
}
