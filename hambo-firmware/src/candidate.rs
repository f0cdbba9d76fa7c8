//! A second bundle in flash is checked while the first one's controller drives.
//!
//! It gets what the drive leaves: the time between two periods and the rest of the workspace. What
//! comes of it is told to the robot's side and opens nothing: to drive, it must be
//! checked at the next start, as every bundle.

use crate::control_loop::Shared;
use crate::gate::{self, Rows};
use crate::slices::Watched;
use core::ops::ControlFlow;
use hambo_core::check::{OfController, Outcome};
use hambo_core::image::{ImageError, Part, Problem};
use hambo_core::link::device::Refusal;
use hambo_core::link::drive::CandidateResult;
use hambo_core::{Bundle, Pause, WorkDone};
use hambo_firmware::board;

/// Between two slices of the check it is asked whether the drive goes on: with its end the check
/// ends too.
struct WhileDriving<'s>(&'s Shared);

impl Pause for WhileDriving<'_> {
    fn pause(&self, _proof: Option<WorkDone>) -> ControlFlow<()> {
        if self.0.is_going() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// The watchdog is the loop's while it drives.
impl Watched for WhileDriving<'_> {}

/// Checks the candidate, if there is one, and publishes what came of it unless the drive has
/// ended before.
#[inline(never)]
pub fn check(rows: Rows<'_>, shared: &Shared) {
    let result = match &Bundle::parse_prefix(board::candidate_region()) {
        // Erased flash, or the end of a long bundle.
        Err(ImageError {
            part: Part::Bundle,
            problem: Problem::Magic,
        }) => return,
        Err(error) => CandidateResult::refused(Refusal::Image(*error)),
        Ok(candidate) => checked(candidate, rows, shared),
    };
    if shared.is_going() {
        shared.publish(CandidateResult {
            period: shared.periods(),
            ..result
        });
    }
}

#[inline(never)]
fn checked(candidate: &Bundle<'_>, rows: Rows<'_>, shared: &Shared) -> CandidateResult {
    let image = candidate.image();
    let mut result = CandidateResult::refused(Refusal::Changed);
    let tell =
        &mut |outcome: Outcome<OfController>| result = CandidateResult::checked(&outcome, image);
    match gate::check_bundle(candidate, rows, &WhileDriving(shared), tell) {
        Ok(_) => result,
        Err(refusal) => CandidateResult::refused(refusal),
    }
}
