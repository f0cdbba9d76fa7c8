//! How deep the stack went: start-up paints it, and this looks where the paint is still whole.
#![allow(unsafe_code, reason = "linker symbols and raw reads of the stack")]

use cortex_m_rt::STACK_PAINT_VALUE;

/// The most bytes of stack in use at any time since the start.
pub fn high_water() -> u32 {
    unsafe extern "C" {
        static _stack_start: u32;
        static _stack_end: u32;
    }
    let top = &raw const _stack_start;
    let mut word = &raw const _stack_end;
    // SAFETY: `word` stays inside the stack region, which is readable memory;
    // volatile, since this function's own frame is a part of it.
    while word < top && unsafe { word.read_volatile() } == STACK_PAINT_VALUE {
        word = word.wrapping_add(1);
    }
    // The address space has 32 bits.
    (top.addr() - word.addr()) as u32
}
