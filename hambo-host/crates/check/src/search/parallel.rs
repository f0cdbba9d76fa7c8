//! The core's check on the host: groups of lanes over all processor cores.

use std::ops::Range;

use hambo_core::adversary::{Candidate, Level, Search, SearchResult, Shortlist, Starts, searches};
use hambo_core::check::{Assessment, Outcome, Stage};
use hambo_core::model::Dynamics;
use hambo_core::numeric::CapacityError;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::{Buffers, Rollout};
use hambo_core::task::Objective;
use hambo_core::task::Task;
use rayon::prelude::*;

use super::findings::{Choice, Findings};
use super::neighbours::in_groups;
use crate::case::system::System;
use hambo_base::Error;
use hambo_base::meter::Meter;

/// Trajectories that walk side by side: the kernels' largest group.
pub const LANES: usize = 32;

/// What one thread may take. A horizon of a thousand steps needs some megabytes; one of
/// billions is a slip, and must not end in an abort.
const MOST_BYTES: usize = 1 << 30;

/// Lanes of a group of few trajectories that are left over.
const NARROW: usize = 8;

/// Trajectories whose results are in memory at a time.
const BLOCK: usize = 1 << 14;

/// What is kept of a check, and who counts its work.
#[derive(Clone, Copy)]
pub struct Watch<'m, 'o> {
    /// Trajectories whose choices against the return are kept: the first searched ones, or
    /// the first of all where a variant does not search.
    pub keep: u32,
    /// Counts the steps of the model, and may break off.
    pub meter: Option<&'m Meter<'o>>,
}

impl Watch<'_, '_> {
    /// Nothing is kept, and nobody counts.
    pub const NONE: Self = Self {
        keep: 0,
        meter: None,
    };
}

/// A finished check.
pub struct Checked {
    /// Estimates and verdict.
    pub outcome: Outcome,
    /// What the adversaries chose.
    pub findings: Vec<Findings>,
    /// Steps of the model; a step back counts as two.
    pub model_steps: u64,
}

/// Steps of the model that a check takes; a step back counts as two.
pub(crate) fn work(system: &System<'_>) -> Result<u64, CapacityError> {
    let assessment = Assessment::new(system.model, &system.task, system.policy)?;
    let each = assessment.plan();
    Ok(each
        .map(|stage| work_of_stage(&stage))
        .fold(0, u64::saturating_add))
}

fn work_of_stage<P>(stage: &Stage<'_, P>) -> u64 {
    let one = work_of_one(&stage.rollout, stage.level);
    u64::from(stage.candidates()).saturating_mul(one)
}

/// Steps of a level with this many starts on each trajectory.
pub(crate) fn work_of<P>(rollout: &Rollout<'_, P>, level: Level, starts: usize) -> u64 {
    let candidates = u64::from(level.trajectories(rollout.task)).saturating_mul(starts as u64);
    candidates.saturating_mul(work_of_one(rollout, level))
}

fn work_of_one<P>(rollout: &Rollout<'_, P>, level: Level) -> u64 {
    let sweeps = u64::from(level.sweeps(rollout.variant, rollout.task));
    u64::from(rollout.task.horizon).saturating_mul(1 + 3 * sweeps)
}

/// Runs the core's check to its verdict. The number of lanes `B` changes the time and not a
/// bit of the result; nor does the number of threads, since candidates are searched in any
/// order and added in theirs.
///
/// # Errors
/// If the task needs too much memory, or the meter broke off.
///
/// ```
/// use hambo_check::parallel::{Watch, LANES, check};
///
/// let image = hambo_core::example::image()?;
/// let watch = Watch { keep: 2, ..Watch::NONE };
/// let checked = check::<LANES>(&image, watch).map_err(|_| "too large")?;
/// // CA from five starts on both searched trajectories.
/// let findings = &checked.findings;
/// assert_eq!((findings.len(), findings[0].choices.len()), (1, 2 * 5));
/// let worst: f32 = findings[0].worst().map(|choice| choice.least).sum();
/// assert!((worst / 2.0 - checked.outcome.estimates[1].found.search).abs() < 1e-5);
/// # Ok::<(), &str>(())
/// ```
pub fn check<'a, const B: usize>(
    system: impl Into<System<'a>>,
    watch: Watch<'_, '_>,
) -> Result<Checked, Error> {
    let system = system.into();
    let (model, task, policy) = (system.model, &system.task, system.policy);
    let rows = rows_needed::<B>(&model.dynamics, task, policy)?;
    let mut assessment = Assessment::new(model, task, policy)?;
    let mut findings: Vec<Findings> = Vec::new();
    let mut model_steps = 0_u64;
    while let Some(stage) = assessment.current() {
        let (rollout, level) = (&stage.rollout, stage.level);
        let keep = match (rollout.objective, level) {
            (Objective::Return, Level::Searched) => watch.keep,
            (Objective::Return, Level::Sampled)
                if rollout.variant.has_adversary() && !searches(rollout.variant) =>
            {
                watch.keep
            }
            _ => 0,
        };
        model_steps = model_steps.saturating_add(work_of_stage(&stage));
        let mut choices = Vec::new();
        let order = CandidateOrder::of(&stage);
        let end = stage.first.saturating_add(stage.trajectories);
        for pass in 0..order.passes {
            for first in (stage.first..end.max(1)).step_by(BLOCK) {
                let block = Block {
                    pass,
                    trajectories: first..end.min(first.saturating_add(BLOCK as u32)),
                    keep,
                };
                let candidate = |number| assessment.candidate(&stage, number);
                let searched = search_block::<B>(
                    (rollout, level),
                    order,
                    block,
                    &candidate,
                    rows,
                    watch.meter,
                )?;
                assessment.add_results(searched.iter().map(|one| one.result));
                choices.extend(searched.into_iter().filter_map(|one| one.choice));
            }
        }
        let choices = order.by_trajectory(choices);
        if choices.is_empty() {
            continue;
        }
        match findings.last_mut() {
            // The next block of the same trajectories.
            Some(last) if stage.first > 0 => last.choices.extend(choices),
            _ => findings.push(Findings {
                variant: rollout.variant,
                level,
                starts: stage.starts,
                choices,
            }),
        }
    }
    if let Some(meter) = watch.meter {
        meter.ensure_not_stopped()?;
    }
    Ok(Checked {
        outcome: assessment.outcome(),
        findings,
        model_steps,
    })
}

