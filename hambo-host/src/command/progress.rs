//! A fit on a terminal, with its checkpoints.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use crate::Error;
use crate::foundation::checkpoint::Checkpoint;
use crate::learn::ensemble::TrainerState;
use crate::learn::fit::{FitProgress, Watch};

use super::line::Line;

/// Watches a fit.
pub struct Terminal {
    line: Line,
    checkpoint: Checkpoint,
    resume: bool,
}

impl Terminal {
    /// Keeps checkpoints beside the output; `resume` goes on from the last one.
    pub fn new(output: &Path, resume: bool) -> Self {
        Self {
            line: Line::new(),
            checkpoint: Checkpoint::new(output, "fit"),
            resume,
        }
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.line.finish();
    }

    /// Removes the checkpoint once the model is saved.
    pub fn forget(&self) {
        self.checkpoint.remove();
    }
}

impl Watch for Terminal {
    fn progress(&mut self, progress: FitProgress) -> ControlFlow<()> {
        let (position, length, message) = match progress {
            FitProgress::Networks {
                training,
                calibration_error,
            } => {
                let mut message = format!("loss {:.4}", training.training_loss);
                if let Some(loss) = training.validation_loss {
                    let _ = write!(message, ", validation {loss:.4}");
                }
                if let Some(error) = calibration_error {
                    let _ = write!(message, ", calibration error {error:.1e}");
                }
                (training.step, training.steps, message)
            }
            FitProgress::Hyperparameters(search) => {
                let reached = search.negative_log_likelihood;
                let message = format!(
                    "output {}, {} rows: negative log likelihood {reached:.3}",
                    search.output, search.rows
                );
                (search.finished, search.planned, message)
            }
            FitProgress::Posterior(points) => (0, 1, format!("posterior of {points} points")),
        };
        self.line.show(position, length, message)
    }

    fn shows_calibration(&self) -> bool {
        !self.line.is_hidden()
    }

    fn keep(&mut self, state: &dyn Fn() -> TrainerState, last: bool) -> Result<(), Error> {
        self.checkpoint.keep(state, last)
    }

    fn resume(&mut self) -> Result<Option<TrainerState>, Error> {
        match self.resume {
            true => self.checkpoint.read().map(Some),
            false => Ok(None),
        }
    }
}
