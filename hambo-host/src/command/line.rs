//! Long work on a terminal: a line that moves, and Ctrl-C.

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::reinforcement::RoundReport;
use indicatif::{ProgressBar, ProgressStyle};

/// Whether lines are hidden even on a terminal: the user's wish for the whole process.
static HIDDEN: AtomicBool = AtomicBool::new(false);

/// A line that tells how far the work is.
pub struct Line {
    bar: ProgressBar,
    interrupted: Arc<AtomicBool>,
}

impl Line {
    /// From here on there are no lines, even on a terminal.
    pub fn hide() {
        HIDDEN.store(true, Ordering::Relaxed);
    }

    /// A line on a terminal, nothing in a pipe. From here on the first Ctrl-C
    /// asks for an end in order, the second ends at once.
    pub fn new() -> Self {
        let bar = if stderr().is_terminal() && !HIDDEN.load(Ordering::Relaxed) {
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
                std::process::exit(i32::from(super::INTERRUPTED));
            }
        });
        Self { bar, interrupted }
    }

    /// Shows how far the work is; `Break` once it shall end.
    pub fn show(&self, position: usize, length: usize, message: String) -> ControlFlow<()> {
        self.bar.set_length(length as u64);
        self.bar.set_position(position as u64);
        self.bar.set_message(message);
        if self.interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Likewise for a round of a learner.
    pub fn show_round(&self, who: &str, report: &RoundReport) -> ControlFlow<()> {
        let found = report.evaluation_return.unwrap_or(report.training_return);
        let message = format!("{who}: return {found:.1} after {} steps", report.steps);
        self.show(report.round, report.rounds, message)
    }

    /// Whether nobody sees it.
    pub fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
