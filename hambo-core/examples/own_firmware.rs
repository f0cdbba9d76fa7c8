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
use hambo_core::{
    Admitted, Bundle, CapacityError, Check, FallbackPermit, Floor, ImageError, OutputEnable, Pause,
    Permit, Progress, Shortfall,
};

/// Trajectories side by side: four fill the registers of a Cortex-M4F.
const LANES: usize = 4;

/// Why a bundle was not even checked.
#[derive(Debug)]
#[allow(dead_code, reason = "a log would read it")]
enum Refusal {
    /// A byte of bundle or floor is wrong.
    Image(ImageError),
    /// It asks for less than the robot does.
    Floor(Shortfall),
    /// It needs more rows than this firmware lends.
    Memory(CapacityError),
}

/// What lies in flash: what `hambo export` wrote, and the robot's own floor, by `hambo floor`.
#[derive(Clone, Copy)]
struct Regions<'f> {
    bundle: &'f [u8],
    floor: &'f [u8],
}

impl<'f> Regions<'f> {
    fn bundle(&self) -> Result<Bundle<'f>, Refusal> {
        Bundle::parse_prefix(self.bundle).map_err(Refusal::Image)
    }

    /// The bundle as one that asks for as much as the robot: without this there is no check.
    fn admit<'b>(
        &self,
        bundle: &'b Bundle<'b>,
        rows: &mut [[f32; LANES]],
    ) -> Result<Admitted<'b>, Refusal> {
        let floor = Floor::parse_prefix(self.floor).map_err(Refusal::Image)?;
        let (rows, _) = rows.as_flattened_mut().as_chunks_mut();
        floor.admit(bundle, rows).map_err(Refusal::Floor)
    }
}

/// Checks the controller in flash and enables it if it passes. Until then `control_tick`
/// drives, the fallback, between two slices of the check; `Break` gives the check up. A
/// control loop that must be on time to the microsecond belongs in an interrupt instead:
/// then `control_tick` only says whether the check is still wanted.
fn gate<P: OutputPin>(
    flash: Regions<'_>,
    rows: &mut [[f32; LANES]],
    output: &mut OutputEnable<P>,
    control_tick: &dyn Pause,
) -> Result<bool, Refusal> {
    Ok(match check(flash, rows, control_tick)? {
        // The only way to a high line.
        Some(permit) => output.enable(permit).is_ok(),
        None => false,
    })
}

/// The permit of a bundle that passes. One with a fallback gets its permit for both.
fn check(
    flash: Regions<'_>,
    rows: &mut [[f32; LANES]],
    control_tick: &dyn Pause,
) -> Result<Option<Permit>, Refusal> {
    let bundle = flash.bundle()?;
    let admitted = flash.admit(&bundle, rows)?;
    let fallback = check_fallback(&admitted, rows, control_tick)?;
    let outcome = {
        let mut check = Check::of_controller(&admitted, rows).map_err(Refusal::Memory)?;
        check.pause_with(control_tick);
        loop {
            if let Progress::Finished(outcome) = check.advance(u32::MAX) {
                break outcome;
            }
        }
    };
    // What was checked must still be there: bundle and floor are read, hashed and held against
    // each other again.
    let again = flash.bundle()?;
    let admitted = flash.admit(&again, rows)?;
    Ok(outcome.permit(&admitted, fallback.as_ref()))
}

/// What a fallback has that passes; none where there is none, or it does not.
fn check_fallback(
    admitted: &Admitted<'_>,
    rows: &mut [[f32; LANES]],
    control_tick: &dyn Pause,
) -> Result<Option<FallbackPermit>, Refusal> {
    let Some(fallback) = admitted.fallback() else {
        return Ok(None);
    };
    let mut check = Check::of_fallback(&fallback, rows).map_err(Refusal::Memory)?;
    check.pause_with(control_tick);
    loop {
        if let Progress::Finished(outcome) = check.advance(u32::MAX) {
            return Ok(outcome.permit(admitted));
        }
    }
}

/// Weights are read where they lie, at multiples of 16 bytes.
#[repr(align(16))]
struct Flash<const N: usize>([u8; N]);
static BUNDLE: Flash<944> = Flash(*include_bytes!("point_bundle.hmb"));
static FLOOR: Flash<FLOOR_BYTES> = Flash(*include_bytes!("point.floor"));
const FLOOR_BYTES: usize = include_bytes!("point.floor").len();
const FLASH: Regions<'static> = Regions {
    bundle: &BUNDLE.0,
    floor: &FLOOR.0,
};

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
    let deployed = gate(FLASH, &mut rows, &mut output, &control_tick)?;
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
        let given_up = gate(FLASH, &mut rows, &mut output, &|| ControlFlow::Break(()));
        assert!(matches!(given_up, Ok(false)) && !output.is_on());
    }

    #[test]
    fn a_damaged_image_or_too_little_memory_enables_nothing() {
        let Ok(mut output) = OutputEnable::new(Pin::default());
        let mut rows = [[0.0; LANES]; 128];
        let tick = || ControlFlow::Continue(());
        let few = gate(FLASH, &mut rows[..10], &mut output, &tick);
        assert!(matches!(few, Err(Refusal::Memory(_))));
        for damaged in 0..2 {
            let (mut bundle, mut floor) = (Flash(BUNDLE.0), Flash(FLOOR.0));
            match damaged {
                0 => bundle.0[100] ^= 1,
                _ => floor.0[100] ^= 1,
            }
            let flash = Regions {
                bundle: &bundle.0,
                floor: &floor.0,
            };
            let refused = gate(flash, &mut rows, &mut output, &tick);
            assert!(matches!(refused, Err(Refusal::Image(_))));
        }
        assert!(!output.is_on());
    }
}
