//! Long work in slices: between two of them its owner is asked whether it goes on.
//!
//! A check of minutes has no state machine. It calls a [`Pause`] after every slice, a
//! fraction of a sweep, and gives up at the first call that says so.

use core::cell::Cell;
use core::ops::ControlFlow;

use super::work_done::WorkDone;

/// Called between two slices of a check.
///
/// A pause may feed a watchdog, count, or yield to another task. `Break` stops the check
/// for good: it abstains, and no pause is called again. A closure without an argument is one;
/// a type of your own gets a proof of the slice, for a watchdog.
///
/// ```
/// use core::cell::Cell;
/// use core::ops::ControlFlow;
/// use hambo_core::{Check, Progress, Reason};
/// let image = hambo_core::example::image()?;
/// let slices = Cell::new(0);
/// let until_the_hundredth = || {
///     slices.set(slices.get() + 1);
///     match slices.get() {
///         100 => ControlFlow::Break(()),
///         _ => ControlFlow::Continue(()),
///     }
/// };
/// let mut rows = [[0.0; 4]; 128];
/// let mut check = Check::new(&image, &mut rows).map_err(|_| "too few rows")?;
/// check.pause_with(&until_the_hundredth);
/// let Progress::Finished(outcome) = check.advance(u32::MAX) else {
///     return Err("unfinished");
/// };
/// assert_eq!(outcome.verdict.name(), "abstain");
/// assert_eq!(outcome.reasons, [Reason::Unfinished]);
/// assert_eq!(slices.get(), 100);
/// # Ok::<(), &str>(())
/// ```
pub trait Pause {
    /// Whether the work goes on. The proof is of the slice that has ended; there is none any
    /// more where a sweep of the check takes more slices than any sweep has, and none outside
    /// of a check.
    fn pause(&self, proof: Option<WorkDone>) -> ControlFlow<()>;
}

impl<F: Fn() -> ControlFlow<()>> Pause for F {
    fn pause(&self, _proof: Option<WorkDone>) -> ControlFlow<()> {
        self()
    }
}

/// The largest number of weights that are multiplied in one slice. Four lanes take less
/// than three instructions for each weight and lane: below 200,000.
pub(crate) const WEIGHTS: usize = 16_384;

/// The largest number of a layer's outputs in one slice: each has an activation.
pub(crate) const OUTPUTS: usize = 128;

/// Rows of a little work each that make one slice.
const ROWS: usize = 64;

/// More slices than a sweep of the largest model over the longest horizon has.
const SLICES_OF_A_SWEEP: u32 = 1 << 24;

/// Asks a [`Pause`] between two slices, until it says `Break`.
pub struct Slices<'a> {
    pause: &'a dyn Pause,
    stopped: Cell<bool>,
    /// Proofs that are left of the sweep under way.
    proofs: Cell<u32>,
}

impl<'a> Slices<'a> {
    /// Slices with this pause between them.
    pub fn new(pause: &'a dyn Pause) -> Self {
        Self {
            pause,
            stopped: Cell::new(false),
            proofs: Cell::new(0),
        }
    }

    /// A sweep of a check begins: its slices are proofs of work, and no more of them than a
    /// sweep has.
    pub(crate) fn begin_sweep(&self) {
        self.proofs.set(SLICES_OF_A_SWEEP);
    }

    /// A proof of the slice that has ended.
    fn proof(&self) -> Option<WorkDone> {
        self.proofs.set(self.proofs.get().checked_sub(1)?);
        Some(WorkDone::new())
    }

    /// Another pause from now on. What was stopped stays so.
    pub fn pause_with(&mut self, pause: &'a dyn Pause) {
        self.pause = pause;
    }

    /// Between two slices; `None` if there is to be no other. Once it was `None` it always
    /// is, and the pause is not called any more.
    #[must_use]
    pub(crate) fn next(&self) -> Option<()> {
        if self.stopped.get() {
            return None;
        }
        if self.pause.pause(self.proof()).is_break() {
            self.stopped.set(true);
            return None;
        }
        Some(())
    }

    /// Asks at every 64th of many rows with a little work each, by the row's number.
    pub(crate) fn at_row(&self, row: usize) -> Option<()> {
        if row.is_multiple_of(ROWS) {
            self.next()
        } else {
            Some(())
        }
    }

    /// Whether a pause has said `Break`.
    pub fn is_stopped(&self) -> bool {
        self.stopped.get()
    }
}

/// No pause: the work is done at a stretch.
impl Default for Slices<'_> {
    fn default() -> Self {
        Self::new(&Never)
    }
}

/// Never stops anything.
struct Never;

impl Pause for Never {
    fn pause(&self, _proof: Option<WorkDone>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// What the kernels do between two pauses, counted on the thread of a test.
#[cfg(test)]
pub(crate) mod work {
    use core::cell::Cell;

    std::thread_local! {
        static WEIGHTS: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts weights that are multiplied, in every lane.
    pub(crate) fn add(weights: usize) {
        WEIGHTS.set(WEIGHTS.get() + weights);
    }

    /// What was added since the last call.
    pub(crate) fn take() -> usize {
        WEIGHTS.replace(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_break_holds_whatever_the_pause_would_say_later() {
        let calls = Cell::new(0);
        let second = || {
            calls.set(calls.get() + 1);
            match calls.get() {
                2 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        let mut slices = Slices::new(&second);
        assert_eq!(slices.next(), Some(()));
        assert!(!slices.is_stopped());
        for _ in 0..5 {
            assert_eq!(slices.next(), None);
            assert_eq!(slices.at_row(0), None);
            assert!(slices.is_stopped());
        }
        assert_eq!(calls.get(), 2);
        slices.pause_with(&Never);
        assert_eq!(slices.next(), None);
    }

    /// Counts the proofs that it gets.
    struct Proofs(Cell<u32>);

    impl Pause for Proofs {
        fn pause(&self, proof: Option<WorkDone>) -> ControlFlow<()> {
            self.0.set(self.0.get() + u32::from(proof.is_some()));
            ControlFlow::Continue(())
        }
    }

    #[test]
    fn only_a_sweep_of_a_check_gives_proofs_and_no_more_than_its_slices() {
        let proofs = Proofs(Cell::new(0));
        let slices = Slices::new(&proofs);
        assert_eq!((slices.next(), proofs.0.get()), (Some(()), 0));
        slices.begin_sweep();
        assert_eq!((slices.next(), proofs.0.get()), (Some(()), 1));
        // A sweep that never ends.
        slices.proofs.set(2);
        for _ in 0..5 {
            assert_eq!(slices.next(), Some(()));
        }
        assert_eq!(proofs.0.get(), 3);
        slices.begin_sweep();
        assert_eq!((slices.next(), proofs.0.get()), (Some(()), 4));
    }

    #[test]
    fn every_sixty_fourth_row_is_a_pause() {
        let calls = Cell::new(0);
        let count = || {
            calls.set(calls.get() + 1);
            ControlFlow::Continue(())
        };
        let slices = Slices::new(&count);
        assert!((0..129).all(|row| slices.at_row(row).is_some()));
        assert_eq!(calls.get(), 3);
        assert_eq!(Slices::default().next(), Some(()));
    }
}
