//! Groups of candidates side by side over all processor cores.

use std::ops::Range;

use hambo_core::adversary::{Candidate, Level, Search, SearchResult};
use hambo_core::check::Stage;
use hambo_core::model::Dynamics;
use hambo_core::numeric::CapacityError;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::{Buffers, Rollout};
use hambo_core::task::Task;
use rayon::prelude::*;

use super::findings::Choice;
use super::neighbours::in_groups;
use hambo_base::Error;
use hambo_base::meter::Meter;

/// What one thread may take. A horizon of a thousand steps needs some megabytes; one of
/// billions is a slip, and must not end in an abort.
const MOST_BYTES: usize = 1 << 30;

/// Lanes of a group of few trajectories that are left over.
const NARROW: usize = 8;

/// Steps of one candidate of a level; a step back counts as two.
pub(super) fn work_of_one<P>(rollout: &Rollout<'_, P>, level: Level) -> u64 {
    let sweeps = u64::from(level.sweeps(rollout.variant, rollout.task));
    u64::from(rollout.task.horizon).saturating_mul(1 + 3 * sweeps)
}

/// How the core numbers the candidates of a stage.
#[derive(Clone, Copy)]
pub(super) struct CandidateOrder {
    /// Times that all trajectories are walked: once, or for every whole member.
    pub passes: u32,
    /// Starts on each trajectory in one pass.
    starts: u32,
    /// The first trajectory's number, and how many there are.
    first: u32,
    trajectories: u32,
}

impl CandidateOrder {
    pub fn of<P>(stage: &Stage<'_, P>) -> Self {
        let starts = stage.starts as u32;
        let [passes, starts] = if stage.compares_members() {
            [starts, 1]
        } else {
            [1, starts]
        };
        Self {
            passes,
            starts,
            first: stage.first,
            trajectories: stage.trajectories,
        }
    }

    /// That of a whole level with `starts` candidates on each trajectory.
    fn of_level<P>(rollout: &Rollout<'_, P>, level: Level, starts: usize) -> Self {
        Self {
            passes: 1,
            starts: starts as u32,
            first: 0,
            trajectories: level.trajectories(rollout.task),
        }
    }

    /// The first candidate of a trajectory in a pass.
    fn candidate(&self, pass: u32, trajectory: u32) -> u32 {
        let before = pass.saturating_mul(self.trajectories);
        let place = trajectory.saturating_sub(self.first);
        before.saturating_add(place.saturating_mul(self.starts))
    }

    /// What was kept of each pass, trajectory by trajectory.
    pub fn by_trajectory(&self, choices: Vec<Choice>) -> Vec<Choice> {
        let passes = self.passes.max(1) as usize;
        let kept = choices.len() / passes;
        let mut ordered: Vec<(usize, Choice)> = choices
            .into_iter()
            .enumerate()
            .map(|(place, choice)| (place % kept.max(1), choice))
            .collect();
        if passes > 1 {
            // Members keep their order within a trajectory.
            ordered.sort_by_key(|(trajectory, _)| *trajectory);
        }
        ordered.into_iter().map(|(_, choice)| choice).collect()
    }
}

/// The rows of one group, if one thread may take them.
pub(crate) fn rows_needed<const B: usize>(
    dynamics: &Dynamics<'_>,
    task: &Task<'_>,
    policy: &StoredPolicy<'_>,
) -> Result<usize, CapacityError> {
    let needed = Buffers::<B>::rows_needed(dynamics, task, policy)?;
    let available = MOST_BYTES / size_of::<[f32; B]>();
    if needed > available {
        return Err(CapacityError { needed, available });
    }
    Ok(needed)
}

/// All trajectories of a level, with `starts` candidates on each.
pub(super) fn search_level<const B: usize>(
    (rollout, level): (&Rollout<'_, StoredPolicy<'_>>, Level),
    starts: usize,
    keep: u32,
    candidate: &Numbering<'_>,
    meter: Option<&Meter<'_>>,
) -> Result<Vec<Searched>, Error> {
    let rows = rows_needed::<B>(&rollout.model.dynamics, rollout.task, rollout.policy)?;
    let order = CandidateOrder::of_level(rollout, level, starts);
    let block = Block {
        pass: 0,
        trajectories: 0..order.trajectories,
        keep,
    };
    let searched = search_block::<B>((rollout, level), order, block, candidate, rows, meter)?;
    if let Some(meter) = meter {
        meter.ensure_not_stopped()?;
    }
    Ok(searched)
}

/// What came of one candidate.
pub(super) struct Searched {
    candidate: u32,
    pub result: SearchResult,
    /// On trajectories that are to be kept.
    pub choice: Option<Choice>,
}

