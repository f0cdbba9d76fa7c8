//! How much is done for table 1: what one core can do in an hour, and a version in seconds.

use hambo_learn::calibration::CalibrationMode;

/// Sizes of logs, models and learners of table 1.
#[derive(Clone, Debug, PartialEq)]
pub struct OfflineEffort {
    /// Episodes of a log; D4RL's logs have 1,000.
    pub episodes: u32,
    /// Steps of a logged episode, and of one that scores a controller; D4RL's have 1,000.
    pub steps: u32,
    /// Widths of the models' hidden layers; the paper's are 4 × 256.
    pub model: Vec<usize>,
    /// Updates of the models, unless the validation rows end them.
    pub model_steps: usize,
    /// Widths of the hidden layers of controller, critics and adversary.
    pub learners: Vec<usize>,
    /// Rounds of controller and adversary.
    pub rounds: usize,
    /// Rollouts of the model in a round.
    pub rollouts: usize,
    /// Steps of each.
    pub rollout: u32,
    /// Gradient steps of the controller in a round.
    pub controller_steps: usize,
    /// Gradient steps of the adversary in a round.
    pub adversary_steps: usize,
    /// How the controller of a medium log is imitated.
    pub imitation: Imitation,
    /// Learning rate of critics and adversary.
    pub learning_rate: f32,
    /// The share of the log in the controller's batches.
    pub logged_share: f32,
    /// Half the width of CA's set, in calibrated standard deviations; the authors' is 1.
    pub beta: f32,
    /// How the set is calibrated.
    pub calibration: CalibrationMode,
    /// The seed of log, model, learners and checks.
    pub seed: u64,
    /// Rounds from one judged controller to the next.
    pub judge_every: usize,
    /// Horizon of the checks that judge them.
    pub judged_steps: u32,
    /// Trajectories of such a check.
    pub judged_trajectories: u32,
    /// Episodes of the true system that score a controller in the end.
    pub scored: u32,
}

/// How a controller follows that of the log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imitation {
    /// Gradient steps before it learns anything else.
    pub steps: usize,
    /// What a unit of the logged actions' log likelihood is worth to it afterwards.
    pub weight: f32,
    /// Rounds in which only its critics learn.
    pub critic_rounds: usize,
    /// Its learning rate, as a part of its critics'.
    pub actor_rate: f32,
}

impl Imitation {
    /// It begins from nothing.
    #[must_use]
    pub fn none() -> Self {
        Self {
            steps: 0,
            weight: 0.0,
            critic_rounds: 0,
            actor_rate: 1.0,
        }
    }
}

impl OfflineEffort {
    /// What the repository's rows are made with.
    #[must_use]
    pub fn full() -> Self {
        Self {
            episodes: 400,
            steps: 1000,
            model: vec![256; 3],
            model_steps: 30_000,
            learners: vec![256; 2],
            rounds: 140,
            rollouts: 2048,
            rollout: 5,
            controller_steps: 500,
            adversary_steps: 100,
            imitation: Imitation {
                steps: 30_000,
                weight: 0.15,
                critic_rounds: 40,
                actor_rate: 1.0,
            },
            learning_rate: 3e-4,
            logged_share: 0.5,
            beta: 1.0,
            calibration: CalibrationMode::Paper,
            seed: 0,
            judge_every: 20,
            judged_steps: 1000,
            judged_trajectories: 64,
            scored: 20,
        }
    }

    /// A version that shows the way in seconds and reaches nothing.
    #[must_use]
    pub fn quick() -> Self {
        Self {
            episodes: 10,
            steps: 100,
            model: vec![32; 2],
            model_steps: 300,
            learners: vec![32; 2],
            rounds: 4,
            rollouts: 64,
            controller_steps: 50,
            adversary_steps: 10,
            imitation: Imitation {
                steps: 200,
                critic_rounds: 1,
                ..Self::full().imitation
            },
            judge_every: 2,
            judged_steps: 10,
            judged_trajectories: 32,
            scored: 4,
            ..Self::full()
        }
    }

    /// How it differs from D4RL and from the paper, in a sentence.
    #[must_use]
    pub fn difference(&self) -> String {
        let by = |widths: &[usize]| {
            let widths: Vec<String> = widths.iter().map(ToString::to_string).collect();
            widths.join(" × ")
        };
        let Self {
            episodes, steps, ..
        } = self;
        format!(
            "one seed; logs of {episodes} episodes of {steps} steps (D4RL: 1000 of 1000); 5 networks \
             of {} units, at most {} updates; controller, critics and adversary of {} units, {} \
             gradient steps of the controller",
            by(&self.model),
            self.model_steps,
            by(&self.learners),
            self.rounds * self.controller_steps,
        )
    }
}
