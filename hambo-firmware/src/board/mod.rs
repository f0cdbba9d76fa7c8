//! The board: its output-enable pin, its serial line, its watchdog and its flash.
//!
//! A board is a file here and a linker script: [`chip`] is the one that the features choose, the
//! STM32F405 without any. Each has the same names: `prepare_output`, `outputs_on` and
//! `outputs_off`, `Uart`, `received`, `RECEIVE_INTERRUPT` and `LOOP_INTERRUPT`, `Watchdog`, `SLICE_LIMIT`,
//! `status`, `TICKS_PER_MILLISECOND` and `INSTRUCTIONS_PER_TICK`.
#![allow(unsafe_code, reason = "registers and linker symbols")]

#[cfg_attr(feature = "ast1030-evb", path = "ast1030_evb.rs")]
#[cfg_attr(not(feature = "ast1030-evb"), path = "stm32f405.rs")]
mod chip;
#[cfg(feature = "ast1030-evb")]
#[path = "ast1030_nor.rs"]
pub mod nor;

pub use chip::{
    INSTRUCTIONS_PER_TICK, LOOP_INTERRUPT, RECEIVE_INTERRUPT, SLICE_LIMIT, TICKS_PER_MILLISECOND,
    Uart, Watchdog, outputs_off, received, start, status,
};

use core::{convert::Infallible, ptr, slice};
use embedded_hal::digital::{ErrorType, OutputPin};

/// The output-enable pin.
///
/// Between reset and [`new`](Self::new) the pin floats, so the board needs a
/// pull-down resistor on the line.
#[derive(Debug)]
pub struct EnablePin(());

impl EnablePin {
    /// Makes the board's pin an output that is low from its first moment.
    #[expect(clippy::new_without_default, reason = "it sets the hardware up")]
    pub fn new() -> Self {
        chip::prepare_output();
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
        chip::outputs_on();
        Ok(())
    }
}

/// Polls until a byte must have gone out: more than ten times what it takes.
const SEND_POLLS: u32 = 20_000;

/// The serial line did not take a byte in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck;

impl Uart {
    /// Sends all bytes. What comes in meanwhile waits in the ring of [`crate::interrupt`].
    ///
    /// # Errors
    /// If the line takes no more in time.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Stuck> {
        bytes.iter().try_for_each(|byte| self.send_byte(*byte))
    }

    /// Out of line, so that a test can look between two bytes.
    #[inline(never)]
    fn send_byte(&mut self, byte: u8) -> Result<(), Stuck> {
        if !(0..SEND_POLLS).any(|_| self.has_room()) {
            return Err(Stuck);
        }
        self.put(byte);
        Ok(())
    }
}

/// Reads a register of this chip.
fn read(register: usize) -> u32 {
    // SAFETY: only called with the registers that the board's file names, which exist on its
    // chip and may be read at any time.
    unsafe { ptr::read_volatile(ptr::with_exposed_provenance(register)) }
}

/// Writes a register of this chip.
fn write(register: usize, value: u32) {
    // SAFETY: only called with the registers that the board's file names; they have no influence
    // on memory that a Rust value lies in.
    unsafe { ptr::write_volatile(ptr::with_exposed_provenance_mut(register), value) }
}

/// Writes a byte, where the size of an access means something.
#[cfg(feature = "ast1030-evb")]
fn write_byte(register: usize, value: u8) {
    // SAFETY: as for `write`.
    unsafe { ptr::write_volatile(ptr::with_exposed_provenance_mut(register), value) }
}

/// Fills the region of the bundle with what `next` gives, piece by piece, and the rest of it as if
/// it were erased. `None` if a piece is missing or finds no room; the region then holds no bundle.
///
/// Nobody may hold a slice of the region, or a bundle that was read from it, at that time.
#[cfg(feature = "ast1030-evb")]
pub fn fill_model_region(
    next: &mut dyn FnMut(usize, &mut [u8; hambo_core::link::update::CHUNK]) -> Option<usize>,
) -> Option<()> {
    unsafe extern "C" {
        static mut _model_start: u8;
        static _model_end: u8;
    }
    let (start, end) = (&raw mut _model_start, &raw const _model_end);
    let length = end.addr() - start.addr();
    let put = |place: usize, byte: u8| {
        if place < length {
            // SAFETY: inside the region, which is RAM on this board, and which nobody looks at
            // now. Volatile: what looks at it later was compiled without knowing of this store.
            unsafe { start.add(place).write_volatile(byte) };
        }
    };
    chip::protect(false);
    let (mut at, mut whole) = (0, true);
    let mut piece = [0xff; hambo_core::link::update::CHUNK];
    loop {
        let Some(count) = next(at, &mut piece) else {
            whole = false;
            break;
        };
        if count == 0 {
            break;
        }
        for (place, byte) in (at..).zip(piece.iter().take(count)) {
            put(place, *byte);
        }
        at = at.saturating_add(count);
        if at > length {
            whole = false;
            break;
        }
    }
    for place in (if whole { at } else { 0 })..length {
        put(place, 0xff);
    }
    chip::protect(true);
    whole.then_some(())
}

/// The flash region that holds the bundle.
pub fn model_region() -> &'static [u8] {
    unsafe extern "C" {
        static _model_start: u8;
        static _model_end: u8;
    }
    flash(&raw const _model_start, &raw const _model_end)
}

/// The second half of that region: it holds another bundle, if the first one leaves it free.
pub fn candidate_region() -> &'static [u8] {
    unsafe extern "C" {
        static _candidate_start: u8;
        static _model_end: u8;
    }
    flash(&raw const _candidate_start, &raw const _model_end)
}

/// The flash region that holds the robot's floor.
pub fn floor_region() -> &'static [u8] {
    unsafe extern "C" {
        static _floor_start: u8;
        static _floor_end: u8;
    }
    flash(&raw const _floor_start, &raw const _floor_end)
}

/// What the verifier left in memory.
#[cfg(not(feature = "development"))]
pub fn handover() -> [u32; hambo_core::link::handover::WORDS] {
    unsafe extern "C" {
        static _handover_start: u32;
    }
    let start = &raw const _handover_start;
    // SAFETY: the linker script keeps that many words there, and nothing writes them any more.
    core::array::from_fn(|place| unsafe { start.add(place).read_volatile() })
}

fn flash(start: *const u8, end: *const u8) -> &'static [u8] {
    let length = end.addr() - start.addr();
    // SAFETY: called with the ends of regions of flash that the linker script gives and that
    // nothing writes while the firmware runs.
    unsafe { slice::from_raw_parts(start, length) }
}
