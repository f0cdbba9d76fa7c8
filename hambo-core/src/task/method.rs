//! How the question is answered: which estimates are made, and with how much work.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::variant::Variant;

/// The largest number of variants that one check runs.
const MAX_VARIANTS: usize = 8;

/// Which estimates are made, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// The variants that decide: every one of them must reach the threshold.
    /// Mean propagation is reported beside them in any case.
    pub variants: Vec<Variant, MAX_VARIANTS>,
    /// Whether the system's own chance is played out.
    pub aleatoric_noise: bool,
    /// The weight of the uncertainty in the penalised (MOPO) estimate.
    pub penalty: f32,
    /// The most steps of the model that a check may take. One that needs
    /// more abstains at once, whatever the number of lanes.
    pub step_limit: u64,
}

impl Default for Method {
    fn default() -> Self {
        let mut variants = Vec::new();
        // One place is always there.
        let _ = variants.push(Variant::ContinuousAdversary);
        Self {
            variants,
            aleatoric_noise: true,
            penalty: 1.0,
            step_limit: u64::MAX,
        }
    }
}

/// Sweeps of a search after a trial for each sweep of an even one.
const SWEEPS_AFTER_TRIAL: u32 = 2;

/// How many trajectories are drawn and how long the adversary searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Trajectories of the first level, forward only.
    pub trajectories: u32,
    /// Trajectories of the second level, which are searched.
    pub searched: u32,
    /// Sweeps of an even search from each start; one after a trial has
    /// [others](Effort::search_sweeps).
    pub iterations: u32,
    /// The seed of all random streams.
    pub seed: u64,
    /// Who has the sweeps.
    pub allocation: Allocation,
}

impl Effort {
    /// Sweeps of a whole search: one after a trial goes on for longer from fewer starts.
    pub fn search_sweeps(&self) -> u32 {
        match self.allocation {
            Allocation::Even => self.iterations,
            Allocation::Tried | Allocation::Focused => {
                self.iterations.saturating_mul(SWEEPS_AFTER_TRIAL)
            }
        }
    }
}

/// How the steps of the model are shared among the adversary's starts; from the one that leaves
/// nothing out to the one that leaves out most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Allocation {
    /// Every start has the same: all sampled trajectories, and the whole search on all
    /// searched ones.
    #[default]
    Even,
    /// Every start has all sampled trajectories; on each searched one the search goes on from
    /// those that a trial brought lowest.
    Tried,
    /// The same search, and most sampled trajectories go to the promising starts as well, see
    /// [`Focus`](crate::adversary::Focus).
    Focused,
}
