//! From the bytes in flash to an outcome, and from there to a permit.

use hambo_core::{
    Bundle, Floor, Image, Permit,
    check::{Check, Outcome, Progress},
    device_link::Refusal,
    policy::StoredPolicy,
};
use hambo_firmware::{board, workspace};

use crate::slices::Slices;

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
pub fn run(rows: Rows<'_>, slices: &Slices<'_>) -> Result<Checked, Refusal> {
    // Borrowed where it was made: a copy would cost kilobytes of stack.
    match &Bundle::parse_prefix(board::model_region()) {
        Ok(bundle) => check_bundle(bundle, rows, slices),
        Err(error) => Err(Refusal::Image(*error)),
    }
}

/// Likewise of a bundle that was read.
#[inline(never)]
fn check_bundle(
    bundle: &Bundle<'_>,
    rows: Rows<'_>,
    slices: &Slices<'_>,
) -> Result<Checked, Refusal> {
    admit(bundle, rows)?;
    defmt::info!("bundle accepted");
    #[cfg(feature = "planted-panic")]
    plant_a_panic(board::model_region());

    let fallback = match bundle.fallback() {
        Some(fallback) => Some(check_fallback(bundle, fallback, rows, slices)?),
        None => None,
    };
    let outcome = check(bundle.image(), bundle.image().policy(), rows, slices)?;
    Ok(Checked { outcome, fallback })
}

/// The permit of a fallback that passes.
#[inline(never)]
fn check_fallback(
    bundle: &Bundle<'_>,
    fallback: &StoredPolicy<'_>,
    rows: Rows<'_>,
    slices: &Slices<'_>,
) -> Result<Permit, Refusal> {
    let outcome = check(bundle.image(), fallback, rows, slices)?;
    outcome.permit(bundle.image()).ok_or(Refusal::Fallback)
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
    slices: &Slices<'_>,
) -> Result<Outcome, Refusal> {
    match &mut Check::with_policy(image, policy, rows) {
        Ok(check) => {
            check.pause_with(slices);
            Ok(finish(check, slices))
        }
        Err(error) => Err(Refusal::Capacity(*error)),
    }
}

/// Runs a check to its end and logs every tenth of the way.
fn finish<'a>(check: &mut Check<'a, { workspace::LANES }>, slices: &Slices<'_>) -> Outcome {
    let mut next_tenth = 1;
    slices.begin();
    loop {
        match check.advance(1) {
            Progress::Finished(outcome) => return outcome,
            Progress::Working { done, total } => {
                slices.sweeps_done(done);
                if u64::from(done) * 10 >= u64::from(total) * next_tenth {
                    defmt::info!("{=u32} of {=u32} sweeps", done, total);
                    next_tenth += 1;
                }
            }
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
