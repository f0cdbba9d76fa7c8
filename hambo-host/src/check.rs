//! The core's check on the host.

use hambo_core::check::{Check, Outcome, Progress};
use hambo_core::image::Image;
use hambo_core::rollout::CapacityError;

/// Trajectories that walk side by side.
const LANES: usize = 16;
/// Sweeps between two looks at the progress.
const SLICE: u32 = 64;

/// Runs the check of an image to its verdict.
///
/// # Errors
/// If the task is too large to be counted.
pub fn check(image: &Image<'_>) -> Result<Outcome, CapacityError> {
    check_in_lanes::<LANES>(image)
}

/// Likewise with a chosen number of lanes, which changes the time and not a
/// bit of the result.
///
/// # Errors
/// If the task is too large to be counted.
pub fn check_in_lanes<const B: usize>(image: &Image<'_>) -> Result<Outcome, CapacityError> {
    let rows = Check::<B>::rows_needed(image)?;
    let mut buffer = vec![[0.0; B]; rows];
    let mut check = Check::new(image, &mut buffer)?;
    loop {
        if let Progress::Finished(outcome) = check.advance(SLICE) {
            return Ok(outcome);
        }
    }
}
