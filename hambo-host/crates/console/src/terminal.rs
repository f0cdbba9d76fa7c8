//! Long work on a terminal: a line that moves, Ctrl-C, and checkpoints.

use std::ops::ControlFlow;
use std::path::Path;

use hambo_base::Error;
use hambo_base::checkpoint::Checkpoint;
use hambo_base::checkpoint::StateBytes;
use hambo_base::observer::{Observer, Progress};

use super::line::Line;

/// Observes long work for a user.
pub struct Terminal {
    line: Line,
    checkpoint: Checkpoint,
    resume: bool,
}

impl Terminal {
    /// Keeps checkpoints of a kind of work beside its output; `resume` goes on from the
    /// last one.
    pub fn new(output: &Path, kind: &'static str, resume: bool) -> Self {
        Self {
            line: Line::begin(),
            checkpoint: Checkpoint::new(output, kind),
            resume,
        }
    }

    /// The line alone, for work whose state is not kept.
    pub fn line(&mut self) -> &mut Line {
        &mut self.line
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.line.finish();
    }

    /// Removes the checkpoint once the output is saved.
    pub fn forget(&self) {
        self.checkpoint.remove();
    }
}

impl Observer for Terminal {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.line.progress(progress)
    }

    fn reads(&self) -> bool {
        self.line.reads()
    }

    fn keep(&mut self, state: &StateBytes<'_>, last: bool) -> Result<(), Error> {
        self.checkpoint.keep(state, last)
    }

    fn resume(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if self.resume {
            self.checkpoint.read().map(Some)
        } else {
            Ok(None)
        }
    }
}
