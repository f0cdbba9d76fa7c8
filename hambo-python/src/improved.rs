//! `hambo.improve` and the controller that it learns.

use std::path::PathBuf;

use hambo_base::files::write_whole;
use hambo_base::observer::Observer;
use hambo_command::call;
use pyo3::prelude::*;

use crate::error::raised;
use crate::log::Log;
use crate::model::Model;
use crate::observer::Watch;
use crate::policy::Policy;
use crate::result::loaded;
use crate::task::Task;

/// A controller that was learned from a log alone.
#[pyclass(frozen, module = "hambo")]
pub(crate) struct Improved {
    found: call::Improved,
}

/// Learns a controller; the options are words of the command line.
#[pyfunction]
pub(crate) fn improve(
    py: Python<'_>,
    task: &Task,
    log: &Log,
    model: Option<&Model>,
    options: Vec<String>,
    progress: Bound<'_, PyAny>,
) -> PyResult<Improved> {
    let model = model.map(|one| &one.file);
    let found = Watch::new(&progress).over(py, |watch| {
        let asked = (options.as_slice(), watch as &mut dyn Observer);
        call::improve(&task.file, model, &log.log, asked)
    })?;
    Ok(Improved { found })
}

#[pymethods]
impl Improved {
    /// The lower bound of its return, on trajectories by which it was not chosen.
    #[getter]
    fn bound<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.get_item("bound")
    }

    /// `deploy`, `reject`, `abstain`, or `None` without a threshold.
    #[getter]
    fn verdict(&self) -> Option<String> {
        self.found.object["verdict"].as_str().map(str::to_owned)
    }

    /// Why it is not `deploy`, in sentences.
    #[getter]
    fn reasons<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.get_item("reasons")
    }

    /// The object of `hambo improve --json`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loaded(py, &self.found.object)
    }

    /// Writes the controller as an ONNX file, whole or not at all.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        write_whole(&path, &self.found.onnx).map_err(raised)
    }

    /// It, as a controller to be checked.
    fn policy(&self, name: Option<String>) -> Policy {
        let name = name.unwrap_or_else(|| "the improved controller".to_owned());
        Policy::of_onnx(name, self.found.onnx.clone())
    }

    fn __repr__(&self) -> String {
        let object = &self.found.object;
        let verdict = object["verdict"].as_str().unwrap_or("no verdict");
        format!("hambo.Improved({verdict}, bound {})", object["bound"])
    }
}
