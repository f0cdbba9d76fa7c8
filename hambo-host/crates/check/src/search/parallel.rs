//! The core's check on the host: groups of lanes over all processor cores.

use hambo_core::adversary::{Candidate, Level, SearchResult, Starts, searches};
use hambo_core::check::{Assessment, Outcome, Stage};
use hambo_core::numeric::CapacityError;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::Rollout;
use hambo_core::task::Objective;

use super::ahead::{Ahead, kept_candidate, promising, tried};
use super::findings::Findings;
use super::groups::{
    Block, CandidateOrder, Searched, rows_needed, search_block, search_level, work_of_one,
};
use super::logged_starts::{LoggedStarts, NoiseShare};
use crate::case::system::System;
use hambo_base::Error;
use hambo_base::meter::Meter;

/// Trajectories that walk side by side: the kernels' largest group.
pub const LANES: usize = 32;

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
    /// What the noise takes off each bound over logged starts.
    pub noise_shares: Vec<NoiseShare>,
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
    let mut ahead: Option<Ahead> = None;
    let mut logged = LoggedStarts::default();
    while let Some(stage) = assessment.current() {
        let (rollout, level) = (&stage.rollout, stage.level);
        let keep_of = |level| match (rollout.objective, level) {
            (Objective::Return, Level::Searched) => watch.keep,
            (Objective::Return, Level::Sampled)
                if rollout.variant.has_adversary() && !searches(rollout.variant) =>
            {
                watch.keep
            }
            _ => 0,
        };
        let keep = keep_of(level);
        model_steps = model_steps.saturating_add(work_of_stage(&stage));
        let mut choices = Vec::new();
        let order = CandidateOrder::of(&stage);
        logged.begin(&stage);
        if let Some(begun) = Ahead::of::<B>(&stage, keep_of(Level::Searched), watch.meter)? {
            ahead = Some(begun);
        }
        let known = ahead.as_mut().and_then(|ahead| ahead.take(&stage));
        let passes = if known.is_some() { 0 } else { order.passes };
        if let Some((results, kept)) = known {
            assessment.add_results(results);
            choices = kept;
        }
        let end = stage.first.saturating_add(stage.trajectories);
        for pass in 0..passes {
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
                logged.add(&stage, searched.iter().map(|one| &one.result));
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
    let outcome = assessment.outcome();
    Ok(Checked {
        noise_shares: logged.shares(&outcome, &system),
        outcome,
        findings,
        model_steps,
    })
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
    let searched = search_level::<LANES>((rollout, level), starts, keep, &candidate, Some(meter))?;
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
    let tried = tried::<LANES>(rollout, starts, Some(meter))?;
    let kept = promising(&tried, starts, keep);
    let candidate = |number| kept_candidate(&kept, keep, number);
    let level = Level::Searched;
    let all = level.trajectories(rollout.task);
    let searched = search_level::<LANES>((rollout, level), keep, all, &candidate, Some(meter))?;
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
