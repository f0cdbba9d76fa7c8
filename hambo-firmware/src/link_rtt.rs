//! The link of a board on its own: buffers in RAM that a debug probe finds and reads.
//!
//! Real-time transfer (RTT) with two up-channels: `defmt` for the log, as
//! `probe-rs` and others expect it, and `hambo` for messages. It never waits:
//! what does not fit is lost.
#![allow(
    unsafe_code,
    reason = "a probe reads this memory while the program runs"
)]

use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicUsize, Ordering},
};
use hambo_core::link::device::DeviceMessage;

const SIZE: usize = 1536;

/// The control block. Its layout and its id are fixed by RTT; probes search RAM for it.
#[repr(C)]
struct ControlBlock {
    id: [u8; 16],
    up_channels: usize,
    down_channels: usize,
    log: Channel,
    messages: Channel,
}

/// A channel from the board to the probe.
#[repr(C)]
struct Channel {
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

// SAFETY: only `Channel::write` stores to it. The log calls that with
// interrupts off, and messages are sent by `main` alone.
unsafe impl Sync for Buffer {}

static LOG: Buffer = Buffer(UnsafeCell::new([0; SIZE]));
static MESSAGES: Buffer = Buffer(UnsafeCell::new([0; SIZE]));

#[unsafe(export_name = "_SEGGER_RTT")]
static CONTROL: ControlBlock = ControlBlock {
    id: *b"SEGGER RTT\0\0\0\0\0\0",
    up_channels: 2,
    down_channels: 0,
    log: Channel::new(b"defmt\0", &LOG),
    messages: Channel::new(b"hambo\0", &MESSAGES),
};

impl Channel {
    const fn new(name: &'static [u8; 6], buffer: &'static Buffer) -> Self {
        Self {
            name,
            buffer,
            size: SIZE,
            write: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
            flags: AtomicUsize::new(0),
        }
    }

    /// Appends to the buffer as far as there is room.
    fn write(&self, bytes: &[u8]) {
        let first: *mut u8 = self.buffer.0.get().cast();
        // The modulo keeps the position inside whatever the memory holds.
        let mut position = self.write.load(Ordering::Relaxed) % SIZE;
        for &byte in bytes {
            let next = (position + 1) % SIZE;
            if next == self.read.load(Ordering::Acquire) {
                return;
            }
            // SAFETY: `position` is below SIZE, and nobody else stores to the buffer.
            unsafe { first.add(position).write_volatile(byte) };
            position = next;
            self.write.store(position, Ordering::Release);
        }
    }
}

/// Appends to the log.
pub fn write(bytes: &[u8]) {
    CONTROL.log.write(bytes);
}

/// Sends a message.
pub fn send(message: &DeviceMessage) {
    if let Some(frame) = message.to_frame() {
        CONTROL.messages.write(&frame);
    }
}

/// The gate came to a verdict. The board goes on: there is nobody to tell.
pub fn finished() {}

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
