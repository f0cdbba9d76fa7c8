//! Long work on a terminal: a line that moves, and Ctrl-C.

use std::io::{IsTerminal, Write, stderr};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hambo_base::observer::{Observer, Progress};
use indicatif::{ProgressBar, ProgressStyle};

use super::estimate::Estimate;
use super::pulse::Pulse;

/// Whether lines are hidden even on a terminal: the user's wish for the whole process.
static HIDDEN: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C has asked for an end: of all work of the process.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Units of which there are more are shown in percent.
const MOST_COUNTED: u64 = 100_000;

/// A line that tells how far the work is, and before it one that tells how long it will take
/// if that is more than ten seconds. Both are for a terminal: what goes into a pipe does not
/// depend on how fast the machine is.
pub struct Line {
    bar: ProgressBar,
    estimate: Estimate,
    /// Of what the bar shows now.
    planned: u64,
    /// What is said where there is no terminal, if anything is.
    pulse: Option<Pulse>,
}

impl Line {
    /// From here on there are no lines, even on a terminal.
    pub fn hide() {
        HIDDEN.store(true, Ordering::Relaxed);
    }

    /// A line on a terminal, nothing in a pipe. From here on the first Ctrl-C
    /// asks for an end in order, the second ends at once.
    pub fn begin() -> Self {
        // Without a handler Ctrl-C ends the program at once, and files are
        // still whole. A second line finds the handler of the first.
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(crate::INTERRUPTED));
            }
        });
        Self::begin_without_handler()
    }

    /// The line alone, for a process that has its own answer to Ctrl-C.
    pub fn begin_without_handler() -> Self {
        let bar = if stderr().is_terminal() && !HIDDEN.load(Ordering::Relaxed) {
            ProgressBar::new(0)
        } else {
            ProgressBar::hidden()
        };
        Self {
            bar,
            estimate: Estimate::default(),
            planned: 0,
            pulse: None,
        }
    }

    /// The same, and where there is no terminal a whole line on stderr every ten seconds: for work
    /// that may take long enough for somebody to ask whether it still goes on.
    pub fn begin_with_pulse() -> Self {
        let wanted = !stderr().is_terminal() && !HIDDEN.load(Ordering::Relaxed);
        Self {
            pulse: wanted.then(|| Pulse::begin(Instant::now())),
            ..Self::begin()
        }
    }

    fn draw(&mut self, progress: Progress) {
        if let Some(text) = self.estimate.look(Instant::now(), &progress) {
            self.bar.println(text);
        }
        let planned = progress.planned as u64;
        if planned != self.planned {
            self.planned = planned;
            let template = if planned > MOST_COUNTED {
                "{bar:24} {percent} % {msg} · {eta} left"
            } else {
                "{bar:24} {pos}/{len} {msg} · {eta} left"
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                self.bar.set_style(style);
            }
            self.bar.set_length(planned);
        }
        self.bar.set_position(progress.done as u64);
        self.bar.set_message(progress.message);
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Line {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        if let Some(pulse) = &mut self.pulse {
            if let Some(text) = pulse.look(Instant::now(), &progress) {
                // Nobody may be left to be told.
                let _ = writeln!(stderr(), "{text}");
            }
        } else if !self.bar.is_hidden() {
            self.draw(progress);
        }
        if INTERRUPTED.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn note(&mut self, sentence: &str) {
        if !self.bar.is_hidden() {
            self.bar.println(sentence);
        }
    }

    fn reads(&self) -> bool {
        !self.bar.is_hidden() || self.pulse.is_some()
    }
}
