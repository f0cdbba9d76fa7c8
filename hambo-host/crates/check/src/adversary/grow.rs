//! How many trajectories a margin without assumptions needs.

use hambo_core::estimate::trajectories_for_betting;
use hambo_core::image::Image;

use crate::MOST_GROWN;
use crate::case::Case;
use crate::in_lanes::check;
use hambo_base::Error;
use hambo_task::image::Adversaries;

/// Trajectories of the look at how far returns spread.
const FEW: u32 = 100;

/// The case with as many sampled trajectories as the betting bound needs for every
/// objective, if it may grow and so many are enough; else as it is.
///
/// # Errors
/// If a part is bad or the task is too large.
pub(super) fn grown(case: &Case, adversaries: &Adversaries) -> Result<Case, Error> {
    let mut grown = case.clone();
    if !case.may_grow {
        return Ok(grown);
    }
    let mut look = case.clone();
    look.effort.trajectories = FEW;
    look.effort.searched = 0;
    let bytes = look.image(adversaries)?;
    let image = Image::parse(bytes.as_bytes())?;
    let task = image.task();
    let level = task.error_budget().level();
    let outcome = check(&image)?;
    let adversarial = outcome.estimates.iter();
    let adversarial = adversarial.filter(|one| one.variant.has_adversary());
    let share = |objective| {
        task.constraint(objective)
            .is_some_and(|one| one.probability.is_some())
    };
    let needed = adversarial.map(|one| match task.bounds(one.objective) {
        // The limit of a share takes what it gets.
        _ if share(one.objective) => 0,
        Some(bounds) => trajectories_for_betting(bounds, one.sampled.mean, level),
        None => 0,
    });
    let needed = needed.max().unwrap_or(0);
    if needed <= MOST_GROWN {
        grown.effort.trajectories = grown.effort.trajectories.max(needed);
    }
    Ok(grown)
}
