//! The core's check on the host, its lanes over all cores.

use std::ops::Range;

use hambo_core::adversary::{Level, Search, SearchResult, Starts, searches};
use hambo_core::check::{Assessment, Outcome};
use hambo_core::image::Image;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::{Buffers, CapacityError, Objective, Rollout};
use hambo_core::variant::Variant;
use rayon::prelude::*;

use crate::Error;
use crate::check::findings::{Choice, Findings};
use crate::check::neighbours::in_groups;
use crate::foundation::meter::Meter;
use crate::foundation::observer::Unobserved;

/// Trajectories that walk side by side: the kernels' largest group.
const LANES: usize = 32;

/// What one thread may take. A horizon of a thousand steps needs some megabytes; one of
/// billions is a slip, and must not end in an abort.
const MOST_BYTES: usize = 1 << 30;

/// Lanes of a group of few trajectories that are left over.
const NARROW: usize = 8;

/// Trajectories whose results are held at a time: memory does not grow with more.
const BLOCK: usize = 1 << 14;

/// Runs the check of an image to its verdict.
///
/// # Errors
/// If the task needs too much memory.
pub fn check(image: &Image<'_>) -> Result<Outcome, CapacityError> {
    check_in_lanes::<LANES>(image)
}

/// Likewise, and keeps what the adversaries chose against the return on the first
/// trajectories: of the searched ones, or where a variant searches none, of all.
///
/// # Errors
/// If the task needs too much memory.
///
/// ```
/// use hambo_host::check::in_lanes::check_and_keep;
///
/// let image = hambo_core::example::image()?;
/// let (outcome, findings) = check_and_keep(&image, 2).map_err(|_| "too large")?;
/// // CA from five starts on both searched trajectories.
/// assert_eq!(findings.len(), 1);
/// assert_eq!(findings[0].choices.len(), 2 * 5);
/// let worst: f32 = findings[0].worst().map(|choice| choice.least).sum();
/// assert!((worst / 2.0 - outcome.estimates[1].found.search).abs() < 1e-5);
/// # Ok::<(), &str>(())
/// ```
pub fn check_and_keep(
    image: &Image<'_>,
    trajectories: u32,
) -> Result<(Outcome, Vec<Findings>), CapacityError> {
    let mut nobody = Unobserved;
    run::<LANES>(image, trajectories, &Meter::begin(&mut nobody, "check", 0))
}

/// Likewise, and counts the [`work`] on a meter, which may break it off.
///
/// # Errors
/// If the task needs too much memory, or the work was broken off.
pub(super) fn check_and_tell(
    image: &Image<'_>,
    trajectories: u32,
    meter: &Meter<'_>,
) -> Result<(Outcome, Vec<Findings>), Error> {
    let found = run::<LANES>(image, trajectories, meter)?;
    meter.hold()?;
    Ok(found)
}

/// Steps of the model that an image's check takes; a step back counts as two.
pub(super) fn work(image: &Image<'_>) -> Result<u64, CapacityError> {
    let assessment = Assessment::new(image.model(), image.task(), image.policy())?;
    let each = assessment.plan();
    Ok(each
        .map(|(rollout, level)| work_of(&rollout, level))
        .fold(0, u64::saturating_add))
}

/// Likewise, of one level.
pub(super) fn work_of<P>(rollout: &Rollout<'_, P>, level: Level) -> u64 {
    let starts = Starts::of(rollout).count() as u64;
    let candidates = u64::from(level.trajectories(rollout.task)).saturating_mul(starts);
    candidates.saturating_mul(work_of_one(rollout, level))
}

fn work_of_one<P>(rollout: &Rollout<'_, P>, level: Level) -> u64 {
    let sweeps = u64::from(level.sweeps(rollout.variant, rollout.task));
    u64::from(rollout.task.horizon).saturating_mul(1 + 3 * sweeps)
}

/// The check with a chosen number of lanes, which changes the time and not a
/// bit of the result; nor does the number of threads, since candidates are
/// searched in any order and added in theirs.
///
/// # Errors
/// If the task needs too much memory.
pub fn check_in_lanes<const B: usize>(image: &Image<'_>) -> Result<Outcome, CapacityError> {
    let mut nobody = Unobserved;
    let meter = Meter::begin(&mut nobody, "check", 0);
    run::<B>(image, 0, &meter).map(|(outcome, _)| outcome)
}

fn run<const B: usize>(
    image: &Image<'_>,
    trajectories: u32,
    meter: &Meter<'_>,
) -> Result<(Outcome, Vec<Findings>), CapacityError> {
    let (model, task, policy) = (image.model(), image.task(), image.policy());
    let rows = rows_needed::<B>(image)?;
    let mut assessment = Assessment::new(model, task, policy)?;
    let mut findings = Vec::new();
    while let Some((rollout, level)) = assessment.current() {
        let keep = match (rollout.objective, level, rollout.variant) {
            (Objective::Return, Level::Searched, _) => trajectories,
            (Objective::Return, Level::Sampled, variant) => {
                if variant.has_adversary() && !searches(variant) {
                    trajectories
                } else {
                    0
                }
            }
            (Objective::Constraint(_), ..) => 0,
        };
        let mut choices = Vec::new();
        let all = level.trajectories(task);
        let order = CandidateOrder::of(&rollout, level);
        for pass in 0..order.passes {
            for first in (0..all.max(1)).step_by(BLOCK) {
                let block = first..all.min(first.saturating_add(BLOCK as u32));
                let searched =
                    search_block::<B>(&rollout, level, (pass, block), keep, rows, meter)?;
                assessment.add_results(searched.iter().map(|one| one.result));
                choices.extend(searched.into_iter().filter_map(|one| one.choice));
            }
        }
        let choices = order.by_trajectory(choices);
        if !choices.is_empty() {
            findings.push(Findings {
                variant: rollout.variant,
                level,
                starts: Starts::of(&rollout).count(),
                choices,
            });
        }
    }
    Ok((assessment.outcome(), findings))
}

