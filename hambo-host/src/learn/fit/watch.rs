//! Who watches a fit: told how far it is, may stop it, and keeps checkpoints.

use std::ops::ControlFlow;

use crate::Error;
use crate::learn::ensemble::{self, TrainerState};
use crate::learn::gaussian_process;

/// How far a fit is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FitProgress {
    /// Networks are trained.
    Networks {
        /// How far.
        training: ensemble::Progress,
        /// Mean calibration error of the validation rows, if there are any and
        /// someone looks.
        calibration_error: Option<f32>,
    },
    /// Hyperparameters are searched for.
    Hyperparameters(gaussian_process::Progress),
    /// The posterior of so many points is computed.
    Posterior(usize),
}

/// A fit's audience.
pub trait Watch: Send {
    /// Told now and then; `Break` ends the fit with [`Error::Interrupted`].
    fn progress(&mut self, progress: FitProgress) -> ControlFlow<()>;

    /// Whether to compute the calibration error for each report on networks;
    /// it takes a few milliseconds.
    fn shows_calibration(&self) -> bool {
        false
    }

    /// A state from which training could go on, if one is wanted now.
    ///
    /// # Errors
    /// If it cannot be kept, which ends the fit.
    fn keep(&mut self, _state: &dyn Fn() -> TrainerState, _last: bool) -> Result<(), Error> {
        Ok(())
    }

    /// The state to go on from, if there is one.
    ///
    /// # Errors
    /// If there is one that cannot be read.
    fn resume(&mut self) -> Result<Option<TrainerState>, Error> {
        Ok(None)
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn progress(&mut self, _progress: FitProgress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
