//! How many trajectories a margin without assumptions needs, and whether it is worth them.

use hambo_core::adversary::levels;
use hambo_core::estimate::trajectories_for_betting;
use hambo_core::task::Objective;

use super::scout;
use crate::case::options::MOST_GROWN;
use crate::case::parsed_case::ParsedCase;
use crate::case::system::System;
use crate::search::parallel::{LANES, Watch, check, work};
use hambo_base::Error;

/// Trajectories that show how far returns spread.
const FEW: u32 = 100;

/// Steps of the model that a check may take after it grew to be rid of Student's t, whatever it
/// takes without.
const CHEAP: u64 = 20_000_000;

/// The number of sampled trajectories: those of the case, or as many as the betting bound
/// needs for every objective if the case may grow and [`MOST_GROWN`] are enough.
///
/// Where betting decides whatever it costs, more trajectories make the bound itself closer, and
/// are taken. Where Student's t would decide instead they only take away its assumption: that is
/// worth as many steps again as search and check take without, or [`CHEAP`] in all.
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
    let share = |objective| {
        task.constraint(objective)
            .is_some_and(|one| one.probability.is_some())
    };
    let needed = |wanted: &dyn Fn(Objective) -> bool| {
        let adversarial = outcome.estimates.iter();
        let adversarial = adversarial.filter(|one| one.variant.has_adversary());
        let each = adversarial.filter(|one| wanted(one.objective)).map(|one| {
            match task.bounds(one.objective) {
                // The limit of a share takes what it gets.
                _ if share(one.objective) => 0,
                Some(bounds) => {
                    let levels = levels(&own.rollout(one.variant, one.objective));
                    let level = task.error_budget().level(levels);
                    trajectories_for_betting(bounds, one.sampled.mean, level).saturating_mul(starts)
                }
                None => 0,
            }
        });
        let needed = each.max().unwrap_or(0);
        if needed <= MOST_GROWN {
            asked.max(needed)
        } else {
            asked
        }
    };
    // All objectives have the same trajectories.
    let all = needed(&|_| true);
    if all == asked {
        return Ok(asked);
    }
    let decided = needed(&|objective| task.is_distribution_free(objective));
    let [without, with] = [decided, all].map(|count| steps(&own, count));
    Ok(if is_worth(without?, with?) {
        all
    } else {
        decided
    })
}

/// Steps of search and check with so many sampled trajectories.
fn steps(system: &System<'_>, trajectories: u32) -> Result<u64, Error> {
    let mut system = system.clone();
    system.task.plan.effort.trajectories = trajectories;
    Ok(scout::work(&system).saturating_add(work(&system)?))
}

/// Whether to be rid of Student's t is worth this many steps instead of those without.
fn is_worth(without: u64, with: u64) -> bool {
    with <= CHEAP.max(without.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_doubles_or_stays_cheap() {
        assert!(is_worth(100, CHEAP) && !is_worth(100, CHEAP + 1));
        assert!(is_worth(CHEAP, 2 * CHEAP) && !is_worth(CHEAP, 2 * CHEAP + 1));
    }
}