/// How the core numbers the candidates of a stage.
#[derive(Clone, Copy)]
struct CandidateOrder {
    /// Times that all trajectories are walked: once, or for every whole member.
    passes: u32,
    /// Starts on each trajectory in one pass.
    starts: u32,
    /// The first trajectory's number, and how many there are.
    first: u32,
    trajectories: u32,
}

impl CandidateOrder {
    fn of<P>(stage: &Stage<'_, P>) -> Self {
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
    fn by_trajectory(&self, choices: Vec<Choice>) -> Vec<Choice> {
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
fn rows_needed<const B: usize>(
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

/// The search of all searched trajectories: what came of each start, and what it chose on
/// the first `keep` trajectories.
///
/// # Errors
/// If the task needs too much memory, or the work was broken off.
pub(crate) fn search_all(
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    keep: u32,
    meter: &Meter<'_>,
) -> Result<(Vec<SearchResult>, Findings), Error> {
    let level = Level::Searched;
    let starts = Starts::of(rollout).count();
    let candidate = |number| Candidate::numbered(rollout, level, number);
    let searched = search_level((rollout, level), starts, keep, &candidate, meter)?;
    let results = searched.iter().map(|one| one.result).collect();
    Ok((results, findings(rollout, level, starts, searched)))
}

/// The focused search of all searched trajectories: what was chosen on each from the `keep`
/// starts that its trial brought lowest.
///
/// # Errors
/// If the task needs too much memory.
pub(crate) fn search_promising(
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    keep: usize,
    meter: &Meter<'_>,
) -> Result<Findings, Error> {
    let starts = Starts::of(rollout).count();
    let every = |number| Candidate::numbered(rollout, Level::Trial, number);
    let tried = search_level((rollout, Level::Trial), starts, 0, &every, meter)?;
    let kept: Vec<Shortlist> = tried
        .chunks(starts.max(1))
        .map(|trajectory| {
            let least = |start: usize| trajectory.get(start).map(|one| one.result.least);
            Shortlist::lowest(trajectory.len(), keep, least)
        })
        .collect();
    let candidate = |number: u32| {
        let (trajectory, place) = (number / keep.max(1) as u32, number as usize % keep.max(1));
        let list = kept.get(trajectory as usize);
        Candidate {
            trajectory,
            start: list.map_or(0, |list| list.at(place)),
        }
    };
    let level = Level::Searched;
    let all = level.trajectories(rollout.task);
    let searched = search_level((rollout, level), keep, all, &candidate, meter)?;
    Ok(findings(rollout, level, keep, searched))
}

fn findings(
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    level: Level,
    starts: usize,
    searched: Vec<Searched>,
) -> Findings {
    Findings {
        variant: rollout.variant,
        level,
        starts,
        choices: searched.into_iter().filter_map(|one| one.choice).collect(),
    }
}

/// All trajectories of a level, with `starts` candidates on each.
fn search_level(
    (rollout, level): (&Rollout<'_, StoredPolicy<'_>>, Level),
    starts: usize,
    keep: u32,
    candidate: &Numbering<'_>,
    meter: &Meter<'_>,
) -> Result<Vec<Searched>, Error> {
    let rows = rows_needed::<LANES>(&rollout.model.dynamics, rollout.task, rollout.policy)?;
    let order = CandidateOrder::of_level(rollout, level, starts);
    let block = Block {
        pass: 0,
        trajectories: 0..order.trajectories,
        keep,
    };
    let searched =
        search_block::<LANES>((rollout, level), order, block, candidate, rows, Some(meter))?;
    meter.ensure_not_stopped()?;
    Ok(searched)
}

/// What came of one candidate.
struct Searched {
    candidate: u32,
    result: SearchResult,
    /// On trajectories that are to be kept.
    choice: Option<Choice>,
}

/// The candidate with a number.
type Numbering<'n> = dyn Fn(u32) -> Candidate + Sync + 'n;

/// Some trajectories of a stage.
struct Block {
    pass: u32,
    trajectories: Range<u32>,
    /// Trajectories below this number whose choices are kept.
    keep: u32,
}

/// The search of all candidates of some trajectories, in their order. Those that walk
/// side by side start near each other.
fn search_block<const B: usize>(
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
