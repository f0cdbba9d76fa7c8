//! The link of a board on its own: a log buffer in RAM that a debug probe finds and reads.
//!
//! Real-time transfer (RTT) with one up-channel named `defmt`, as `probe-rs`
//! and others expect it. It never waits: what does not fit is lost.
#![allow(
    unsafe_code,
    reason = "a probe reads this memory while the program runs"
)]

use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicUsize, Ordering},
};

const SIZE: usize = 2048;

/// The control block. Its layout and its id are fixed by RTT; probes search RAM for it.
#[repr(C)]
struct ControlBlock {
    id: [u8; 16],
    up_channels: usize,
    down_channels: usize,
    name: &'static [u8; 6],
    buffer: &'static Buffer,
    size: usize,
    /// Where the board writes next.
    write: AtomicUsize,
    /// Where the probe reads next.
    read: AtomicUsize,
    flags: AtomicUsize,
}

#[repr(transparent)]
struct Buffer(UnsafeCell<[u8; SIZE]>);

// SAFETY: only `write` below stores to it, and the log calls that with
// interrupts off.
unsafe impl Sync for Buffer {}

static BUFFER: Buffer = Buffer(UnsafeCell::new([0; SIZE]));

#[unsafe(export_name = "_SEGGER_RTT")]
static CONTROL: ControlBlock = ControlBlock {
    id: *b"SEGGER RTT\0\0\0\0\0\0",
    up_channels: 1,
    down_channels: 0,
    name: b"defmt\0",
    buffer: &BUFFER,
    size: SIZE,
    write: AtomicUsize::new(0),
    read: AtomicUsize::new(0),
    flags: AtomicUsize::new(0),
};

/// Appends to the buffer as far as there is room.
pub fn write(bytes: &[u8]) {
    let first: *mut u8 = CONTROL.buffer.0.get().cast();
    // The modulo keeps the position inside whatever the memory holds.
    let mut position = CONTROL.write.load(Ordering::Relaxed) % SIZE;
    for &byte in bytes {
        let next = (position + 1) % SIZE;
        if next == CONTROL.read.load(Ordering::Acquire) {
            return;
        }
        // SAFETY: `position` is below SIZE, and nobody else stores to the buffer.
        unsafe { first.add(position).write_volatile(byte) };
        position = next;
        CONTROL.write.store(position, Ordering::Release);
    }
}

/// The gate came to a verdict: the outputs stay as decided.
pub fn finish() -> ! {
    stay()
}

/// The gate came to no verdict: nothing interrupts the outputs' being off.
pub fn fail() -> ! {
    cortex_m::interrupt::disable();
    stay()
}

fn stay() -> ! {
    loop {
        cortex_m::asm::wfi();
    }
}
