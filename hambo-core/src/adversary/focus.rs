//! How a focused check ([`Allocation::Focused`]) spends the steps of the model where the
//! minimum falls.
//!
//! | level | trajectories | starts | sweeps |
//! |---|---|---|---|
//! | pilot | a few of its own | all | none: the starts themselves |
//! | sampled | many | the third that was least in the pilot's mean | none |
//! | trial | the searched ones | all | an eighth of an even search |
//! | searched | the same | on each the ones that its trial brought lowest | twice those of an even search |
//!
//! The sum of both levels' means has the same expected value whichever starts the sampled
//! trajectories have, since the searched ones subtract the same starts: the pilot decides
//! over the margin, not over the estimate. The trial decides how good the search is, and so
//! does the region in which it searches first: [near](super::schedule) what was found on
//! other trajectories.

use super::level::searches;
use super::start::Starts;
use crate::rollout::Rollout;
use crate::task::Allocation;

/// Starts for each one that is kept on a searched trajectory; at least one is.
const SEARCHED_ONE_IN: usize = 12;
/// Starts for each one that is kept on the sampled trajectories; at least a few are.
const SAMPLED_ONE_IN: usize = 3;
const FEWEST_SAMPLED: usize = 2;

/// Searched trajectories that are tried and searched together: between trial and search
/// there is memory for this many.
pub(crate) const TRIAL_BLOCK: usize = 16;

/// The sizes of a focused estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// Starts on a sampled trajectory.
    pub sampled: usize,
    /// Whole searches on a searched one.
    pub searched: usize,
}

impl Focus {
    /// That of a rollout's estimate; none where every start has the same.
    pub fn of<P>(rollout: &Rollout<'_, P>) -> Option<Self> {
        let effort = &rollout.task.plan.effort;
        let focused = effort.allocation == Allocation::Focused
            && searches(rollout.variant)
            // Without a search nothing makes up for the starts that are left out.
            && effort.searched > 0;
        let starts = Starts::of(rollout).count();
        let one_in = |many: usize, fewest: usize| {
            let part = starts.checked_div(many).unwrap_or(starts);
            part.max(fewest).min(starts)
        };
        focused.then(|| Self {
            sampled: one_in(SAMPLED_ONE_IN, FEWEST_SAMPLED),
            searched: one_in(SEARCHED_ONE_IN, 1),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::adversary::level::Level;
    use crate::example;
    use crate::task::{Objective, Task, Variant};

    #[test]
    fn only_a_search_is_focused_and_only_where_something_is_searched() {
        let image = example::image().unwrap();
        let mut task = image.task().clone();
        let keep = |task: &Task<'_>, variant| {
            let rollout = Rollout {
                model: image.model(),
                policy: image.policy(),
                task,
                variant,
                objective: Objective::Return,
            };
            Focus::of(&rollout).map(|focus| [focus.sampled, focus.searched])
        };
        assert_eq!(keep(&task, Variant::ContinuousAdversary), None);
        task.plan.effort.allocation = Allocation::Focused;
        // Of five starts two, and one.
        assert_eq!(keep(&task, Variant::ContinuousAdversary), Some([2, 1]));
        assert_eq!(keep(&task, Variant::DiscreteAdversaryInf), None);
        assert_eq!(keep(&task, Variant::Mean), None);
        task.plan.effort.searched = 0;
        assert_eq!(keep(&task, Variant::ContinuousAdversary), None);
    }

    #[test]
    fn pilot_and_trial_are_small_parts() {
        let mut task = example::task().unwrap();
        for (trajectories, pilot) in [(1, 8), (400, 12), (4000, 64)] {
            task.plan.effort.trajectories = trajectories;
            assert_eq!(Level::Pilot.trajectories(&task), pilot);
        }
        for (iterations, trial) in [(0, 0), (4, 1), (40, 5), (200, 25)] {
            task.plan.effort.iterations = iterations;
            let sweeps = Level::Trial.sweeps(Variant::ContinuousAdversary, &task);
            assert_eq!(sweeps, trial);
        }
        assert_eq!(Level::Trial.sweeps(Variant::DiscreteAdversaryInf, &task), 0);
    }
}
