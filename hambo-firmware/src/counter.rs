//! How much work the check was: SysTick, extended beyond its 24 bits.
//!
//! QEMU with `-icount shift=0` lets one nanosecond pass per instruction; the board's file says
//! how many a tick of SysTick is. The count is the same in every run. On a real board
//! a tick is a processor cycle.

use crate::board::INSTRUCTIONS_PER_TICK;
use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m::peripheral::{SYST, syst::SystClkSource};
use cortex_m_rt::exception;
use hambo_core::link::device::Work;

/// SysTick counts down from here and starts again.
const RELOAD: u32 = 0x00ff_ffff;

/// How often SysTick came to 0.
static PERIODS: AtomicU32 = AtomicU32::new(0);

/// Counts from its start.
pub struct Counter(());

impl Counter {
    /// Starts counting at 0.
    pub fn start(mut systick: SYST) -> Self {
        systick.set_clock_source(SystClkSource::Core);
        systick.set_reload(RELOAD);
        systick.clear_current();
        systick.enable_interrupt();
        systick.enable_counter();
        Self(())
    }

    /// Instructions since the start under QEMU (to within 6), cycles on a board.
    pub fn elapsed(&self) -> u64 {
        Self::work_of(self.ticks())
    }

    /// Ticks of the counter in the unit of [`Self::elapsed`].
    pub fn work_of(ticks: u64) -> u64 {
        if cfg!(feature = "semihosting") {
            ticks * INSTRUCTIONS_PER_TICK.0 / INSTRUCTIONS_PER_TICK.1
        } else {
            ticks
        }
    }

    /// What SysTick says, also before it is started here.
    pub fn now() -> u32 {
        SYST::get_current()
    }

    /// What SysTick says: it counts down from 2²⁴ − 1, again and again.
    pub fn raw(&self) -> u32 {
        SYST::get_current()
    }

    /// Ticks between two readings of [`Self::raw`] that are less than 2²⁴ apart.
    pub fn ticks_between(earlier: u32, later: u32) -> u32 {
        earlier.wrapping_sub(later) & RELOAD
    }

    /// The same with its unit.
    pub fn work(&self) -> Work {
        if cfg!(feature = "semihosting") {
            Work::Instructions(self.elapsed())
        } else {
            Work::Cycles(self.elapsed())
        }
    }

    /// Ticks since the start: a clock that counts on.
    pub fn ticks(&self) -> u64 {
        // Read again if a period ended in between.
        loop {
            let before = PERIODS.load(Ordering::Relaxed);
            let current = SYST::get_current();
            cortex_m::asm::isb();
            let periods = PERIODS.load(Ordering::Relaxed);
            if periods == before {
                // Starts at 0, goes on with RELOAD, and at 0 the period is over.
                let gone = current.wrapping_neg() & RELOAD;
                return u64::from(periods) * (u64::from(RELOAD) + 1) + u64::from(gone);
            }
        }
    }
}

#[exception]
fn SysTick() {
    // The only writer, and not interrupted by another one.
    PERIODS.store(
        PERIODS.load(Ordering::Relaxed).wrapping_add(1),
        Ordering::Relaxed,
    );
}
