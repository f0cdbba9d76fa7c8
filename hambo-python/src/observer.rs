//! Long work as Python sees it: Ctrl-C raises `KeyboardInterrupt`, and a function or a line on
//! the terminal tells how far the work is.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use hambo_base::observer::{Observer, Progress};
use hambo_console::line::Line;
use pyo3::prelude::*;

use crate::error::raised;

/// Python is asked no more often: each time takes the interpreter's lock.
const EVERY: Duration = Duration::from_millis(50);

/// Observes work that holds no lock of the interpreter.
pub(crate) struct Watch {
    line: Option<Line>,
    told: Option<Py<PyAny>>,
    raised: Option<PyErr>,
    last: Option<Instant>,
}

impl Watch {
    /// `progress` is a function of done, planned and message; `False` for silence; `None` for a
    /// line on a terminal.
    pub(crate) fn new(progress: &Bound<'_, PyAny>) -> Self {
        let silent = progress.is(&*pyo3::types::PyBool::new(progress.py(), false));
        Self {
            line: progress.is_none().then(Line::begin_without_handler),
            told: (!progress.is_none() && !silent).then(|| progress.clone().unbind()),
            raised: None,
            last: None,
        }
    }

    /// Does work without the interpreter's lock; what Python raised meanwhile comes first.
    pub(crate) fn over<T: Send>(
        mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Self) -> Result<T, hambo_base::Error> + Send,
    ) -> PyResult<T> {
        let watch = &mut self;
        let done = py.detach(|| {
            let done = work(watch);
            if let Some(line) = &watch.line {
                line.finish();
            }
            done
        });
        match self.raised {
            Some(raised) => Err(raised),
            None => done.map_err(raised),
        }
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        let now = Instant::now();
        if self
            .last
            .is_some_and(|last| now.duration_since(last) < EVERY)
        {
            return ControlFlow::Continue(());
        }
        self.last = Some(now);
        let asked: PyResult<()> = Python::attach(|py| {
            py.check_signals()?;
            if let Some(told) = &self.told {
                told.call1(py, (progress.done, progress.planned, &progress.message))?;
            }
            Ok(())
        });
        if let Err(error) = asked {
            self.raised = Some(error);
            return ControlFlow::Break(());
        }
        self.line
            .as_mut()
            .map_or(ControlFlow::Continue(()), |line| line.progress(progress))
    }

    fn reads(&self) -> bool {
        self.told.is_some() || self.line.as_ref().is_some_and(Observer::reads)
    }
}
