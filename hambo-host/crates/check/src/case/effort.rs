//! How hard the worst case is looked for.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::reinforcement::Rounds;

/// Three levels. They are counted in sweeps, rounds and gradient steps, not
/// in seconds, so that a seed gives the same result on every machine; the
/// times are those of a small model (5 networks of 2 × 64) on two cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EffortLevel {
    /// Constants and 40 sweeps of the search, as on the device.
    Quick,
    /// The same with 50 sweeps.
    Normal,
    /// 200 sweeps, and a network learns the worst case. At most three states are solved on a
    /// grid; for more the search is begun again 20 times: minutes.
    Thorough,
}

/// How a network learns to hurt.
#[derive(Clone, Debug, PartialEq)]
pub struct Learning {
    /// Copies of the hallucinated system side by side.
    pub lanes: usize,
    /// Widths of the hidden layers; the paper's are 2 × 256.
    pub hidden: Vec<usize>,
    /// Transitions of a gradient step.
    pub batch: usize,
    /// How many episodes and gradient steps.
    pub rounds: Rounds,
    /// Seed of the learner, and of its own trajectories.
    pub seed: u64,
}

impl EffortLevel {
    /// As `--effort` takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Normal => "normal",
            Self::Thorough => "thorough",
        }
    }

    /// Sweeps of the core's search.
    #[must_use]
    pub fn sweeps(self) -> u32 {
        match self {
            Self::Quick => 40,
            Self::Normal => 50,
            Self::Thorough => 200,
        }
    }

    /// How networks learn, if they do.
    #[must_use]
    pub fn learning(self, seed: u64) -> Option<Learning> {
        (self == Self::Thorough).then(|| Learning {
            lanes: 64,
            hidden: vec![256; 2],
            batch: 256,
            rounds: Rounds {
                rounds: 60,
                episodes: 128,
                gradient_steps: 500,
                random_episodes: 128,
                evaluation_episodes: 64,
                patience: 10,
                most_steps: None,
            },
            // Not the seed of the trajectories that are judged.
            seed: seed.wrapping_add(1 << 32),
        })
    }
}
