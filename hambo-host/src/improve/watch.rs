//! Who watches an improvement.

use std::ops::ControlFlow;

use super::{Candidate, DuelState};
use crate::Error;
use crate::reinforcement::RoundReport;

/// An improvement's audience.
pub trait ImproveWatch {
    /// Told of every round of the controller; `Break` ends the work with
    /// [`Error::Interrupted`].
    fn round(&mut self, report: &RoundReport, best: Option<&Candidate>) -> ControlFlow<()>;

    /// A state from which the work could go on, if one is wanted now. `last`
    /// if it ends here.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn keep(&mut self, _state: &dyn Fn() -> DuelState, _last: bool) -> Result<(), Error> {
        Ok(())
    }

    /// The state to go on from, if there is one.
    ///
    /// # Errors
    /// If there is one that cannot be read.
    fn resume(&mut self) -> Result<Option<DuelState>, Error> {
        Ok(None)
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl ImproveWatch for Unwatched {
    fn round(&mut self, _: &RoundReport, _: Option<&Candidate>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
