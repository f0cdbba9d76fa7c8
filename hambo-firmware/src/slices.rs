//! What happens between two slices of the check: the watchdog is fed, and the slice measured.

use core::{cell::Cell, ops::ControlFlow};
use hambo_core::{Pause, WorkDone};
use hambo_firmware::{
    board::{SLICE_LIMIT, Watchdog},
    counter::Counter,
};

/// Slices from one feed of the watchdog to the next: together, each as long as the budget allows,
/// they take a quarter of its limit. A store for every slice would fill the emulator's log.
const SLICES_PER_FEED: u32 = 16;

/// What takes three bytes in a message: its length must not depend on the clock. A shorter slice
/// counts as the least of them, a longer one as the largest, which no budget allows.
const REPORTED: core::ops::RangeInclusive<u32> = 1 << 14..=(1 << 21) - 1;

/// A pause that is told how a check goes on.
pub trait Watched: Pause {
    /// The bundle was accepted.
    fn accepted(&self) {}

    /// A check begins with its first slice.
    fn begin(&self) {}

    /// This many sweeps of all are done. What lies between two sweeps ends a slice too.
    fn sweeps_done(&self, _done: u32, _total: u32) {}
}

/// The pause of the gate's checks.
pub struct Slices<'g> {
    counter: &'g Counter,
    longest: Cell<u32>,
    /// What the counter said; `longest` is in its ticks.
    begin: Cell<u32>,
    /// Slices so far; it may start again at 0.
    count: Cell<u32>,
    /// The tenth of the sweeps that is logged next.
    next_tenth: Cell<u32>,
    /// Taken while it is used.
    fed: Cell<Option<&'g mut Watchdog>>,
}

impl<'g> Slices<'g> {
    /// None was measured yet.
    pub fn new(watchdog: &'g mut Watchdog, counter: &'g Counter) -> Self {
        Self {
            counter,
            longest: Cell::new(0),
            begin: Cell::new(0),
            count: Cell::new(0),
            next_tenth: Cell::new(1),
            fed: Cell::new(Some(watchdog)),
        }
    }

    /// The longest slice so far, in the counter's unit, within [`REPORTED`].
    pub fn longest(&self) -> u32 {
        let longest = Counter::work_of(u64::from(self.longest.get()));
        let longest = u32::try_from(longest).unwrap_or(u32::MAX);
        longest.max(*REPORTED.start()).min(*REPORTED.end())
    }

    /// One reading and no branch: a debugger that moves the clock changes nothing but the
    /// number.
    fn measure(&self) {
        let now = self.counter.raw();
        let slice = Counter::ticks_between(self.begin.replace(now), now);
        self.longest.set(self.longest.get().max(slice));
    }
}

impl Pause for Slices<'_> {
    fn pause(&self, proof: Option<WorkDone>) -> ControlFlow<()> {
        self.measure();
        let count = self.count.get().wrapping_add(1);
        self.count.set(count);
        if count.is_multiple_of(SLICES_PER_FEED)
            && let Some(proof) = proof
            && let Some(watchdog) = self.fed.take()
        {
            watchdog.feed(proof);
            self.fed.set(Some(watchdog));
        }
        ControlFlow::Continue(())
    }
}

/// Logs how the check goes on.
impl Watched for Slices<'_> {
    fn accepted(&self) {
        defmt::info!("bundle accepted");
    }

    fn begin(&self) {
        self.next_tenth.set(1);
        // One that does not take the limit is fed no more: the board starts again.
        if let Some(watchdog) = self.fed.take()
            && watchdog.limit(SLICE_LIMIT).is_some()
        {
            self.fed.set(Some(watchdog));
        }
        self.begin.set(self.counter.raw());
    }

    fn sweeps_done(&self, done: u32, total: u32) {
        let tenth = self.next_tenth.get();
        if u64::from(done) * 10 >= u64::from(total) * u64::from(tenth) {
            defmt::info!("{=u32} of {=u32} sweeps", done, total);
            self.next_tenth.set(tenth.wrapping_add(1));
        }
    }
}
