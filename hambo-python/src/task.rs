//! `hambo.Task`.

use std::fs;
use std::path::PathBuf;

use hambo_command::call::TaskText;
use hambo_task::task::TaskFile;
use pyo3::prelude::*;

use crate::error::raised;

/// A task: names, limits, horizon, reward and what is asked of a controller.
#[pyclass(frozen, module = "hambo")]
pub(crate) struct Task {
    pub(crate) text: String,
    pub(crate) origin: String,
    pub(crate) file: TaskFile,
}

#[pymethods]
impl Task {
    /// Reads a task file.
    #[staticmethod]
    fn from_file(path: PathBuf) -> PyResult<Self> {
        let file = TaskFile::read(&path).map_err(raised)?;
        let origin = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(raised)?;
        Ok(Self { text, origin, file })
    }

    /// Checks the text of a task file.
    #[staticmethod]
    fn from_string(text: String) -> PyResult<Self> {
        let origin = "the task".to_owned();
        let file = TaskFile::parse(&text, &origin).map_err(raised)?;
        Ok(Self { text, origin, file })
    }

    /// The task's name.
    #[getter]
    fn name(&self) -> &str {
        &self.file.name
    }

    /// The names of the states that a log has.
    #[getter]
    fn states(&self) -> Vec<String> {
        self.file.logged_states().to_vec()
    }

    /// The names of the actions.
    #[getter]
    fn actions(&self) -> Vec<String> {
        self.file.action_names.clone()
    }

    /// Steps of a trajectory.
    #[getter]
    fn horizon(&self) -> u32 {
        self.file.horizon
    }

    /// The text of the task file.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!(
            "hambo.Task({:?}, {} steps)",
            self.file.name, self.file.horizon
        )
    }
}

impl Task {
    pub(crate) fn written(&self) -> TaskText<'_> {
        TaskText {
            text: &self.text,
            origin: &self.origin,
        }
    }
}
