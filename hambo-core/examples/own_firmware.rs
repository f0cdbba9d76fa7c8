//! The check in a firmware of your own: an image in, slices of work between
//! control ticks, a permit out.
//!
//! On this machine: `cargo run --release -p hambo-core --features embedded-hal
//! --example own_firmware`. `cargo xtask test` builds the same file for a
//! Cortex-M, where it allocates nothing and needs no `std`.
#![cfg_attr(target_os = "none", no_std, no_main)]

use embedded_hal::digital::OutputPin;
use hambo_core::{CapacityError, Check, Image, ImageError, OutputEnable, Progress, Verdict};

/// Trajectories side by side: four fill the registers of a Cortex-M4F.
const LANES: usize = 4;

/// Why an image was not even checked.
#[derive(Debug)]
#[allow(dead_code, reason = "a log would read it")]
enum Refusal {
    /// A byte of it is wrong.
    Image(ImageError),
    /// It needs more rows than this firmware lends.
    Memory(CapacityError),
}

/// Checks the controller in `flash`, one sweep between two control ticks, and
/// enables it if it passes. Until then `control_tick` drives: the fallback.
fn gate<P: OutputPin>(
    flash: &[u8],
    rows: &mut [[f32; LANES]],
    output: &mut OutputEnable<P>,
    mut control_tick: impl FnMut(),
) -> Result<bool, Refusal> {
    let image = Image::parse_prefix(flash).map_err(Refusal::Image)?;
    let mut check = Check::new(&image, rows).map_err(Refusal::Memory)?;
    let outcome = loop {
        control_tick();
        if let Progress::Finished(outcome) = check.advance(1) {
            break outcome;
        }
    };
    Ok(match outcome.verdict {
        // The only way to a high line: a permit that the check made.
        Verdict::Deploy(permit) => output.enable(permit).is_ok(),
        Verdict::Reject | Verdict::Abstain => false,
    })
}

/// What `hambo export` wrote; its weights are read where they lie.
#[repr(align(16))]
struct Flash([u8; 736]);
static FLASH: Flash = Flash(*include_bytes!("point.hmb"));

/// Your board's pin, from its HAL.
#[derive(Default)]
struct Pin {
    high: bool,
}

impl embedded_hal::digital::ErrorType for Pin {
    type Error = core::convert::Infallible;
}

impl OutputPin for Pin {
    fn set_low(&mut self) -> Result<(), Self::Error> {
        self.high = false;
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Self::Error> {
        self.high = true;
        Ok(())
    }
}

/// What a `main` does with all of it: whether the new controller may drive,
/// and after how many ticks of the fallback.
fn start() -> Result<(bool, u32), Refusal> {
    let Ok(mut output) = OutputEnable::new(Pin::default());
    let mut rows = [[0.0; LANES]; 128];
    let mut ticks = 0_u32;
    let deployed = gate(&FLASH.0, &mut rows, &mut output, || {
        ticks = ticks.saturating_add(1);
    })?;
    Ok((deployed && output.is_on(), ticks))
}

#[cfg(not(target_os = "none"))]
fn main() -> Result<(), String> {
    let (deployed, ticks) = start().map_err(|refusal| format!("{refusal:?}"))?;
    println!("after {ticks} ticks of the fallback: new controller enabled: {deployed}");
    Ok(())
}

/// Keeps `start` in the object file of a target without an operating system;
/// a real firmware calls it from its entry point.
#[cfg(target_os = "none")]
#[used]
static START: fn() -> Result<(bool, u32), Refusal> = start;

#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_image_enables_the_controller_after_the_last_slice() {
        assert!(matches!(start(), Ok((true, ticks)) if ticks > 10));
    }

    #[test]
    fn a_damaged_image_or_too_little_memory_enables_nothing() {
        let Ok(mut output) = OutputEnable::new(Pin::default());
        let mut rows = [[0.0; LANES]; 128];
        let few = gate(&FLASH.0, &mut rows[..10], &mut output, || {});
        assert!(matches!(few, Err(Refusal::Memory(_))));
        let mut damaged = Flash(FLASH.0);
        damaged.0[100] ^= 1;
        let refused = gate(&damaged.0, &mut rows, &mut output, || {});
        assert!(matches!(refused, Err(Refusal::Image(_))));
        assert!(!output.is_on());
    }
}
