//! A controller: of a file, of the text or the bytes of one; and what it does in given states.

use std::path::PathBuf;

use hambo_task::image::actions;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use numpy::{
    AllowTypeChange, PyArray1, PyArray2, PyArrayLike2, PyArrayMethods, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::error::{Error, raised};
use crate::task::Task;

/// Rows of numbers, of whatever kind they were.
pub(crate) type Rows<'py> = PyArrayLike2<'py, f32, AllowTypeChange>;

/// Where a controller comes from. It is read for a task, once that is known.
#[pyclass(frozen, module = "hambo")]
pub(crate) struct Policy {
    pub(crate) name: String,
    source: Source,
}

enum Source {
    File(PathBuf),
    Text(String),
    Onnx(Vec<u8>),
}

#[pymethods]
impl Policy {
    /// Of a policy file, under a name.
    #[staticmethod]
    fn of_file(name: String, path: PathBuf) -> Self {
        let source = Source::File(path);
        Self { name, source }
    }

    /// Of the text of a policy file.
    #[staticmethod]
    fn of_text(name: String, text: String) -> Self {
        let source = Source::Text(text);
        Self { name, source }
    }

    /// The actions in rows of states, without chance and within the task's limits.
    fn actions<'py>(
        &self,
        py: Python<'py>,
        task: &Task,
        states: Rows<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let policy = self.read(&task.file).map_err(raised)?;
        acted(py, (&policy, &task.file), &states, None)
    }
}

impl Policy {
    /// Of the bytes of an ONNX file.
    pub(crate) fn of_onnx(name: String, bytes: Vec<u8>) -> Self {
        let source = Source::Onnx(bytes);
        Self { name, source }
    }

    pub(crate) fn read(&self, task: &TaskFile) -> Result<HostPolicy, hambo_base::Error> {
        Ok(match &self.source {
            Source::File(path) => HostPolicy::read(path, task)?,
            Source::Text(text) => HostPolicy::parse(text, &self.name, task)?,
            Source::Onnx(bytes) => HostPolicy::of_onnx(bytes, &self.name, task)?,
        })
    }
}

/// What a controller does in rows of the states that a log has, with a standard normal number for
/// each action or without chance.
pub(crate) fn acted<'py>(
    py: Python<'py>,
    (policy, task): (&HostPolicy, &TaskFile),
    states: &Rows<'py>,
    noise: Option<&Rows<'py>>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let own = task.logged_states();
    if !task.memory.is_empty() {
        let text = "the task computes states along an episode, which single rows do not have\n\
                    help: give the log to `hambo check`";
        return Err(Error::new_err(text));
    }
    let found = states.shape();
    if found.get(1) != Some(&own.len()) {
        return Err(Error::new_err(format!(
            "states: {} numbers a row, and the task has {}: {}\n\
             help: give what this task describes",
            found.get(1).copied().unwrap_or(0),
            own.len(),
            own.join(", ")
        )));
    }
    // A controller does not see the return so far.
    let computed = task.state_names.len() - own.len();
    let rows = states.as_array();
    let mut numbers = Vec::with_capacity(rows.nrows() * task.state_names.len());
    for row in rows.rows() {
        numbers.extend(row.iter().copied());
        numbers.extend(std::iter::repeat_n(0.0, computed));
    }
    let noise = noise.map(|noise| noise.as_array().iter().copied().collect());
    let noise: Vec<f32> = noise.unwrap_or_default();
    let found = actions(policy, task, &numbers, &noise).map_err(raised)?;
    PyArray1::from_vec(py, found).reshape([rows.nrows(), task.action_names.len()])
}
