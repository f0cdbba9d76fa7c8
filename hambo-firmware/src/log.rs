//! The log: defmt frames to the link.
//!
//! Ready-made loggers panic when they are entered twice. Here no panic may be
//! reachable, so this one switches the outputs off and stops.
#![allow(unsafe_code, reason = "a global logger is an unsafe trait")]

use crate::{fault, link};
use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, Ordering},
};
use critical_section::RestoreState;

#[defmt::global_logger]
struct Logger;

struct Frame {
    open: AtomicBool,
    encoder: UnsafeCell<defmt::Encoder>,
    restore: UnsafeCell<RestoreState>,
}

// SAFETY: the cells are only used between `acquire` and `release`, with
// interrupts off, on a chip with one core.
unsafe impl Sync for Frame {}

static FRAME: Frame = Frame {
    open: AtomicBool::new(false),
    encoder: UnsafeCell::new(defmt::Encoder::new()),
    restore: UnsafeCell::new(RestoreState::invalid()),
};

// SAFETY: `acquire` gives exclusive use until `release`, or does not return.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        // SAFETY: paired with the release in `release`.
        let restore = unsafe { critical_section::acquire() };
        if FRAME.open.swap(true, Ordering::Relaxed) {
            fault::stop();
        }
        // SAFETY: interrupts are off and no frame was open, so nobody else uses the cells.
        unsafe {
            *FRAME.restore.get() = restore;
            (*FRAME.encoder.get()).start_frame(link::write);
        }
    }

    unsafe fn flush() {}

    unsafe fn release() {
        // SAFETY: defmt calls this after `acquire`, so the cells are ours; the
        // critical section is the one entered there.
        unsafe {
            (*FRAME.encoder.get()).end_frame(link::write);
            let restore = *FRAME.restore.get();
            FRAME.open.store(false, Ordering::Relaxed);
            critical_section::release(restore);
        }
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: defmt calls this between `acquire` and `release`.
        unsafe { (*FRAME.encoder.get()).write(bytes, link::write) }
    }
}

/// Replaces defmt's default, which panics. Nothing here calls it.
#[defmt::panic_handler]
fn defmt_panic() -> ! {
    fault::stop()
}
