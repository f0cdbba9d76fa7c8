//! The check in a firmware of your own: a bundle in, slices of work between
//! control ticks, a permit out, unless somebody stops it.
//!
//! On this machine: `cargo run --release -p hambo-core --features embedded-hal
//! --example own_firmware`. `cargo xtask test` builds the same file for a
//! Cortex-M, where it allocates nothing and needs no `std`.
#![cfg_attr(target_os = "none", no_std, no_main)]

use core::cell::Cell;
use core::ops::ControlFlow;

use embedded_hal::digital::OutputPin;
use hambo_core::{Bundle, CapacityError, Check, ImageError, OutputEnable, Pause, Progress};

/// Trajectories side by side: four fill the registers of a Cortex-M4F.
const LANES: usize = 4;

/// Why a bundle was not even checked.
#[derive(Debug)]
#[allow(dead_code, reason = "a log would read it")]
enum Refusal {
    /// A byte of it is wrong.
    Bundle(ImageError),
    /// It needs more rows than this firmware lends.
    Memory(CapacityError),
}

/// Checks the controller in `flash` and enables it if it passes. Until then `control_tick`
/// drives, the fallback, between two slices of the check; `Break` gives the check up. A
/// control loop that must be on time to the microsecond belongs in an interrupt instead:
/// then `control_tick` only says whether the check is still wanted.
fn gate<P: OutputPin>(
    flash: &[u8],
    rows: &mut [[f32; LANES]],
    output: &mut OutputEnable<P>,
    control_tick: &dyn Pause,
) -> Result<bool, Refusal> {
    let bundle = Bundle::parse_prefix(flash).map_err(Refusal::Bundle)?;
    let mut check = Check::new(bundle.image(), rows).map_err(Refusal::Memory)?;
    check.pause_with(control_tick);
    let outcome = loop {
        if let Progress::Finished(outcome) = check.advance(u32::MAX) {
            break outcome;
        }
    };
    // What was checked must still be there: the flash is read and hashed again.
    let again = Bundle::parse_prefix(flash).map_err(Refusal::Bundle)?;
    Ok(match outcome.permit(again.image()) {
        // The only way to a high line.
        Some(permit) => output.enable(permit).is_ok(),
        None => false,
    })
}

/// What `hambo export` wrote; its weights are read where they lie.
#[repr(align(16))]
struct Flash([u8; 944]);
static FLASH: Flash = Flash(*include_bytes!("point_bundle.hmb"));

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
    let ticks = Cell::new(0_u32);
    let control_tick = || {
        ticks.set(ticks.get().saturating_add(1));
        ControlFlow::Continue(())
    };
    let deployed = gate(&FLASH.0, &mut rows, &mut output, &control_tick)?;
    Ok((deployed && output.is_on(), ticks.get()))
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
        assert!(matches!(start(), Ok((true, ticks)) if ticks > 1000));
    }

    #[test]
    fn a_check_that_is_given_up_enables_nothing() {
        let Ok(mut output) = OutputEnable::new(Pin::default());
        let mut rows = [[0.0; LANES]; 128];
        let given_up = gate(&FLASH.0, &mut rows, &mut output, &|| ControlFlow::Break(()));
        assert!(matches!(given_up, Ok(false)) && !output.is_on());
    }

    #[test]
    fn a_damaged_image_or_too_little_memory_enables_nothing() {
        let Ok(mut output) = OutputEnable::new(Pin::default());
        let mut rows = [[0.0; LANES]; 128];
        let tick = || ControlFlow::Continue(());
        let few = gate(&FLASH.0, &mut rows[..10], &mut output, &tick);
        assert!(matches!(few, Err(Refusal::Memory(_))));
        let mut damaged = Flash(FLASH.0);
        damaged.0[100] ^= 1;
        let refused = gate(&damaged.0, &mut rows, &mut output, &tick);
        assert!(matches!(refused, Err(Refusal::Bundle(_))));
        assert!(!output.is_on());
    }
}
