//! The link to the outside through a debugger or emulator.
#![allow(unsafe_code, reason = "semihosting calls")]

use core::sync::atomic::{AtomicIsize, Ordering};
use cortex_m_semihosting::{
    debug::{self, EXIT_FAILURE, EXIT_SUCCESS},
    nr, syscall,
};
use hambo_core::link::device::DeviceMessage;

/// The host's handle of standard output, or -1 before the first write.
static STDOUT: AtomicIsize = AtomicIsize::new(-1);

/// Writes to the host's standard output. What cannot be written is lost; the
/// host then misses the closing message and reports that.
pub fn write(bytes: &[u8]) {
    if STDOUT.load(Ordering::Relaxed) == -1 {
        let name = c":tt";
        // SAFETY: opening the host's console: a terminated name, a mode, the
        // name's length.
        let handle =
            unsafe { syscall!(OPEN, name.as_ptr(), nr::open::W_TRUNC, name.count_bytes()) };
        STDOUT.store(handle.cast_signed(), Ordering::Relaxed);
    }
    let handle = STDOUT.load(Ordering::Relaxed);
    if handle != -1 {
        // SAFETY: the host reads `bytes.len()` bytes from a live slice.
        unsafe { syscall!(WRITE, handle, bytes.as_ptr(), bytes.len()) };
    }
}

/// Sends a message between two frames of the log: both end with a zero byte.
pub fn send(message: &DeviceMessage) {
    if let Some(frame) = message.to_frame() {
        write(&frame);
    }
}

/// The gate came to a verdict: ends the emulation with success. A debugger may carry on.
pub fn finished() {
    debug::exit(EXIT_SUCCESS);
}

/// Ends a program that has nothing more to do.
pub fn finish() -> ! {
    finished();
    stay()
}

/// The gate came to no verdict: ends the emulation with failure.
pub fn fail() -> ! {
    debug::exit(EXIT_FAILURE);
    stay()
}

/// A debugger may carry on after an exit.
fn stay() -> ! {
    loop {
        cortex_m::asm::wfi();
    }
}