/// The candidate with a number.
pub(super) type Numbering<'n> = dyn Fn(u32) -> Candidate + Sync + 'n;

/// Some trajectories of a stage.
pub(super) struct Block {
    pub pass: u32,
    pub trajectories: Range<u32>,
    /// Trajectories below this number whose choices are kept.
    pub keep: u32,
}

/// The search of all candidates of some trajectories, in their order. Those that walk
/// side by side start near each other.
pub(super) fn search_block<const B: usize>(
    (rollout, level): (&Rollout<'_, StoredPolicy<'_>>, Level),
    candidates: CandidateOrder,
    block: Block,
    candidate: &Numbering<'_>,
    rows: usize,
    meter: Option<&Meter<'_>>,
) -> Result<Vec<Searched>, CapacityError> {
    let group = B / candidates.starts.max(1) as usize;
    let end = candidates.first.saturating_add(candidates.trajectories);
    let keep = candidates.candidate(block.pass, block.keep.min(end));
    let job = Job {
        rollout,
        level,
        candidate,
        keep,
        meter,
    };
    let order: Vec<u32> = in_groups(rollout, level, block.trajectories, group)
        .into_iter()
        .flat_map(|trajectory| {
            let first = candidates.candidate(block.pass, trajectory);
            first..first.saturating_add(candidates.starts)
        })
        .collect();
    // What is left over would fill few lanes of a whole group.
    let over = order.len() % B;
    let whole = order.len() - if over <= NARROW { over } else { 0 };
    let (wide, narrow) = order.split_at(whole);
    let wide = || -> Result<Vec<Vec<Searched>>, CapacityError> {
        let groups = wide.par_chunks(B).map_init(
            || vec![[0.0; B]; rows],
            |rows, group| search(&job, group, rows),
        );
        groups.collect()
    };
    let narrow = || -> Result<Vec<Searched>, CapacityError> {
        if narrow.is_empty() {
            return Ok(Vec::new());
        }
        let rows = &mut vec![[0.0; NARROW]; rows];
        search(&job, narrow, rows)
    };
    let (wide, narrow) = rayon::join(wide, narrow);
    let mut searched: Vec<Searched> = wide?.into_iter().flatten().chain(narrow?).collect();
    searched.sort_unstable_by_key(|one| one.candidate);
    Ok(searched)
}

/// What all groups of a block have in common.
struct Job<'j, 'r, 'p, 'n, 'm> {
    rollout: &'j Rollout<'r, StoredPolicy<'p>>,
    level: Level,
    candidate: &'j Numbering<'n>,
    /// Candidates below this number whose choices are kept.
    keep: u32,
    meter: Option<&'j Meter<'m>>,
}

/// The whole search of one group, and the choices of its candidates below `keep`.
fn search<const B: usize>(
    job: &Job<'_, '_, '_, '_, '_>,
    group: &[u32],
    rows: &mut [[f32; B]],
) -> Result<Vec<Searched>, CapacityError> {
    let Job {
        rollout,
        level,
        keep,
        meter,
        ..
    } = *job;
    let (dynamics, task) = (&rollout.model.dynamics, rollout.task);
    let mut buffers = Buffers::carve(rows, dynamics, task, rollout.policy)?;
    // Lanes without a candidate do what the first does.
    let lanes: [u32; B] =
        std::array::from_fn(|lane| group.get(lane).or(group.first()).map_or(0, |c| *c));
    let mut search = Search::<B>::of(rollout, level, lanes.map(job.candidate));
    let kept = |candidate: &u32| (*candidate < keep).then(Choice::none);
    let mut choices: Vec<Option<Choice>> = group.iter().map(kept).collect();
    let mut last = false;
    // The first sweep goes forward alone.
    let forward = group.len() as u64 * u64::from(task.horizon);
    let mut sweep = forward;
    let mut left = group.len() as u64 * work_of_one(rollout, level);
    while !last {
        last = search.sweep(rollout, &mut buffers);
        let done = if last { left } else { sweep.min(left) };
        left -= done;
        sweep = 3 * forward;
        // Whoever began the work sees that it was broken off.
        if meter.is_some_and(|meter| meter.add(done).is_break()) {
            break;
        }
        for (lane, choice) in choices.iter_mut().enumerate() {
            if let Some(choice) = choice {
                choice.follow(&search, lane, last, &buffers);
            }
        }
    }
    let lanes = group.iter().zip(search.results()).zip(choices);
    let searched = lanes.map(|((candidate, result), choice)| Searched {
        candidate: *candidate,
        result,
        choice,
    });
    Ok(searched.collect())
}
