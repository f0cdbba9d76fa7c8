//! From the bytes in flash to an outcome, and from there to a permit.

use hambo_core::check::{Check, Outcome, Progress};
use hambo_core::link::device::Refusal;
use hambo_core::policy::StoredPolicy;
use hambo_core::{Bundle, Floor, Image, Permit};
use hambo_firmware::{board, workspace};

use crate::slices::Watched;

/// Rows of the workspace.
pub type Rows<'r> = &'r mut [[f32; workspace::LANES]];

/// What came of a bundle.
pub struct Checked {
    /// Of the controller.
    pub outcome: Outcome,
    /// Of the fallback, where there is one: it must pass by itself.
    fallback: Option<Permit>,
}

/// Reads bundle and floor, and checks the controller and its fallback.
#[inline(never)]
pub fn run(rows: Rows<'_>, slices: &dyn Watched) -> Result<Checked, Refusal> {
    // Borrowed where it was made: a copy would cost kilobytes of stack.
    match &Bundle::parse_prefix(board::model_region()) {
        Ok(bundle) => {
            let mut outcome = None;
            let keep = &mut |found| outcome = Some(found);
            let fallback = check_bundle(bundle, rows, slices, keep)?;
            match outcome {
                Some(outcome) => Ok(Checked { outcome, fallback }),
                None => Err(Refusal::Changed),
            }
        }
        Err(error) => Err(Refusal::Image(*error)),
    }
}

/// What is done with an outcome where it lies: a copy in every caller would cost kilobytes
/// of stack.
pub type Then<'t> = &'t mut dyn FnMut(Outcome);

/// Checks a bundle that was read. Gives the permit of the fallback, where there is one.
#[inline(never)]
pub fn check_bundle(
    bundle: &Bundle<'_>,
    rows: Rows<'_>,
    slices: &dyn Watched,
    then: Then<'_>,
) -> Result<Option<Permit>, Refusal> {
    admit(bundle, rows)?;
    slices.accepted();
    #[cfg(feature = "planted-panic")]
    plant_a_panic(board::model_region());

    let permit = match bundle.fallback() {
        Some(fallback) => Some(check_fallback(bundle, fallback, rows, slices)?),
        None => None,
    };
    check(bundle.image(), bundle.image().policy(), rows, slices, then)?;
    Ok(permit)
}

/// The permit of a fallback that passes.
#[inline(never)]
fn check_fallback(
    bundle: &Bundle<'_>,
    fallback: &StoredPolicy<'_>,
    rows: Rows<'_>,
    slices: &dyn Watched,
) -> Result<Permit, Refusal> {
    let image = bundle.image();
    let mut permit = None;
    let then = &mut |outcome: Outcome| permit = outcome.permit(image);
    check(image, fallback, rows, slices, then)?;
    permit.ok_or(Refusal::Fallback)
}

/// The hash of the image that flash holds now; none if it holds no bundle.
#[inline(never)]
pub fn image_hash() -> Option<[u8; 32]> {
    match &Bundle::parse_prefix(board::model_region()) {
        Ok(bundle) => Some(*bundle.image().hash()),
        Err(_) => None,
    }
}

/// The key to the outputs: bundle and floor are read, hashed and held against each
/// other again, and the decision is made again on what they say now.
#[inline(never)]
pub fn permit(checked: &Checked, rows: Rows<'_>) -> Option<Permit> {
    match &Bundle::parse_prefix(board::model_region()) {
        Ok(again) => permit_of(checked, again, rows),
        Err(_) => None,
    }
}

#[inline(never)]
fn permit_of(checked: &Checked, again: &Bundle<'_>, rows: Rows<'_>) -> Option<Permit> {
    admit(again, rows).ok()?;
    if again.fallback().is_some() {
        let fallback = checked.fallback.as_ref()?;
        if !(fallback.opens() && fallback.image_hash() == again.image().hash()) {
            return None;
        }
    }
    checked.outcome.permit(again.image())
}

/// Whether the bundle asks for as much as the robot does.
#[inline(never)]
fn admit(bundle: &Bundle<'_>, rows: Rows<'_>) -> Result<(), Refusal> {
    let floor = Floor::parse_prefix(board::floor_region()).map_err(Refusal::Image)?;
    let (rows, _) = rows.as_flattened_mut().as_chunks_mut();
    floor.admit(bundle, rows).map_err(Refusal::Floor)
}

/// Checks a controller. Out of line, so that its stack is not there yet while the bundle
/// is read.
#[inline(never)]
fn check(
    image: &Image<'_>,
    policy: &StoredPolicy<'_>,
    rows: Rows<'_>,
    slices: &dyn Watched,
    then: Then<'_>,
) -> Result<(), Refusal> {
    match &mut Check::with_policy(image, policy, rows) {
        Ok(check) => {
            check.pause_with(slices);
            then(finish(check, slices));
            Ok(())
        }
        Err(error) => Err(Refusal::Capacity(*error)),
    }
}

/// Runs a check to its end.
fn finish<'a>(check: &mut Check<'a, { workspace::LANES }>, slices: &dyn Watched) -> Outcome {
    slices.begin();
    loop {
        match check.advance(1) {
            Progress::Finished(outcome) => return outcome,
            Progress::Working { done, total } => slices.sweeps_done(done, total),
        }
    }
}

/// An index that may be out of bounds: the compiler cannot rule out its panic.
#[cfg(feature = "planted-panic")]
#[expect(clippy::indexing_slicing, reason = "this is the planted panic")]
fn plant_a_panic(bytes: &[u8]) {
    let index = usize::from(bytes.first().copied().unwrap_or(0)) << 20;
    defmt::info!("{=u8}", bytes[index]);
}
