//! A fit on a terminal, with its checkpoints.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hambo_host::Error;
use hambo_host::fit::{FitProgress, Watch, read_checkpoint, write_checkpoint};
use hambo_host::training::TrainerState;

use super::line::Line;

/// Time between two checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);

/// Watches a fit.
pub struct Terminal {
    line: Line,
    checkpoint: PathBuf,
    resume: bool,
    last_checkpoint: Instant,
}

impl Terminal {
    /// Keeps checkpoints in a file; `resume` goes on from the last one.
    pub fn new(checkpoint: PathBuf, resume: bool) -> Self {
        Self {
            line: Line::new(),
            checkpoint,
            resume,
            last_checkpoint: Instant::now(),
        }
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.line.finish();
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
        if last || self.last_checkpoint.elapsed() >= CHECKPOINT_EVERY {
            write_checkpoint(&self.checkpoint, &state())?;
            self.last_checkpoint = Instant::now();
        }
        Ok(())
    }

    fn resume(&mut self) -> Result<Option<TrainerState>, Error> {
        match self.resume {
            true => read_checkpoint(&self.checkpoint).map(Some),
            false => Ok(None),
        }
    }
}
