//! The core's check on the host, its lanes over all cores.

use hambo_core::check::{Assessment, Outcome, Search};
use hambo_core::image::Image;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::{Buffers, CapacityError, Objective, Rollout};
use rayon::prelude::*;

use crate::findings::{Choice, Findings};

/// Trajectories that walk side by side: the kernels' largest group.
const LANES: usize = 32;

/// What one thread may take. A horizon of a thousand steps needs some megabytes; one of
/// billions is a slip, and must not end in an abort.
const MOST_BYTES: usize = 1 << 30;

/// Lanes of a group of few trajectories that are left over.
const NARROW: usize = 8;

/// Runs the check of an image to its verdict.
///
/// # Errors
/// If the task needs too much memory.
pub fn check(image: &Image<'_>) -> Result<Outcome, CapacityError> {
    check_in_lanes::<LANES>(image)
}

/// Likewise, and keeps what the adversaries chose on the first trajectories, for every
/// estimate of the return.
///
/// # Errors
/// If the task needs too much memory.
///
/// ```
/// use hambo_host::check::check_and_keep;
///
/// let image = hambo_core::example::image()?;
/// let (outcome, findings) = check_and_keep(&image, 2).map_err(|_| "too large")?;
/// // Mean propagation, and CA from three starts on both trajectories.
/// assert_eq!(findings.len(), 2);
/// assert_eq!(findings[1].choices.len(), 2 * 3);
/// let worst: f32 = findings[1].worst().map(|choice| choice.least).sum();
/// assert!((worst / 2.0 - outcome.estimates[1].mean).abs() < 1e-5);
/// # Ok::<(), &str>(())
/// ```
pub fn check_and_keep(
    image: &Image<'_>,
    trajectories: u32,
) -> Result<(Outcome, Vec<Findings>), CapacityError> {
    run::<LANES>(image, trajectories)
}

/// The check with a chosen number of lanes, which changes the time and not a
/// bit of the result; nor does the number of threads, since groups of lanes
/// are searched in any order and taken in in theirs.
///
/// # Errors
/// If the task needs too much memory.
pub fn check_in_lanes<const B: usize>(image: &Image<'_>) -> Result<Outcome, CapacityError> {
    run::<B>(image, 0).map(|(outcome, _)| outcome)
}

fn run<const B: usize>(
    image: &Image<'_>,
    trajectories: u32,
) -> Result<(Outcome, Vec<Findings>), CapacityError> {
    let (model, task, policy) = (&image.model, &image.task, &image.policy);
    let rows = Buffers::<B>::rows_needed(&model.dynamics, task, policy)?;
    let available = MOST_BYTES / size_of::<[f32; B]>();
    if rows > available {
        return Err(CapacityError {
            needed: rows,
            available,
        });
    }
    let mut assessment = Assessment::new(model, task, policy)?;
    let mut findings = Vec::new();
    while let Some(rollout) = assessment.current() {
        let candidates = Assessment::candidates(&rollout);
        let starts = Search::<1>::start_total(&rollout).max(1);
        let keep = match rollout.objective {
            Objective::Return => candidates.min(trajectories.saturating_mul(starts as u32)),
            Objective::Constraint(_) => 0,
        };
        // What is left over would fill few lanes of a whole group.
        let over = candidates % (B as u32);
        let whole = if over <= NARROW as u32 {
            candidates - over
        } else {
            candidates
        };
        let groups: Vec<u32> = (0..whole).step_by(B).collect();
        let wide = || -> Result<Vec<(Search<B>, Vec<Choice>)>, CapacityError> {
            let groups = groups.par_iter().map_init(
                || vec![[0.0; B]; rows],
                |rows, first| search(&rollout, *first, keep, rows),
            );
            groups.collect()
        };
        let narrow = || {
            let some = (whole < candidates).then(|| vec![[0.0; NARROW]; rows]);
            some.map(|mut rows| search::<NARROW>(&rollout, whole, keep, &mut rows))
                .transpose()
        };
        let (searched, left_over) = rayon::join(wide, narrow);
        let mut choices = Vec::new();
        for (first, (search, kept)) in groups.iter().zip(searched?) {
            assessment.take_in(*first, &search);
            choices.extend(kept);
        }
        if let Some((search, kept)) = left_over? {
            assessment.take_in(whole, &search);
            choices.extend(kept);
        }
        if !choices.is_empty() {
            findings.push(Findings {
                variant: rollout.variant,
                starts,
                choices,
            });
        }
    }
    Ok((assessment.outcome(), findings))
}

/// The whole search of one group, and the choices of its candidates below `keep`.
fn search<const B: usize>(
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    first: u32,
    keep: u32,
    rows: &mut [[f32; B]],
) -> Result<(Search<B>, Vec<Choice>), CapacityError> {
    let (dynamics, task) = (&rollout.model.dynamics, rollout.task);
    let mut buffers = Buffers::carve(rows, dynamics, task, rollout.policy)?;
    let mut search = Search::new(rollout, first);
    let mut kept = vec![Choice::none(); B.min(keep.saturating_sub(first) as usize)];
    loop {
        let last = search.sweep(rollout, &mut buffers);
        for (lane, choice) in kept.iter_mut().enumerate() {
            choice.follow(&search, lane, last, &buffers);
        }
        if last {
            return Ok((search, kept));
        }
    }
}
