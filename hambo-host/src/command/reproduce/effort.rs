//! How much is done: the full version, and one that takes minutes.

use hambo_core::task::Allocation;

use super::agents::{AGENTS, Agents};
use super::setting::CheckSizes;

/// The paper's sizes where two cores can do them.
#[derive(Clone, Debug, PartialEq)]
pub struct ReproductionEffort {
    /// In the names of files: nothing, or `quick`.
    pub name: &'static str,
    /// Repetitions, each with its own log, model and trajectories.
    pub seeds: u64,
    /// Sizes of PointEnv's logs in figure 2.
    pub point_rows: &'static [u32],
    /// Sizes of the pendulum's logs in figure 2.
    pub pendulum_rows: &'static [u32],
    /// Sizes of logs in figure 3.
    pub control_rows: &'static [u32],
    /// Whether MuJoCo's systems take part, where the program has them.
    pub mujoco: bool,
    /// Widths of the networks' hidden layers; the paper's are 4 × 256.
    pub hidden: &'static [usize],
    /// Updates of the networks, unless the validation rows end them.
    pub steps: usize,
    /// Horizons are divided by this.
    pub shorter: u32,
    /// Sampled trajectories of a check.
    pub trajectories: u32,
    /// Searched trajectories of a check.
    pub searched: u32,
    /// Sweeps of the search.
    pub sweeps: u32,
    /// First states of figure 2.
    pub starts: u32,
    /// Episodes for the true return.
    pub truth_episodes: u32,
}

impl ReproductionEffort {
    /// What the repository's results are made with.
    #[must_use]
    pub fn full() -> Self {
        Self {
            name: "full",
            seeds: 5,
            point_rows: &[20, 30, 50, 100, 200, 400],
            pendulum_rows: &[50, 100, 200, 400],
            control_rows: &[10_000, 30_000, 100_000],
            mujoco: true,
            hidden: &[64, 64],
            steps: 5000,
            shorter: 1,
            trajectories: 1000,
            searched: 8,
            sweeps: 40,
            starts: 32,
            truth_episodes: 2000,
        }
    }

    /// A small version that is true to the full one but for its sizes.
    #[must_use]
    pub fn quick() -> Self {
        Self {
            name: "quick",
            seeds: 2,
            point_rows: &[20, 50, 100],
            pendulum_rows: &[50, 100],
            control_rows: &[2000, 6000],
            mujoco: false,
            hidden: &[32, 32],
            steps: 1000,
            shorter: 5,
            trajectories: 100,
            searched: 4,
            sweeps: 12,
            starts: 16,
            truth_episodes: 500,
        }
    }

    /// The sizes of a check.
    #[must_use]
    pub fn check(&self) -> CheckSizes {
        CheckSizes {
            trajectories: self.trajectories,
            searched: self.searched,
            sweeps: self.sweeps,
            allocation: Allocation::Even,
        }
    }

    /// Within the limits of a system.
    #[must_use]
    pub fn of(&self, agents: &Agents) -> Self {
        let Some(most) = agents.most else {
            return self.clone();
        };
        Self {
            trajectories: self.trajectories.min(most.trajectories),
            searched: self.searched.min(most.searched),
            sweeps: self.sweeps.min(most.sweeps),
            truth_episodes: self.truth_episodes.min(most.truth_episodes),
            ..self.clone()
        }
    }

    /// How it differs from the paper, in a sentence.
    #[must_use]
    pub fn difference(&self) -> String {
        let Self {
            seeds,
            hidden,
            steps,
            trajectories,
            searched,
            sweeps,
            ..
        } = self;
        let widths: Vec<String> = hidden.iter().map(ToString::to_string).collect();
        let shorter = match self.shorter {
            1 => String::new(),
            by => format!(", horizons divided by {by}"),
        };
        let mut less = String::new();
        for agents in AGENTS.iter().filter(|_| self.mujoco) {
            let own = self.of(agents);
            if own != *self {
                less += &format!(
                    "; {}: {} sampled and {} searched trajectories, {} sweeps",
                    agents.system, own.trajectories, own.searched, own.sweeps
                );
            }
        }
        format!(
            "{seeds} seeds; 5 networks of {} units (the paper: 256 × 256 × 256 × 256), at most \
             {steps} updates; {trajectories} sampled and {searched} searched trajectories with \
             {sweeps} sweeps and no learning adversary{shorter}{less}",
            widths.join(" × ")
        )
    }
}
