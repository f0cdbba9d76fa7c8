//! A log for a task: of files, or of arrays that Python holds.

use std::path::{Path, PathBuf};

use hambo_data::{read_held_task_log, read_task_logs};
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::error::raised;
use crate::task::Task;

/// The rows that a model is fitted to.
#[pyclass(frozen, module = "hambo")]
pub(crate) struct Log {
    pub(crate) log: hambo_data::Log,
    pub(crate) files: Vec<PathBuf>,
}

#[pymethods]
impl Log {
    /// Reads files of any kinds; no episode runs across files.
    #[staticmethod]
    fn from_files(py: Python<'_>, task: &Task, files: Vec<PathBuf>) -> PyResult<Self> {
        let log = py.detach(|| read_task_logs(&files, &task.file));
        let log = log.map_err(raised)?;
        Ok(Self { log, files })
    }

    /// Takes arrays by their names.
    #[staticmethod]
    fn from_arrays(task: &Task, arrays: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let columns = Columns::of(&arrays)?;
        let held = columns.held()?;
        let log = read_held_task_log(Path::new("data"), &held, &task.file).map_err(raised)?;
        let files = Vec::new();
        Ok(Self { log, files })
    }

    fn __len__(&self) -> usize {
        self.log.len()
    }
}
