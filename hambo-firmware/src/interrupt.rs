//! The serial line's interrupt, lent to a function for a while.
//!
//! A control loop that runs in it goes on whatever the program below does: it may compute for
//! minutes, or hang.
#![allow(unsafe_code, reason = "an interrupt number, and a borrow that ends")]

use crate::board;
use core::cell::Cell;
use core::mem::transmute;
use cortex_m::asm;
use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::NVIC;
use critical_section::Mutex;

type Handler = &'static mut (dyn FnMut() + Send);

/// Whoever has the interrupt now; taken while it runs.
static HANDLER: Mutex<Cell<Option<Handler>>> = Mutex::new(Cell::new(None));

/// Below SysTick, which counts on while the handler works.
const PRIORITY: u8 = 0x80;

#[derive(Clone, Copy)]
struct Receive;

// SAFETY: the board's file names the number of the line's interrupt, which exists on its chip.
unsafe impl InterruptNumber for Receive {
    fn number(self) -> u16 {
        board::RECEIVE_INTERRUPT
    }
}

/// Calls `handler` whenever a byte waits in the serial line, above `work`, until `work` returns.
/// The handler must take the bytes: it is called again as long as one waits.
pub fn while_receiving<R>(
    nvic: &mut NVIC,
    handler: &mut (dyn FnMut() + Send),
    work: impl FnOnce() -> R,
) -> R {
    // SAFETY: the borrow that is made longer here is given up before this function returns: the
    // interrupt is off by then and the reference removed. Nothing unwinds in this firmware.
    let handler: Handler = unsafe { transmute(handler) };
    critical_section::with(|section| HANDLER.borrow(section).set(Some(handler)));
    // SAFETY: nobody else relies on the order of priorities, and what the handler shares with
    // `work` the compiler knows to be shared.
    unsafe {
        nvic.set_priority(Receive, PRIORITY);
        NVIC::unmask(Receive);
    }
    let result = work();
    NVIC::mask(Receive);
    asm::dsb();
    asm::isb();
    critical_section::with(|section| HANDLER.borrow(section).take());
    result
}

/// The interrupt happened.
pub(crate) fn received() {
    let take = || critical_section::with(|section| HANDLER.borrow(section).take());
    if let Some(handler) = take() {
        handler();
        critical_section::with(|section| HANDLER.borrow(section).set(Some(handler)));
    }
}
