//! What happens between two slices of the check: the watchdog is fed, and the slice measured.

use core::{cell::Cell, ops::ControlFlow};
use hambo_core::{Pause, SliceProofs};
use hambo_firmware::{
    board::{SLICE_LIMIT, Watchdog},
    counter::Counter,
};

/// More slices than a sweep of the largest model over the longest horizon has.
const SLICES_PER_SWEEP: u32 = 1 << 20;

/// What takes three bytes in a message: its length must not depend on the clock. A shorter slice
/// counts as the least of them, a longer one as the largest, which no budget allows.
const REPORTED: core::ops::RangeInclusive<u32> = 1 << 14..=(1 << 21) - 1;

/// The pause of the gate's checks.
pub struct Slices<'g> {
    counter: &'g Counter,
    longest: Cell<u32>,
    /// What the counter said; `longest` is in its ticks.
    begin: Cell<u32>,
    /// Taken while it is used.
    fed: Cell<Option<(&'g mut Watchdog, SliceProofs)>>,
}

impl<'g> Slices<'g> {
    /// None was measured yet.
    pub fn new(watchdog: &'g mut Watchdog, counter: &'g Counter) -> Self {
        Self {
            counter,
            longest: Cell::new(0),
            begin: Cell::new(0),
            fed: Cell::new(Some((watchdog, SliceProofs::new(SLICES_PER_SWEEP)))),
        }
    }

    /// The longest slice so far, in the counter's unit, within [`REPORTED`].
    pub fn longest(&self) -> u32 {
        let longest = Counter::work_of(u64::from(self.longest.get()));
        let longest = u32::try_from(longest).unwrap_or(u32::MAX);
        longest.max(*REPORTED.start()).min(*REPORTED.end())
    }

    /// A check begins with its first slice.
    pub fn begin(&self) {
        if let Some((watchdog, _)) = self.fed.take() {
            watchdog.limit(SLICE_LIMIT);
            let proofs = SliceProofs::new(SLICES_PER_SWEEP);
            self.fed.set(Some((watchdog, proofs)));
        }
        self.begin.set(self.counter.raw());
    }

    /// So many sweeps are done. What lies between two sweeps ends a slice too.
    pub fn sweeps_done(&self, done: u32) {
        if let Some((watchdog, mut proofs)) = self.fed.take() {
            proofs.sweeps_done(done);
            self.fed.set(Some((watchdog, proofs)));
        }
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
    fn pause(&self) -> ControlFlow<()> {
        self.measure();
        if let Some((watchdog, mut proofs)) = self.fed.take() {
            if let Some(proof) = proofs.slice() {
                watchdog.feed(proof);
            }
            self.fed.set(Some((watchdog, proofs)));
        }
        ControlFlow::Continue(())
    }
}
