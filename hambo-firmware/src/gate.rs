//! From the bytes in flash to an outcome.

use hambo_core::{
    check::{Check, Outcome, Progress},
    device_link::Refusal,
    image::Image,
};
use hambo_firmware::{board, workspace};

/// Reads the image and checks it.
#[inline(never)]
pub fn run() -> Result<Outcome, Refusal> {
    let rows = workspace::take().ok_or(Refusal::WorkspaceTaken)?;
    // Borrowed where it was made: a copy would cost kilobytes of stack.
    match &Image::parse_prefix(board::model_region()) {
        Ok(image) => check(image, rows),
        Err(error) => Err(Refusal::Image(*error)),
    }
}

/// Runs the check to its end and logs every tenth of the way. Out of line, so
/// that its stack is not there yet while the image is read.
#[inline(never)]
fn check(image: &Image<'_>, rows: &mut [[f32; workspace::LANES]]) -> Result<Outcome, Refusal> {
    let mut check = Check::new(image, rows).map_err(Refusal::Capacity)?;
    defmt::info!("image accepted");
    #[cfg(feature = "planted-panic")]
    plant_a_panic(board::model_region());

    let mut next_tenth = 1;
    loop {
        match check.advance(1) {
            Progress::Finished(outcome) => return Ok(outcome),
            Progress::Working { done, total } => {
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
