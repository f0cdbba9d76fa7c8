//! How a focused check ([`Allocation::Focused`]) spends the steps of the model where the
//! minimum falls. [`Allocation::Tried`] has only the last two of its levels: all sampled
//! trajectories are walked from every start.
//!
//! | level | trajectories | starts | sweeps |
//! |---|---|---|---|
//! | pilot | a few of its own | all | none: the starts themselves |
//! | complete | the first quarter of the sampled ones, at least 1,000 | all | none |
//! | sampled | the other sampled ones | the sixth that was least in the pilot's mean | none |
//! | trial | the searched ones | all | an eighth of an even search |
//! | searched | the same | on each the ones that its trial brought lowest | twice those of an even search |
//!
//! With K the least of the starts that the pilot kept, M the least of all and F the least that
//! was found, all on one trajectory, the estimate is
//!
//! mean of K over complete and sampled + mean of M − K over complete + mean of F − M over searched.
//!
//! Its expected value is that of F whichever starts the pilot kept: it decides over the margin,
//! not over the estimate. Each of the three means has its own part of delta. What was left out
//! may break a trajectory in a hundred and have looked harmless in the pilot, so M − K, which
//! lies between low − high and 0 if the objective lies between low and high, is bounded for
//! whatever distribution it has: by betting, and where trajectories keep a constraint or not by
//! Clopper and Pearson from the number that only the starts left out break. Where the objective
//! has no bounds Student's t is left, and the margin says so.
//!
//! With nothing found on 1,000 complete trajectories betting charges 0.6 % of the range, so fewer
//! sampled ones than that are all complete. So are those that are divided among listed initial
//! states, where each state's share would be too small to prove anything: then there is no pilot.
//!
//! The trial decides how good the search is, and so does the region in which it searches first:
//! [near](super::schedule) what was found on other trajectories.

use super::level::{Level, searches};
use super::start::Starts;
use crate::rollout::Rollout;
use crate::task::{Allocation, InitialKind};

/// Starts for each one that is kept on a searched trajectory; at least one is.
const SEARCHED_ONE_IN: usize = 12;
/// Starts for each one that is kept on the sampled trajectories; at least a few are.
const SAMPLED_ONE_IN: usize = 6;
const FEWEST_SAMPLED: usize = 2;

/// Searched trajectories that are tried and searched together: between trial and search
/// there is memory for this many.
pub(crate) const TRIAL_BLOCK: usize = 16;

/// The sizes of a focused estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// Starts on a sampled trajectory that is not complete; none if all are.
    pub kept: Option<usize>,
    /// Whole searches on a searched one.
    pub searched: usize,
}

impl Focus {
    /// That of a rollout's estimate; none where every start has the same.
    pub fn of<P>(rollout: &Rollout<'_, P>) -> Option<Self> {
        let effort = &rollout.task.plan.effort;
        let chooses = effort.allocation != Allocation::Even
            && searches(rollout.variant)
            // Without a search nothing makes up for the starts that are left out.
            && effort.searched > 0;
        let starts = Starts::of(rollout).count();
        let one_in = |many: usize, fewest: usize| {
            let part = starts.checked_div(many).unwrap_or(starts);
            part.max(fewest).min(starts)
        };
        let task = rollout.task;
        let in_turn = matches!(task.initial.kind, InitialKind::Logged | InitialKind::Worst);
        let some = effort.allocation == Allocation::Focused
            && Level::Complete.trajectories(task) < Level::Sampled.trajectories(task);
        let kept = one_in(SAMPLED_ONE_IN, FEWEST_SAMPLED);
        chooses.then(|| Self {
            kept: (some && !in_turn && kept < starts).then_some(kept),
            searched: one_in(SEARCHED_ONE_IN, 1),
        })
    }
}

/// How many levels' bounds an estimate adds, each with its own part of delta.
pub fn levels<P>(rollout: &Rollout<'_, P>) -> u8 {
    let leaves_out = Focus::of(rollout).is_some_and(|focus| focus.kept.is_some());
    match (searches(rollout.variant), leaves_out) {
        (false, _) => 1,
        (true, false) => 2,
        (true, true) => 3,
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
            let focus = Focus::of(&rollout).map(|focus| (focus.kept, focus.searched));
            (focus, levels(&rollout))
        };
        assert_eq!(keep(&task, Variant::ContinuousAdversary), (None, 2));
        task.plan.effort.allocation = Allocation::Focused;
        // Of five starts one; two trajectories leave none out.
        let all = (Some((None, 1)), 2);
        assert_eq!(keep(&task, Variant::ContinuousAdversary), all);
        task.plan.effort.trajectories = 1000;
        assert_eq!(keep(&task, Variant::ContinuousAdversary), all);
        task.plan.effort.trajectories = 1001;
        // Of five starts two, and one.
        let some = (Some((Some(2), 1)), 3);
        assert_eq!(keep(&task, Variant::ContinuousAdversary), some);
        assert_eq!(keep(&task, Variant::DiscreteAdversaryInf), (None, 1));
        assert_eq!(keep(&task, Variant::Mean), (None, 1));
        // A search after a trial leaves no start out of the sampled ones.
        task.plan.effort.allocation = Allocation::Tried;
        assert_eq!(keep(&task, Variant::ContinuousAdversary), all);
        assert_eq!(keep(&task, Variant::DiscreteAdversaryInf), (None, 1));
        task.plan.effort.allocation = Allocation::Focused;
        for (kind, kept) in [
            (InitialKind::Logged, all),
            (InitialKind::Worst, all),
            (InitialKind::Listed, some),
        ] {
            task.initial.kind = kind;
            assert_eq!(keep(&task, Variant::ContinuousAdversary), kept, "{kind:?}");
        }
        task.plan.effort.searched = 0;
        assert_eq!(keep(&task, Variant::ContinuousAdversary), (None, 2));
    }

    #[test]
    fn pilot_and_trial_are_small_parts_and_a_quarter_is_complete() {
        let mut task = example::task().unwrap();
        for (trajectories, pilot, complete) in [
            (1, 8, 1),
            (400, 12, 400),
            (1500, 46, 1000),
            (4000, 64, 1000),
            (8000, 64, 2000),
        ] {
            task.plan.effort.trajectories = trajectories;
            assert_eq!(Level::Pilot.trajectories(&task), pilot);
            assert_eq!(Level::Complete.trajectories(&task), complete);
            assert_eq!(Level::Sampled.trajectories(&task), trajectories);
        }
        for (iterations, trial) in [(0, 0), (4, 1), (40, 5), (200, 25)] {
            task.plan.effort.iterations = iterations;
            let sweeps = Level::Trial.sweeps(Variant::ContinuousAdversary, &task);
            assert_eq!(sweeps, trial);
        }
        assert_eq!(Level::Trial.sweeps(Variant::DiscreteAdversaryInf, &task), 0);
    }
}
