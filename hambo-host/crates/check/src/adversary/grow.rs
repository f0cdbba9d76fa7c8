//! How many trajectories a margin without assumptions needs.

use hambo_core::adversary::levels;
use hambo_core::estimate::trajectories_for_betting;

use crate::case::options::MOST_GROWN;
use crate::case::parsed_case::ParsedCase;
use crate::search::parallel::{LANES, Watch, check};
use hambo_base::Error;

/// Trajectories that show how far returns spread.
const FEW: u32 = 100;

/// The number of sampled trajectories: those of the case, or as many as the betting bound
/// needs for every objective if the case may grow and [`MOST_GROWN`] are enough.
///
/// # Errors
/// If a part is bad or the task is too large.
pub(super) fn trajectories(case: &ParsedCase<'_>) -> Result<u32, Error> {
    let asked = case.effort.trajectories;
    if !case.case.may_grow {
        return Ok(asked);
    }
    let mut few = case.system();
    few.task.plan.effort.trajectories = FEW;
    few.task.plan.effort.searched = 0;
    let outcome = check::<LANES>(few.clone(), Watch::NONE)?.outcome;
    // What the levels are is asked of the check itself.
    let own = case.system();
    let task = &own.task;
    let starts = own.starts_of_their_own();
    let adversarial = outcome.estimates.iter();
    let adversarial = adversarial.filter(|one| one.variant.has_adversary());
    let share = |objective| {
        task.constraint(objective)
            .is_some_and(|one| one.probability.is_some())
    };
    let needed = adversarial.map(|one| match task.bounds(one.objective) {
        // The limit of a share takes what it gets.
        _ if share(one.objective) => 0,
        Some(bounds) => {
            let levels = levels(&own.rollout(one.variant, one.objective));
            let level = task.error_budget().level(levels);
            trajectories_for_betting(bounds, one.sampled.mean, level).saturating_mul(starts)
        }
        None => 0,
    });
    let needed = needed.max().unwrap_or(0);
    Ok(if needed <= MOST_GROWN {
        asked.max(needed)
    } else {
        asked
    })
}
