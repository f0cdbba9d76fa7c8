//! Raises the output pin and provokes the fault that the first byte of the image's flash
//! chooses. The tests run it under QEMU and hold that the pin is low at the end.
#![no_std]
#![no_main]
#![allow(
    unsafe_code,
    reason = "one of the faults is a load that nothing answers"
)]

use core::{hint::black_box, ptr};
use cortex_m::{asm, peripheral::SCB};
use embedded_hal::digital::OutputPin;
use hambo_firmware::{
    board::{self, EnablePin},
    link,
};

/// No memory and no device is here.
const NOWHERE: usize = 0x6000_0000;

#[cortex_m_rt::entry]
fn main() -> ! {
    let Ok(()) = EnablePin::new().set_high();
    match board::model_region().first() {
        Some(b'i') => asm::udf(),
        Some(b'l') => load_from_nowhere(),
        Some(b's') => {
            black_box(overflow_the_stack(0));
        }
        Some(b'e') => SCB::set_pendsv(),
        _ => {}
    }
    asm::isb();
    // Nothing happened: the end without a fault, and with the pin high.
    link::finish()
}

fn load_from_nowhere() {
    let nowhere: *const u32 = ptr::with_exposed_provenance(NOWHERE);
    // SAFETY: there is nothing to be read, and the processor faults; that is the purpose.
    black_box(unsafe { nowhere.read_volatile() });
}

/// Calls itself until the stack has left RAM.
#[inline(never)]
fn overflow_the_stack(depth: u32) -> u32 {
    let frame = black_box([depth; 64]);
    let below = if depth == u32::MAX {
        0
    } else {
        overflow_the_stack(depth.wrapping_add(1))
    };
    let own = black_box(frame)
        .iter()
        .fold(0, |sum: u32, x| sum.wrapping_add(*x));
    below.wrapping_add(own)
}
