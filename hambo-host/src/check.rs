//! The core's check on the host, its lanes over all cores.

use hambo_core::check::{Assessment, Outcome, Search};
use hambo_core::image::Image;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::{Buffers, CapacityError, Rollout};
use rayon::prelude::*;

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

/// Likewise with a chosen number of lanes, which changes the time and not a
/// bit of the result; nor does the number of threads, since groups of lanes
/// are searched in any order and taken in in theirs.
///
/// # Errors
/// If the task needs too much memory.
pub fn check_in_lanes<const B: usize>(image: &Image<'_>) -> Result<Outcome, CapacityError> {
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
    while let Some(rollout) = assessment.current() {
        let candidates = Assessment::candidates(&rollout);
        // What is left over would fill few lanes of a whole group.
        let over = candidates % (B as u32);
        let whole = if over <= NARROW as u32 {
            candidates - over
        } else {
            candidates
        };
        let groups: Vec<u32> = (0..whole).step_by(B).collect();
        let wide = || -> Result<Vec<Search<B>>, CapacityError> {
            let groups = groups.par_iter().map_init(
                || vec![[0.0; B]; rows],
                |rows, first| search(&rollout, *first, rows),
            );
            groups.collect()
        };
        let narrow = || {
            let some = (whole < candidates).then(|| vec![[0.0; NARROW]; rows]);
            some.map(|mut rows| search::<NARROW>(&rollout, whole, &mut rows))
                .transpose()
        };
        let (searched, left_over) = rayon::join(wide, narrow);
        for (first, search) in groups.iter().zip(&searched?) {
            assessment.take_in(*first, search);
        }
        if let Some(search) = left_over? {
            assessment.take_in(whole, &search);
        }
    }
    Ok(assessment.outcome())
}

/// The whole search of one group.
fn search<const B: usize>(
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    first: u32,
    rows: &mut [[f32; B]],
) -> Result<Search<B>, CapacityError> {
    let (dynamics, task) = (&rollout.model.dynamics, rollout.task);
    let mut buffers = Buffers::carve(rows, dynamics, task, rollout.policy)?;
    let mut search = Search::new(rollout, first);
    while !search.sweep(rollout, &mut buffers) {}
    Ok(search)
}
