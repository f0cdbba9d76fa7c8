//! The two levels of an estimate.
//!
//! The first samples: many fresh trajectories, forward only, each at the least
//! of all starts. The second searches: on a few other trajectories the whole
//! search, whose difference to the first level corrects it. Nothing that was
//! found on a trajectory is scored on it, so both means are of independent
//! values. A check may add a trial before the second; a focused one also adds a pilot
//! before the first, of which only a part is complete: see [`focus`](super::focus).

use crate::numeric::random::Stream;
use crate::policy::Policy;
use crate::rollout::{Buffers, Rollout};
use crate::task::{InitialKind, Task, Variant};

/// The stream of the first searched trajectory: beyond all sampled ones, and the
/// same however many those are.
const FIRST_SEARCHED: u32 = 1 << 30;

/// The stream of the pilot's first trajectory, beyond those.
const FIRST_PILOT: u32 = 1 << 31;

/// Searched trajectories from each of the worst initial states, at least.
const SEARCHED_FROM_ONE: u32 = 4;

/// The most of the worst initial states that are searched from.
const MOST_SEARCHED_STARTS: u32 = 4;

/// Sampled trajectories for each one of the pilot, which has from 8 to 64.
const SAMPLED_FOR_ONE: u32 = 32;
const PILOT: [u32; 2] = [8, 64];
/// Sampled trajectories for each complete one, of which there are 1,000 at least.
const SAMPLED_FOR_COMPLETE: u32 = 4;
const FEWEST_COMPLETE: u32 = 1000;
/// Sweeps of an even search for each one of the trial.
const SWEEPS_FOR_ONE: u32 = 8;

/// A level of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Forward only, from every start: tells a focused check which to keep.
    Pilot,
    /// The first of the sampled trajectories, forward only from every start: tells a focused
    /// check what the starts take that its pilot left out.
    Complete,
    /// Forward only, from every start, or from those that the pilot kept.
    Sampled,
    /// A short search from every start on the searched trajectories: tells a focused check
    /// which to go on with.
    Trial,
    /// The whole search from every start, or from those that the trial kept.
    Searched,
}

impl Level {
    /// How many trajectories it has.
    pub fn trajectories(self, task: &Task<'_>) -> u32 {
        match self {
            Self::Pilot => Self::pilot_trajectories(task),
            Self::Complete => complete_trajectories(task.plan.effort.trajectories),
            // With the complete ones among them.
            Self::Sampled => task.plan.effort.trajectories,
            Self::Trial | Self::Searched => task.plan.effort.searched,
        }
    }

    /// How many sweeps of the search follow the first, which is the start
    /// itself.
    pub fn sweeps(self, variant: Variant, task: &Task<'_>) -> u32 {
        match self {
            Self::Searched if searches(variant) => task.plan.effort.search_sweeps(),
            Self::Trial => Self::trial_sweeps(variant, task),
            _ => 0,
        }
    }

    fn pilot_trajectories(task: &Task<'_>) -> u32 {
        let [least, most] = PILOT;
        (task.plan.effort.trajectories / SAMPLED_FOR_ONE).clamp(least, most)
    }

    fn trial_sweeps(variant: Variant, task: &Task<'_>) -> u32 {
        match task.plan.effort.iterations {
            sweeps if searches(variant) && sweeps > 0 => (sweeps / SWEEPS_FOR_ONE).max(1),
            _ => 0,
        }
    }

    /// The random stream of a trajectory. The levels share none, but for a trial, which is
    /// on the trajectories that are then searched, and the complete ones, which are sampled.
    pub fn stream(self, task: &Task<'_>, trajectory: u32) -> Stream {
        let first = match self {
            Self::Pilot => FIRST_PILOT,
            Self::Complete | Self::Sampled => 0,
            Self::Trial | Self::Searched => FIRST_SEARCHED,
        };
        Stream::new(task.plan.effort.seed, first.wrapping_add(trajectory))
    }

    /// Which of a list's states a trajectory starts from, where each has its
    /// turn for the same number of trajectories in a row. None where the start
    /// is drawn.
    pub fn listed_start(self, task: &Task<'_>, dimension: usize, trajectory: u32) -> Option<u32> {
        let states = task.initial.listed(dimension) as u64;
        let states = match (task.initial.kind, self) {
            (InitialKind::Logged, _)
            | (InitialKind::Worst, Self::Pilot | Self::Complete | Self::Sampled) => states,
            (InitialKind::Worst, Self::Trial | Self::Searched) => {
                states.min(u64::from(searched_starts(task.plan.effort.searched)))
            }
            _ => return None,
        };
        let place = u64::from(trajectory).checked_mul(states)?;
        let place = place.checked_div(u64::from(self.trajectories(task)))?;
        u32::try_from(place.min(states.checked_sub(1)?)).ok()
    }

    /// Puts the initial state of a trajectory into a lane.
    pub fn start<const B: usize>(
        self,
        task: &Task<'_>,
        trajectory: u32,
        lane: usize,
        rows: &mut [[f32; B]],
    ) {
        match self.listed_start(task, rows.len(), trajectory) {
            Some(place) => task.initial.put_listed(place, lane, rows),
            None => {
                let mut stream = self.stream(task, trajectory);
                task.initial.draw(&mut stream, lane, rows);
            }
        }
        task.keep_in_range(rows);
    }

