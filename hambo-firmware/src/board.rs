//! The board: an STM32F405 with the output-enable line on PA5.
#![allow(unsafe_code, reason = "registers and linker symbols")]

use core::{convert::Infallible, ptr, slice};
use embedded_hal::digital::{ErrorType, OutputPin};

const RCC_AHB1ENR: usize = 0x4002_3830;
const GPIOA_MODER: usize = 0x4002_0000;
const GPIOA_BSRR: usize = 0x4002_0018;

/// Output enable is PA5.
const PIN: u32 = 5;

fn read(register: usize) -> u32 {
    // SAFETY: only called with the registers above, which exist on this chip
    // and may be read at any time.
    unsafe { ptr::read_volatile(ptr::with_exposed_provenance(register)) }
}

fn write(register: usize, value: u32) {
    // SAFETY: only called with the registers above; they have no influence on memory.
    unsafe { ptr::write_volatile(ptr::with_exposed_provenance_mut(register), value) }
}

/// Drives the output-enable line low, from anywhere, also from a fault.
///
/// One store to the set/reset register: needs no lock and no stack.
pub fn outputs_off() {
    write(GPIOA_BSRR, 1 << (PIN + 16));
}

/// The output-enable pin.
///
/// Between reset and [`new`](Self::new) the pin floats, so the board needs a
/// pull-down resistor on the line.
#[derive(Debug)]
pub struct EnablePin(());

impl EnablePin {
    /// Makes PA5 an output that is low from its first moment.
    #[expect(clippy::new_without_default, reason = "it sets the hardware up")]
    pub fn new() -> Self {
        write(RCC_AHB1ENR, read(RCC_AHB1ENR) | 1);
        // The port's clock runs two cycles after the store; reading back is
        // the wait that the errata sheet asks for.
        let _ = read(RCC_AHB1ENR);
        // The level first, the direction after it.
        outputs_off();
        let others = read(GPIOA_MODER) & !(0b11 << (2 * PIN));
        write(GPIOA_MODER, others | 0b01 << (2 * PIN));
        Self(())
    }
}

impl ErrorType for EnablePin {
    type Error = Infallible;
}

impl OutputPin for EnablePin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        outputs_off();
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        write(GPIOA_BSRR, 1 << PIN);
        Ok(())
    }
}

/// The flash region that holds the device image.
pub fn model_region() -> &'static [u8] {
    unsafe extern "C" {
        static _model_start: u8;
        static _model_end: u8;
    }
    let start = &raw const _model_start;
    let length = (&raw const _model_end).addr() - start.addr();
    // SAFETY: the linker script gives both ends of a flash region that nothing
    // writes while the firmware runs.
    unsafe { slice::from_raw_parts(start, length) }
}