/// How the core numbers the candidates of a level.
#[derive(Clone, Copy)]
struct CandidateOrder {
    /// Times that all trajectories are walked: once, or for every whole member.
    passes: u32,
    /// Starts on each trajectory in one pass.
    starts: u32,
    trajectories: u32,
}

impl CandidateOrder {
    fn of<P>(rollout: &Rollout<'_, P>, level: Level) -> Self {
        let starts = Starts::of(rollout).count() as u32;
        let whole_members = rollout.variant == Variant::DiscreteAdversaryInf;
        Self {
            passes: if whole_members { starts } else { 1 },
            starts: if whole_members { 1 } else { starts },
            trajectories: level.trajectories(rollout.task),
        }
    }

    /// The first candidate of a trajectory in a pass.
    fn first(&self, pass: u32, trajectory: u32) -> u32 {
        let before = pass.saturating_mul(self.trajectories);
        before.saturating_add(trajectory.saturating_mul(self.starts))
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
fn rows_needed<const B: usize>(image: &Image<'_>) -> Result<usize, CapacityError> {
    let needed = Buffers::<B>::rows_needed(&image.model().dynamics, image.task(), image.policy())?;
    let available = MOST_BYTES / size_of::<[f32; B]>();
    if needed > available {
        return Err(CapacityError { needed, available });
    }
    Ok(needed)
}

/// The search of all searched trajectories of a rollout of an image: what came of each start, and what
/// it chose.
///
/// # Errors
/// If the task needs too much memory.
pub(super) fn search_all(
    image: &Image<'_>,
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    meter: &Meter<'_>,
) -> Result<(Vec<SearchResult>, Findings), Error> {
    let (level, task) = (Level::Searched, rollout.task);
    let rows = rows_needed::<LANES>(image)?;
    let all = level.trajectories(task);
    let searched = search_block::<LANES>(rollout, level, (0, 0..all), all, rows, meter)?;
    meter.hold()?;
    let results = searched.iter().map(|one| one.result).collect();
    let findings = Findings {
        variant: rollout.variant,
        level,
        starts: Starts::of(rollout).count(),
        choices: searched.into_iter().filter_map(|one| one.choice).collect(),
    };
    Ok((results, findings))
}

/// The same without what was chosen.
///
/// # Errors
/// If the task needs too much memory.
pub(super) fn search_results(
    image: &Image<'_>,
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    meter: &Meter<'_>,
) -> Result<Vec<SearchResult>, Error> {
    let level = Level::Searched;
    let rows = rows_needed::<LANES>(image)?;
    let all = level.trajectories(rollout.task);
    let searched = search_block::<LANES>(rollout, level, (0, 0..all), 0, rows, meter)?;
    meter.hold()?;
    Ok(searched.iter().map(|one| one.result).collect())
}

/// What came of one candidate.
struct Searched {
    candidate: u32,
    result: SearchResult,
    /// On trajectories that are to be kept.
    choice: Option<Choice>,
}

/// The search of all candidates of some trajectories, in their order. Those that walk
/// side by side start near each other.
fn search_block<const B: usize>(
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    level: Level,
    (pass, trajectories): (u32, Range<u32>),
    keep: u32,
    rows: usize,
    meter: &Meter<'_>,
) -> Result<Vec<Searched>, CapacityError> {
    let candidates = CandidateOrder::of(rollout, level);
    let group = B / candidates.starts.max(1) as usize;
    let keep = candidates.first(pass, keep.min(candidates.trajectories));
    let order: Vec<u32> = in_groups(rollout, level, trajectories, group)
        .into_iter()
        .flat_map(|trajectory| {
            let first = candidates.first(pass, trajectory);
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
            |rows, group| search(rollout, level, group, keep, rows, meter),
        );
        groups.collect()
    };
    let narrow = || -> Result<Vec<Searched>, CapacityError> {
        if narrow.is_empty() {
            return Ok(Vec::new());
        }
        let rows = &mut vec![[0.0; NARROW]; rows];
        search(rollout, level, narrow, keep, rows, meter)
    };
    let (wide, narrow) = rayon::join(wide, narrow);
    let mut searched: Vec<Searched> = wide?.into_iter().flatten().chain(narrow?).collect();
    searched.sort_unstable_by_key(|one| one.candidate);
    Ok(searched)
}

/// The whole search of one group, and the choices of its candidates below `keep`.
fn search<const B: usize>(
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    level: Level,
    group: &[u32],
    keep: u32,
    rows: &mut [[f32; B]],
    meter: &Meter<'_>,
) -> Result<Vec<Searched>, CapacityError> {
    let (dynamics, task) = (&rollout.model.dynamics, rollout.task);
    let mut buffers = Buffers::carve(rows, dynamics, task, rollout.policy)?;
    // Lanes without a candidate do what the first does.
    let lanes = std::array::from_fn(|lane| group.get(lane).or(group.first()).map_or(0, |c| *c));
    let mut search = Search::<B>::new(rollout, level, lanes);
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
        if meter.add(done).is_break() {
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
