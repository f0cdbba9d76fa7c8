//! When something goes wrong: outputs off, then stop.
#![allow(
    unsafe_code,
    reason = "exception entry, and a symbol that must not exist"
)]

use crate::{board, interrupt, link};
use core::{arch::naked_asm, panic::PanicInfo};
use cortex_m_rt::exception;

/// Outputs off, then the end.
pub fn stop() -> ! {
    board::outputs_off();
    link::fail()
}

/// Hard fault, and with it bus, memory and usage faults.
///
/// After a stack overflow the stack pointer is outside RAM and the next push
/// would lock the processor up, so the stack starts afresh here.
#[unsafe(naked)]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".HardFault.user")]
unsafe extern "C" fn HardFault() -> ! {
    naked_asm!(
        "ldr r0, =_stack_start",
        "msr msp, r0",
        "b {stop}",
        stop = sym stop_after_fault,
    )
}

extern "C" fn stop_after_fault() -> ! {
    stop()
}

/// A byte in the serial line, or an exception that nobody asked for.
#[exception]
unsafe fn DefaultHandler(number: i16) {
    if !u16::try_from(number).is_ok_and(interrupt::happened) {
        stop()
    }
}

unsafe extern "C" {
    /// Defined nowhere.
    fn hambo_a_panic_is_reachable() -> !;
}

/// Never part of the firmware: a reachable panic needs a symbol that does not
/// exist, so it does not link. To find the culprit, link with
/// `-C link-arg=--unresolved-symbols=ignore-all` and look for the callers of
/// `core::panicking` in the disassembly.
#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    // SAFETY: this call cannot be linked, so it cannot run.
    unsafe { hambo_a_panic_is_reachable() }
}
