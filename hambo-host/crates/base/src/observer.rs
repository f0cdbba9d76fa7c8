//! Long work and who observes it: the one is told how far the other is, may stop it,
//! and keeps a state from which it could go on.
//!
//! Fits, learners, improvements and the trained adversaries of a check report this way.

use std::ops::ControlFlow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::checkpoint::{self, StateBytes};
use super::error::Error;

/// How far the work is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub done: usize,
    /// Steps planned; the work may end before.
    pub planned: usize,
    /// What it has reached, in a few words.
    pub message: String,
}

/// Observes long work.
pub trait Observer: Send {
    /// Told now and then; `Break` ends the work with [`Error::Interrupted`].
    fn progress(&mut self, progress: Progress) -> ControlFlow<()>;

    /// Told what was settled before the work begins, in a sentence.
    fn note(&mut self, _sentence: &str) {}

    /// Whether someone reads the messages, so that what only they need is computed.
    fn reads(&self) -> bool {
        false
    }

    /// Offered the bytes of a state from which the work could go on; `last` if it ends here.
    ///
    /// # Errors
    /// If they cannot be kept, which ends the work.
    fn keep(&mut self, _state: &StateBytes<'_>, _last: bool) -> Result<(), Error> {
        Ok(())
    }

    /// The bytes of the state to go on from, if there is one.
    ///
    /// # Errors
    /// If there is one that cannot be read.
    fn resume(&mut self) -> Result<Option<Vec<u8>>, Error> {
        Ok(None)
    }
}

impl dyn Observer + '_ {
    /// Tells how far the work is.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if it shall end.
    pub fn report(&mut self, progress: Progress) -> Result<(), Error> {
        match self.progress(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }

    /// Tells how far the work is, and offers the current state to be kept.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the work shall end; or if the state cannot be kept.
    pub fn report_with_state<S: Serialize>(
        &mut self,
        progress: Progress,
        state: impl Fn() -> S,
    ) -> Result<(), Error> {
        let told = self.report(progress);
        self.keep(&|| checkpoint::encode(&state()), told.is_err())?;
        told
    }

    /// The state to go on from, if there is one.
    ///
    /// # Errors
    /// If there is one that cannot be read.
    pub fn resumed<S: DeserializeOwned>(&mut self) -> Result<Option<S>, Error> {
        let bytes = self.resume()?;
        Ok(bytes.as_deref().map(checkpoint::decode).transpose()?)
    }
}

/// Nobody observes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn progress(&mut self, _: Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
