//! The board: its output-enable pin, its serial line, its watchdog and its flash.
//!
//! A board is a file here and a linker script: [`chip`] is the one that the features choose, the
//! STM32F405 without any. Each has the same names: `prepare_output`, `outputs_on` and
//! `outputs_off`, `Uart` and `RECEIVE_INTERRUPT`, `Watchdog`, `SLICE_LIMIT`, `status`, `TICKS_PER_MILLISECOND` and
//! `INSTRUCTIONS_PER_TICK`.
#![allow(unsafe_code, reason = "registers and linker symbols")]

#[cfg_attr(feature = "ast1030-evb", path = "ast1030_evb.rs")]
#[cfg_attr(not(feature = "ast1030-evb"), path = "stm32f405.rs")]
mod chip;

pub use chip::{
    INSTRUCTIONS_PER_TICK, RECEIVE_INTERRUPT, SLICE_LIMIT, TICKS_PER_MILLISECOND, Uart, Watchdog,
    outputs_off, start, status,
};

use core::{convert::Infallible, ptr, slice};
use embedded_hal::digital::{ErrorType, OutputPin};
#[cfg(not(feature = "development"))]
use hambo_core::link::handover::WORDS;

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
    /// The next byte, if one comes within `polls` polls.
    pub fn receive(&mut self, polls: u32) -> Option<u8> {
        (0..polls).any(|_| self.has_byte()).then(|| self.take())
    }

    /// Sends all bytes.
    ///
    /// # Errors
    /// If the line takes no more in time.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Stuck> {
        for byte in bytes {
            if !(0..SEND_POLLS).any(|_| self.has_room()) {
                return Err(Stuck);
            }
            self.put(*byte);
        }
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
pub fn handover() -> [u32; WORDS] {
    core::array::from_fn(left)
}

/// The stack that the verifier used, in bytes: what it left behind its other words.
#[cfg(not(feature = "development"))]
pub fn verifier_stack() -> u32 {
    left(WORDS)
}

#[cfg(not(feature = "development"))]
fn left(place: usize) -> u32 {
    unsafe extern "C" {
        static _handover_start: u32;
    }
    // SAFETY: called for words of the region that the linker script keeps for the verifier, which
    // has ended; nothing writes them any more.
    unsafe { (&raw const _handover_start).add(place).read_volatile() }
}

fn flash(start: *const u8, end: *const u8) -> &'static [u8] {
    let length = end.addr() - start.addr();
    // SAFETY: called with the ends of regions of flash that the linker script gives and that
    // nothing writes while the firmware runs.
    unsafe { slice::from_raw_parts(start, length) }
}
