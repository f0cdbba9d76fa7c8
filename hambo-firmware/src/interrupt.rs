//! The serial line's interrupt, and the one below it that is lent to a function for a while.
//!
//! Two levels. A byte that comes in is taken at once, by the upper interrupt, into a ring: also
//! while the program, the check or the control loop is busy, above all while it sends. What the
//! bytes mean is the lower one's: a control loop that runs in it goes on whatever the program
//! below does, which may compute for minutes, or hang.
#![allow(unsafe_code, reason = "interrupt numbers, and a borrow that ends")]

use crate::board;
use core::cell::Cell;
use core::mem::transmute;
use cortex_m::asm;
use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::NVIC;
use critical_section::Mutex;
use hambo_core::link::ring::ByteRing;

type Handler = &'static mut (dyn FnMut() + Send);

/// Whoever has the lower interrupt now; taken while it runs.
static HANDLER: Mutex<Cell<Option<Handler>>> = Mutex::new(Cell::new(None));

/// What has come in: room for the longest frame beside one that is being worked on.
static RECEIVED: ByteRing<512> = ByteRing::new();

/// The upper one. Below SysTick, which counts on while a handler works.
const RECEIVE_PRIORITY: u8 = 0x40;
/// The lower one.
const LOOP_PRIORITY: u8 = 0x80;

#[derive(Clone, Copy)]
struct Receive;

// SAFETY: the board's file names the number of the line's interrupt, which exists on its chip.
unsafe impl InterruptNumber for Receive {
    fn number(self) -> u16 {
        board::RECEIVE_INTERRUPT
    }
}

#[derive(Clone, Copy)]
struct Loop;

// SAFETY: the board's file names the number of an interrupt of its chip that nothing else uses.
unsafe impl InterruptNumber for Loop {
    fn number(self) -> u16 {
        board::LOOP_INTERRUPT
    }
}

/// From now on every byte that comes in goes to the ring.
pub fn receive(nvic: &mut NVIC) {
    // SAFETY: nobody else relies on the order of priorities, and all that the upper interrupt
    // shares with what it interrupts are the ring's atomics.
    unsafe {
        nvic.set_priority(Receive, RECEIVE_PRIORITY);
        nvic.set_priority(Loop, LOOP_PRIORITY);
        NVIC::unmask(Receive);
    }
}

/// The oldest byte that has come in.
pub fn take() -> Option<u8> {
    RECEIVED.take()
}

/// Whether a byte has come in.
pub fn has_byte() -> bool {
    !RECEIVED.is_empty()
}

/// Calls `handler` whenever bytes have come in, above `work`, until `work` returns. The handler
/// takes what waits; what comes while it runs calls it again.
pub fn while_receiving<R>(handler: &mut (dyn FnMut() + Send), work: impl FnOnce() -> R) -> R {
    // SAFETY: the borrow that is made longer here is given up before this function returns: the
    // interrupt is off by then and the reference removed. Nothing unwinds in this firmware.
    let handler: Handler = unsafe { transmute(handler) };
    critical_section::with(|section| HANDLER.borrow(section).set(Some(handler)));
    // Bytes may wait already.
    NVIC::pend(Loop);
    // SAFETY: what the handler shares with `work` the compiler knows to be shared.
    unsafe { NVIC::unmask(Loop) };
    let result = work();
    NVIC::mask(Loop);
    asm::dsb();
    asm::isb();
    critical_section::with(|section| HANDLER.borrow(section).take());
    result
}

/// An interrupt by its number. Whether it is one of these two.
pub(crate) fn happened(number: u16) -> bool {
    match number {
        board::RECEIVE_INTERRUPT => received(),
        board::LOOP_INTERRUPT => handle(),
        _ => return false,
    }
    true
}

/// A byte came in. One that finds no room is lost, and with it its frame.
fn received() {
    if let Some(byte) = board::received() {
        RECEIVED.put(byte);
        NVIC::pend(Loop);
    }
}

/// Bytes wait in the ring.
fn handle() {
    let take = || critical_section::with(|section| HANDLER.borrow(section).take());
    if let Some(handler) = take() {
        handler();
        critical_section::with(|section| HANDLER.borrow(section).set(Some(handler)));
    }
}