    /// Puts the initial states of all lanes.
    pub(super) fn start_all<const B: usize, P: Policy>(
        self,
        rollout: &Rollout<'_, P>,
        trajectories: &[u32; B],
        buffers: &mut Buffers<'_, B>,
    ) {
        let dimension = rollout.task.state_dimension();
        let rows = buffers.states.get_mut(..dimension).unwrap_or_default();
        for (lane, trajectory) in trajectories.iter().enumerate() {
            self.start(rollout.task, *trajectory, lane, rows);
        }
    }
}

/// How many of the worst initial states share the searched trajectories.
///
/// ```
/// use hambo_core::adversary::searched_starts;
/// assert_eq!([2, 8, 16, 512].map(searched_starts), [1, 2, 4, 4]);
/// ```
pub fn searched_starts(searched: u32) -> u32 {
    (searched / SEARCHED_FROM_ONE).clamp(1, MOST_SEARCHED_STARTS)
}

/// How many of the sampled trajectories of a focused check every start has, at least.
///
/// ```
/// use hambo_core::adversary::complete_trajectories;
/// assert_eq!([200, 2000, 8000].map(complete_trajectories), [200, 1000, 2000]);
/// ```
pub fn complete_trajectories(sampled: u32) -> u32 {
    let part = sampled / SAMPLED_FOR_COMPLETE;
    part.max(FEWEST_COMPLETE).min(sampled)
}

/// Whether a variant's adversary goes on searching from its starts. DAinf
/// does not: it has tried every member when it has tried its starts.
pub fn searches(variant: Variant) -> bool {
    matches!(
        variant,
        Variant::ContinuousAdversary | Variant::DiscreteAdversary1
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::example;
    use crate::task::{Allocation, InitialState};

    #[test]
    fn the_levels_share_no_stream() {
        let task = example::task().unwrap();
        let first = |level: Level, trajectory| level.stream(&task, trajectory).uniform();
        for trajectory in 0..4 {
            let searched = first(Level::Searched, trajectory);
            assert!((0..4).all(|other| first(Level::Sampled, other) != searched));
            assert!((0..4).all(|other| first(Level::Pilot, other) != searched));
            assert!(
                (0..4).all(|other| first(Level::Pilot, other) != first(Level::Sampled, trajectory))
            );
            assert_eq!(first(Level::Trial, trajectory), searched);
            let sampled = first(Level::Sampled, trajectory);
            assert_eq!(first(Level::Complete, trajectory), sampled);
        }
        let mut own = Stream::new(task.plan.effort.seed, 3);
        assert_eq!(first(Level::Sampled, 3), own.uniform());
    }

    #[test]
    fn only_a_search_has_sweeps() {
        let mut task = example::task().unwrap();
        task.plan.effort.iterations = 7;
        let sweeps = |level: Level, variant| level.sweeps(variant, &task);
        assert_eq!(sweeps(Level::Searched, Variant::ContinuousAdversary), 7);
        assert_eq!(sweeps(Level::Searched, Variant::DiscreteAdversary1), 7);
        assert_eq!(sweeps(Level::Searched, Variant::DiscreteAdversaryInf), 0);
        assert_eq!(sweeps(Level::Searched, Variant::Mean), 0);
        assert_eq!(sweeps(Level::Sampled, Variant::ContinuousAdversary), 0);
        for allocation in [Allocation::Tried, Allocation::Focused] {
            task.plan.effort.allocation = allocation;
            let sweeps = |level: Level| level.sweeps(Variant::DiscreteAdversary1, &task);
            assert_eq!([Level::Searched, Level::Trial].map(sweeps), [14, 1]);
        }
    }

    #[test]
    fn logged_starts_take_their_trajectories_in_a_row() {
        let mut task = example::task().unwrap();
        task.plan.effort.trajectories = 7;
        task.plan.effort.searched = 3;
        let mut places = |kind, level: Level| -> Vec<Option<u32>> {
            task.initial = InitialState {
                kind,
                first: &[1.0, 0.5, 0.25],
                second: &[],
            };
            let count = level.trajectories(&task);
            (0..count)
                .map(|trajectory| level.listed_start(&task, 1, trajectory))
                .collect()
        };
        let sampled = [0, 0, 0, 1, 1, 2, 2].map(Some);
        assert_eq!(places(InitialKind::Logged, Level::Sampled), sampled);
        let searched = [0, 1, 2].map(Some);
        assert_eq!(places(InitialKind::Logged, Level::Searched), searched);
        assert_eq!(places(InitialKind::Listed, Level::Searched), [None; 3]);
        // Of the worst starts only as many are searched as have four trajectories each.
        assert_eq!(places(InitialKind::Worst, Level::Sampled), sampled);
        assert_eq!(places(InitialKind::Worst, Level::Searched), [Some(0); 3]);
    }
}
