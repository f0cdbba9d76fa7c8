//! Work that many threads share, as one observer sees it.
//!
//! Units are whatever takes the same time everywhere: steps of the model, rows of a window.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::Error;
use super::observer::{Observer, Progress};

/// Counts the work of a stage.
pub struct Meter<'a> {
    told: Mutex<Told<'a>>,
    stopped: AtomicBool,
}

struct Told<'a> {
    observer: &'a mut dyn Observer,
    stage: &'static str,
    done: u64,
    planned: u64,
}

impl<'a> Meter<'a> {
    /// Begins a stage of `planned` units.
    ///
    /// ```
    /// use hambo_base::meter::Meter;
    /// use hambo_base::observer::Unobserved;
    ///
    /// let mut nobody = Unobserved;
    /// let meter = Meter::begin(&mut nobody, "search", 2);
    /// assert!(meter.add(2).is_continue());
    /// meter.ensure_not_stopped()?;
    /// # Ok::<(), hambo_base::Error>(())
    /// ```
    pub fn begin(observer: &'a mut dyn Observer, stage: &'static str, planned: u64) -> Self {
        let meter = Self {
            told: Mutex::new(Told {
                observer,
                stage,
                done: 0,
                planned,
            }),
            stopped: AtomicBool::new(false),
        };
        let _ = meter.add(0);
        meter
    }

    /// There is more to do than was planned.
    pub fn plan(&self, units: u64) {
        if let Ok(mut told) = self.told.lock() {
            told.planned = told.planned.saturating_add(units);
        }
    }

    /// Adds `units` that are done; `Break` once the work shall end.
    pub fn add(&self, units: u64) -> ControlFlow<()> {
        let Ok(mut told) = self.told.lock() else {
            return ControlFlow::Break(());
        };
        told.done = told.done.saturating_add(units).min(told.planned);
        let progress = Progress {
            done: usize::try_from(told.done).unwrap_or(usize::MAX),
            planned: usize::try_from(told.planned).unwrap_or(usize::MAX),
            message: told.stage.to_owned(),
        };
        if told.observer.progress(progress).is_break() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        if self.stopped.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Ensures that the observer has not stopped the work.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if it has: what the work gave is no result.
    pub fn ensure_not_stopped(&self) -> Result<(), Error> {
        if self.stopped.load(Ordering::Relaxed) {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stops(usize, Vec<(usize, usize)>);

    impl Observer for Stops {
        fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
            self.1.push((progress.done, progress.planned));
            if progress.done >= self.0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }

    #[test]
    fn work_is_counted_and_stays_stopped() {
        let mut observer = Stops(5, Vec::new());
        let meter = Meter::begin(&mut observer, "search", 4);
        assert!(meter.add(3).is_continue());
        // Never more than was planned.
        assert!(meter.add(3).is_continue());
        assert!(meter.ensure_not_stopped().is_ok());
        meter.plan(6);
        assert!(meter.add(2).is_break());
        assert!(matches!(
            meter.ensure_not_stopped(),
            Err(Error::Interrupted)
        ));
        assert_eq!(observer.1, [(0, 4), (3, 4), (4, 4), (6, 10)]);
    }
}
