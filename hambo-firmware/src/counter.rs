//! How much work the check was: SysTick, extended beyond its 24 bits.
//!
//! QEMU with `-icount shift=0` lets one nanosecond pass per instruction and
//! clocks SysTick at 168 MHz, so a tick is 125/21 instructions. The count is
//! the same in every run. On a real board a tick is a processor cycle.

use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m::peripheral::{SYST, syst::SystClkSource};
use cortex_m_rt::exception;
use hambo_core::device_link::Work;

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
        let ticks = self.ticks();
        if cfg!(feature = "semihosting") {
            ticks * 125 / 21
        } else {
            ticks
        }
    }

    /// The same with its unit.
    pub fn work(&self) -> Work {
        if cfg!(feature = "semihosting") {
            Work::Instructions(self.elapsed())
        } else {
            Work::Cycles(self.elapsed())
        }
    }

    fn ticks(&self) -> u64 {
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
