//! A fit on a terminal: a line that moves, Ctrl-C, and checkpoints.

use std::fmt::Write as _;
use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hambo_host::Error;
use hambo_host::fit::{FitProgress, Watch, read_checkpoint, write_checkpoint};
use hambo_host::training::TrainerState;
use indicatif::{ProgressBar, ProgressStyle};

/// Time between two checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);

/// Watches a fit.
pub struct Terminal {
    bar: ProgressBar,
    interrupted: Arc<AtomicBool>,
    checkpoint: PathBuf,
    resume: bool,
    last_checkpoint: Instant,
}

impl Terminal {
    /// A line on a terminal, nothing in a pipe. From here on the first Ctrl-C
    /// asks for an end in order, the second ends at once.
    pub fn new(checkpoint: PathBuf, resume: bool) -> Self {
        let bar = if stderr().is_terminal() {
            ProgressBar::new(0)
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg} · {eta} left");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        // Without a handler Ctrl-C ends the program at once, and files are
        // still whole.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(super::super::INTERRUPTED));
            }
        });
        Self {
            bar,
            interrupted,
            checkpoint,
            resume,
            last_checkpoint: Instant::now(),
        }
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
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
        self.bar.set_length(length as u64);
        self.bar.set_position(position as u64);
        self.bar.set_message(message);
        if self.interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn shows_calibration(&self) -> bool {
        !self.bar.is_hidden()
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
