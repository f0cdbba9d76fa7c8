//! `hambo.Model` and `hambo.fit`.

use std::path::{Path, PathBuf};

use hambo_command::call;
use hambo_learn::model_file::ModelFile;
use numpy::{AllowTypeChange, PyArray1, PyArrayLike2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Error, raised};
use crate::log::Log;
use crate::observer::Watch;
use crate::task::Task;

/// A calibrated model of the dynamics.
#[pyclass(frozen, module = "hambo")]
pub(crate) struct Model {
    pub(crate) file: ModelFile,
    /// Where it lies, if it was read or saved.
    pub(crate) path: Option<PathBuf>,
    #[pyo3(get)]
    warnings: Vec<String>,
}

/// Fits a model; the options are words of the command line.
#[pyfunction]
pub(crate) fn fit(
    py: Python<'_>,
    task: &Task,
    log: &Log,
    options: Vec<String>,
    progress: &Bound<'_, PyAny>,
) -> PyResult<Model> {
    let fitted =
        Watch::new(progress).over(py, |watch| call::fit(&task.file, &log.log, &options, watch));
    let (file, warnings) = fitted?;
    Ok(Model {
        file,
        path: None,
        warnings,
    })
}

#[pymethods]
impl Model {
    /// Reads a model file.
    #[staticmethod]
    fn from_file(path: PathBuf) -> PyResult<Self> {
        Ok(Self {
            file: ModelFile::read(&path).map_err(raised)?,
            path: Some(path),
            warnings: Vec::new(),
        })
    }

    /// Writes a model file, whole or not at all: the same bytes as `hambo fit`.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.file.write(&path).map_err(raised)
    }

    /// The names of the states.
    #[getter]
    fn states(&self) -> Vec<String> {
        let metadata = self.file.metadata();
        let computed = metadata.view.memory.len() + usize::from(metadata.learned_reward);
        let names = &metadata.state_names;
        let own = names.len().saturating_sub(computed);
        names.iter().take(own).cloned().collect()
    }

    /// The names of the actions.
    #[getter]
    fn actions(&self) -> Vec<String> {
        self.file.metadata().action_names.clone()
    }

    /// What the model says of s' for rows of s and a: a dictionary of arrays.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        states: PyArrayLike2<'py, f32, AllowTypeChange>,
        actions: PyArrayLike2<'py, f32, AllowTypeChange>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let metadata = self.file.metadata();
        if !metadata.view.memory.is_empty() || metadata.learned_reward {
            let text = "this model computes states along an episode, which single rows do not have\n\
                        help: give the log to `hambo predict`";
            return Err(Error::new_err(text));
        }
        for (what, found, names) in [
            ("states", states.shape(), self.states()),
            ("actions", actions.shape(), self.actions()),
        ] {
            if found.get(1) != Some(&names.len()) || found.first() != states.shape().first() {
                return Err(Error::new_err(format!(
                    "{what}: its shape is {found:?}, and the model has {} a row: {}\n\
                     help: give rows \u{d7} {}, as many rows of states as of actions",
                    names.len(),
                    names.join(", "),
                    names.len()
                )));
            }
        }
        let mut log = hambo_data::Log::new(self.states().len(), self.actions().len());
        // In rows, whatever order they lie in.
        let actions: Vec<f32> = actions.as_array().iter().copied().collect();
        let states: Vec<f32> = states.as_array().iter().copied().collect();
        let actions = actions.chunks_exact(self.actions().len().max(1));
        let states = states.chunks_exact(self.states().len().max(1));
        for (episode, (state, action)) in (0..).zip(states.zip(actions)) {
            let row = hambo_data::Transition {
                state,
                action,
                next_state: state,
                reward: 0.0,
                episode,
            };
            log.push(row).map_err(raised)?;
        }
        let rows = log.len();
        let said = py.detach(|| call::predicted(&self.file, &log));
        let said = said.map_err(raised)?;
        let found = PyDict::new(py);
        for (key, numbers) in [
            ("mean", said.mean),
            ("epistemic_std", said.epistemic_std),
            ("aleatoric_std", said.aleatoric_std),
        ] {
            let width = metadata.view.moved.len();
            let array = PyArray1::from_vec(py, numbers).reshape([rows, width])?;
            found.set_item(key, array)?;
        }
        Ok(found)
    }

    fn __repr__(&self) -> String {
        let part = self.file.model_part().len();
        match self.path.as_deref().map(Path::display) {
            Some(path) => format!("hambo.Model({path}, {part} bytes)"),
            None => format!("hambo.Model({part} bytes)"),
        }
    }
}

impl Model {
    /// What it is called in results.
    pub(crate) fn name(&self) -> String {
        let path = self.path.as_deref();
        path.map_or_else(|| "the model".to_owned(), |path| path.display().to_string())
    }
}
