//! What a watchdog is fed against: a proof that work went on, which only the work itself
//! can give.

/// A proof that the gate went on since the last one: the control loop and the
/// monitor by one period (`Heartbeat::beat`), the
/// check by one slice ([`SliceProofs`]), or an output that is off or still permitted
/// (`OutputEnable::hold`).
///
/// Nothing else makes one. A driver that takes one for every feed resets a processor that
/// hangs, and one whose loop runs without its monitor.
#[derive(Debug, PartialEq, Eq)]
pub struct WorkDone(());

impl WorkDone {
    pub(crate) fn new() -> Self {
        Self(())
    }
}

/// Proofs for the slices of a check: a fixed number for each sweep, and no more until the
/// next sweep is done. A check that never ends a sweep is not fed for ever.
///
/// ```
/// use hambo_core::SliceProofs;
/// let mut proofs = SliceProofs::new(2);
/// assert!(proofs.slice().is_some() && proofs.slice().is_some());
/// assert!(proofs.slice().is_none());
/// proofs.sweeps_done(1);
/// assert!(proofs.slice().is_some());
/// // The same sweep again is no progress.
/// proofs.sweeps_done(1);
/// assert!(proofs.slice().is_some());
/// assert!(proofs.slice().is_none());
/// ```
#[derive(Debug)]
pub struct SliceProofs {
    per_sweep: u32,
    left: u32,
    done: u32,
}

impl SliceProofs {
    /// At most `per_sweep` proofs for each sweep.
    pub fn new(per_sweep: u32) -> Self {
        Self {
            per_sweep,
            left: per_sweep,
            done: 0,
        }
    }

    /// How many sweeps are done by now. Only more than before is progress.
    pub fn sweeps_done(&mut self, done: u32) {
        if done > self.done {
            self.done = done;
            self.left = self.per_sweep;
        }
    }

    /// A proof for the slice that ends now.
    pub fn slice(&mut self) -> Option<WorkDone> {
        self.left = self.left.checked_sub(1)?;
        Some(WorkDone::new())
    }
}
