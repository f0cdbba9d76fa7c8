//! How hard the worst case is looked for.

use crate::reinforcement::Rounds;

/// Three levels. They are counted in sweeps, rounds and gradient steps, not
/// in seconds, so that a seed gives the same result on every machine; the
/// times are those of a small model (5 networks of 2 × 64) on two cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffortLevel {
    /// Constants and the core's search: what the device does. A second.
    Quick,
    /// A network learns as well. Half a minute.
    Normal,
    /// More of both, towards the paper's sizes. Minutes.
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
    /// Sweeps of the core's search.
    #[must_use]
    pub fn sweeps(self) -> u32 {
        match self {
            Self::Quick | Self::Normal => 40,
            Self::Thorough => 200,
        }
    }

    /// How networks learn, if they do.
    ///
    /// ```
    /// use hambo_host::check::adversary::EffortLevel;
    /// assert!(EffortLevel::Quick.learning(0).is_none());
    /// assert!(EffortLevel::Thorough.learning(0).is_some());
    /// ```
    #[must_use]
    pub fn learning(self, seed: u64) -> Option<Learning> {
        let rounds = |rounds, episodes, gradient_steps, patience| Rounds {
            rounds,
            episodes,
            gradient_steps,
            random_episodes: episodes,
            evaluation_episodes: 64,
            patience,
        };
        let rounds = match self {
            Self::Quick => return None,
            Self::Normal => rounds(12, 64, 250, 6),
            Self::Thorough => rounds(60, 128, 500, 10),
        };
        Some(Learning {
            lanes: 64,
            hidden: vec![256; 2],
            batch: 256,
            rounds,
            // Not the seed of the trajectories that are judged.
            seed: seed.wrapping_add(1 << 32),
        })
    }
}
