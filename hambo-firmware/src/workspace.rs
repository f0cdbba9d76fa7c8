//! The memory that the check works in.
#![allow(unsafe_code, reason = "hands out a static buffer once")]

use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, Ordering},
};

/// Trajectories side by side: four fill the registers of a Cortex-M4F.
pub const LANES: usize = 4;

/// 64 KiB.
const ROWS: usize = 4096;

/// Bytes of RAM that the workspace takes.
pub const BYTES: u32 = (ROWS * LANES * size_of::<f32>()) as u32;

struct Workspace {
    taken: AtomicBool,
    rows: UnsafeCell<[[f32; LANES]; ROWS]>,
}

// SAFETY: `rows` is only reached through `take`, which hands it out once.
unsafe impl Sync for Workspace {}

static WORKSPACE: Workspace = Workspace {
    taken: AtomicBool::new(false),
    rows: UnsafeCell::new([[0.0; LANES]; ROWS]),
};

/// The workspace, zeroed. `None` from the second call on.
pub fn take() -> Option<&'static mut [[f32; LANES]]> {
    if WORKSPACE.taken.swap(true, Ordering::Relaxed) {
        return None;
    }
    // SAFETY: the flag lets exactly one caller get here.
    Some(unsafe { &mut *WORKSPACE.rows.get() })
}
