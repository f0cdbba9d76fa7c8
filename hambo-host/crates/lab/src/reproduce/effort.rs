//! How much is done: the full version, and one that takes minutes.

use std::fmt;

use hambo_core::task::Allocation;

use super::agents::AGENTS;
use super::setting::CheckSizes;
use crate::environment::named::needs_mujoco;

/// What figures 3 and 4 do for a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemEffort {
    /// Widths of the networks' hidden layers; the paper's are 4 × 256.
    pub hidden: &'static [usize],
    /// Updates of the networks, unless the validation rows end them.
    pub updates: usize,
    /// Largest noise of the trained networks, in standard deviations of what is learnt.
    pub noise_cap: f32,
    /// How hard the checks look.
    pub check: CheckSizes,
    /// Episodes for the true return.
    pub truth_episodes: u32,
}

/// What MuJoCo's systems get. Small networks take the ground's contact for noise, which a hopper
/// does not survive; what checks of large ones cost more is saved in trajectories. Long training
/// makes their noise grow far from the log, for which the log gives no reason. True returns differ
/// little.
pub const MUJOCO: SystemEffort = SystemEffort {
    hidden: &[256; 3],
    updates: 40_000,
    noise_cap: 1.0,
    check: CheckSizes {
        trajectories: 200,
        searched: 4,
        sweeps: 8,
        allocation: Allocation::Focused,
        noise: true,
    },
    truth_episodes: 200,
};

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
    /// What is done for the pendulum in figures 3 and 4.
    pub pendulum: SystemEffort,
    /// Horizons are divided by this.
    pub shorter: u32,
    /// First states of figure 2.
    pub starts: u32,
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
            pendulum: SystemEffort {
                hidden: &[64, 64],
                updates: 5000,
                noise_cap: 10.0,
                check: CheckSizes {
                    trajectories: 1000,
                    searched: 8,
                    sweeps: 40,
                    allocation: Allocation::Even,
                    noise: true,
                },
                truth_episodes: 2000,
            },
            shorter: 1,
            starts: 32,
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
            pendulum: SystemEffort {
                hidden: &[32, 32],
                updates: 1000,
                noise_cap: 10.0,
                check: CheckSizes {
                    trajectories: 100,
                    searched: 4,
                    sweeps: 12,
                    allocation: Allocation::Even,
                    noise: true,
                },
                truth_episodes: 500,
            },
            shorter: 5,
            starts: 16,
        }
    }

    /// What is done for a system of figures 3 and 4.
    #[must_use]
    pub fn of(&self, system: &str) -> SystemEffort {
        if needs_mujoco(system) {
            MUJOCO
        } else {
            self.pendulum
        }
    }

    /// How it differs from the paper, in a sentence.
    #[must_use]
    pub fn difference(&self) -> String {
        let shorter = match self.shorter {
            1 => String::new(),
            by => format!(", horizons divided by {by}"),
        };
        let shown = AGENTS
            .iter()
            .filter(|agents| self.mujoco || !agents.needs_mujoco());
        let of_systems: Vec<String> = shown
            .map(|agents| format!("{}: {}", agents.system, self.of(agents.system)))
            .collect();
        format!(
            "{} seeds{shorter}, no learning adversary (the paper: networks of 256 × 256 × 256 × \
             256 units and learning adversaries); {}",
            self.seeds,
            of_systems.join("; ")
        )
    }
}

impl fmt::Display for SystemEffort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<String> = self.hidden.iter().map(ToString::to_string).collect();
        let focused = match self.check.allocation {
            Allocation::Even => "",
            Allocation::Tried => ", tried",
            Allocation::Focused => ", focused",
        };
        write!(
            f,
            "5 networks of {} units, at most {} updates, a noise cap of {}, {} \
             sampled and {} searched trajectories, {} sweeps{focused}",
            widths.join(" × "),
            self.updates,
            self.noise_cap,
            self.check.trajectories,
            self.check.searched,
            self.check.sweeps,
        )
    }
}
