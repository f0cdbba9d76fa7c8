//! What a check is told beside task, model and controller.

use hambo_core::task::{Allocation, Variant};

use super::effort::EffortLevel;
use hambo_data::Log;

/// Sampled trajectories of a check, unless told otherwise.
pub const DEFAULT_TRAJECTORIES: u32 = 4000;

/// The most sampled trajectories that a check takes by itself.
pub const MOST_GROWN: u32 = 100_000;

/// Places to log that are proposed if nobody says how many.
pub const DEFAULT_PLAN: usize = 5;

/// Searched trajectories of a check where Student's t bounds what the search finds, unless told
/// otherwise.
pub const DEFAULT_SEARCHED: u32 = 16;

/// What a check is told beside task, model and controller.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions<'a> {
    /// The log: first states for a task that starts from its data, the widths of the task's
    /// comparisons in the adversary's search, and the logged range in the report.
    pub log: Option<&'a Log>,
    /// What decides, the lowest of them; for a Gaussian process those that need networks
    /// are left out. If empty, what the task says: CA.
    pub variants: &'a [Variant],
    /// How hard the worst case is looked for.
    pub effort: EffortLevel,
    /// Sweeps of the core's search, instead of the effort's.
    pub sweeps: Option<u32>,
    /// Trajectories that are sampled: forward only, from every start of the adversary. If
    /// none is given, [`DEFAULT_TRAJECTORIES`], and up to [`MOST_GROWN`] where that makes a
    /// margin without assumptions possible.
    pub trajectories: Option<u32>,
    /// Other trajectories that are searched. If none is given, [`DEFAULT_SEARCHED`], and more
    /// where a bound for any distribution decides, see [`Demand`](super::demand::Demand). Up
    /// to 16 more are searched to find what is tried on all of them.
    pub searched: Option<u32>,
    /// How the steps of the model are shared among the adversary's starts. If nothing is
    /// given, evenly where up to 16 trajectories are searched, and with a trial before the
    /// search where there are more.
    pub allocation: Option<Allocation>,
    /// Whether trajectories have the model's noise.
    pub noise: bool,
    /// Seed of the trajectories and of the learners.
    pub seed: u64,
    /// Controllers that are judged together, each with its share of delta, so that what is said
    /// of all of them holds at once. Common trajectories, by a common seed, do no harm: shares
    /// add up whatever depends on what.
    pub controllers: usize,
    /// How many places to log are proposed.
    pub plan: usize,
    /// Whether the worst case of the return is solved on a grid as well, for at most three
    /// states; [`EffortLevel::Thorough`] does it where it can, and begins the search again
    /// from random signs where it cannot.
    pub exact: bool,
}

impl Default for CheckOptions<'_> {
    fn default() -> Self {
        Self {
            log: None,
            variants: &[],
            effort: EffortLevel::Normal,
            sweeps: None,
            trajectories: None,
            searched: None,
            allocation: None,
            noise: true,
            seed: 0,
            controllers: 1,
            plan: DEFAULT_PLAN,
            exact: false,
        }
    }
}
