//! From the bytes in flash to an outcome, and from there to a permit.

use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use hambo_core::check::{Check, OfController, OfFallback, Outcome, Progress, Subject};
use hambo_core::image::Role;
use hambo_core::link::device::Refusal;
use hambo_core::policy::StoredPolicy;
use hambo_core::{Admitted, Bundle, CapacityError, FallbackPermit, Floor, Permit};
use hambo_firmware::{board, handover, workspace};

use crate::slices::Watched;

/// Where the bundle that was read last lies and how long it is, for a debugger.
#[used]
static BUNDLE_PLACE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Where the floor that was read last lies and how long it is.
#[used]
static FLOOR_PLACE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Tells a debugger where a bundle lies.
pub fn show(bundle: &Bundle<'_>) {
    tell_place(&BUNDLE_PLACE, bundle);
}

fn tell_place<T>([address, length]: &[AtomicUsize; 2], of: &T) {
    address.store(ptr::from_ref(of).addr(), Ordering::Relaxed);
    length.store(size_of_val(of), Ordering::Relaxed);
}

/// Rows of the workspace.
pub type Rows<'r> = &'r mut [[f32; workspace::LANES]];

/// What came of a bundle.
pub struct Checked {
    /// Of the controller.
    pub outcome: Outcome<OfController>,
    /// Of the fallback, where there is one: it must pass by itself.
    fallback: Option<FallbackPermit>,
}

/// Reads bundle and floor, and checks the controller and its fallback.
#[inline(never)]
pub fn run(rows: Rows<'_>, slices: &dyn Watched) -> Result<Checked, Refusal> {
    // Borrowed where it was made: a copy would cost kilobytes of stack.
    match &Bundle::parse_prefix(board::model_region()) {
        Ok(bundle) => {
            show(bundle);
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
pub type Then<'t, S> = &'t mut dyn FnMut(Outcome<S>);

/// Checks a bundle that was read. Gives the permit of the fallback, where there is one.
#[inline(never)]
pub fn check_bundle(
    bundle: &Bundle<'_>,
    rows: Rows<'_>,
    slices: &dyn Watched,
    then: Then<'_, OfController>,
) -> Result<Option<FallbackPermit>, Refusal> {
    let admitted = admit(bundle, rows)?;
    slices.accepted();
    #[cfg(feature = "planted-panic")]
    plant_a_panic(board::model_region());

    let permit = check_fallback(&admitted, rows, slices)?;
    check(|| Check::of_controller(&admitted, rows), slices, then)?;
    Ok(permit)
}

/// The permit of a fallback that passes, where there is one.
#[inline(never)]
fn check_fallback(
    admitted: &Admitted<'_>,
    rows: Rows<'_>,
    slices: &dyn Watched,
) -> Result<Option<FallbackPermit>, Refusal> {
    let Some(fallback) = admitted.fallback() else {
        return Ok(None);
    };
    let mut permit = None;
    let then = &mut |outcome: Outcome<OfFallback>| permit = outcome.permit(admitted);
    check(|| Check::of_fallback(&fallback, rows), slices, then)?;
    match permit {
        Some(permit) => Ok(Some(permit)),
        None => Err(Refusal::Fallback),
    }
}

/// What is done with the bundle that flash holds now.
#[inline(never)]
pub fn with_bundle<R>(then: impl FnOnce(Option<&Bundle<'_>>) -> R) -> R {
    then(Bundle::parse_prefix(board::model_region()).as_ref().ok())
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
    let admitted = admit(again, rows).ok()?;
    checked.outcome.permit(&admitted, checked.fallback.as_ref())
}

/// The bundle as one that asks for as much as the robot does, both signed.
#[inline(never)]
fn admit<'b>(bundle: &'b Bundle<'b>, rows: Rows<'_>) -> Result<Admitted<'b>, Refusal> {
    handover::ensure(Role::Controllers, bundle.bytes())?;
    let floor = Floor::parse_prefix(board::floor_region()).map_err(Refusal::Image)?;
    tell_place(&FLOOR_PLACE, &floor);
    handover::ensure(Role::Floor, floor.bytes())?;
    let (rows, _) = rows.as_flattened_mut().as_chunks_mut();
    floor.admit(bundle, rows).map_err(Refusal::Floor)
}

/// A check of a bundle's controller or of its fallback.
type Made<'c, S> = Result<Check<'c, { workspace::LANES }, StoredPolicy<'c>, S>, CapacityError>;

/// Checks a controller. Out of line, so that its stack is not there yet while the bundle
/// is read.
#[inline(never)]
fn check<'c, S: Subject>(
    make: impl FnOnce() -> Made<'c, S>,
    slices: &'c dyn Watched,
    then: Then<'_, S>,
) -> Result<(), Refusal> {
    match &mut make() {
        Ok(check) => {
            check.pause_with(slices);
            then(finish(check, slices));
            Ok(())
        }
        Err(error) => Err(Refusal::Capacity(*error)),
    }
}

/// Runs a check to its end.
fn finish<'c, S: Subject>(
    check: &mut Check<'c, { workspace::LANES }, StoredPolicy<'c>, S>,
    slices: &dyn Watched,
) -> Outcome<S> {
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
