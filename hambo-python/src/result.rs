//! `hambo.check` and its result.

use std::path::PathBuf;

use hambo_check::paths::Walks;
use hambo_check::saved_run::SavedRun;
use hambo_command::call;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raised;
use crate::log::Log;
use crate::model::Model;
use crate::observer::Watch;
use crate::policy::{Policy, Rows, acted};
use crate::task::Task;
use crate::trajectories::arrays;

/// The verdict on a controller, and what it rests on.
#[pyclass(frozen, module = "hambo")]
pub(crate) struct CheckResult {
    run: SavedRun,
    policy: String,
    model: String,
    walks: Option<Walks>,
    checked: call::About,
    task: Py<Task>,
    held: Py<Model>,
}

/// Checks a controller; the options are words of the command line.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    task: Bound<'_, Task>,
    model: Bound<'_, Model>,
    policy: &Policy,
    log: Option<&Log>,
    asked: (Vec<String>, Bound<'_, PyAny>),
) -> PyResult<CheckResult> {
    let (options, progress) = asked;
    let (own_task, own_model) = (task.get(), model.get());
    let name = own_model.name();
    let files = inputs(own_task, std::slice::from_ref(&policy.name), &name, log)?;
    let (run, walks, checked) = Watch::new(&progress).over(py, |watch| {
        let read = |task: &_| policy.read(task);
        let log = log.map(|log| &log.log);
        let asked = (
            options.as_slice(),
            watch as &mut dyn hambo_base::observer::Observer,
        );
        let (mut outcome, about) =
            call::check(own_task.written(), &own_model.file, read, log, asked)?;
        let what = format!("hambo.check(\u{2026}) {}", options.join(" "));
        let inputs = call::described(own_task.text.clone(), files, &[&about.policy], what)?;
        let walks = outcome.walks.take();
        Ok((SavedRun::new(inputs, outcome), walks, about))
    })?;
    Ok(CheckResult {
        run,
        policy: policy.name.clone(),
        model: name,
        walks,
        checked,
        task: task.unbind(),
        held: model.unbind(),
    })
}

type Files = Vec<hambo_check::saved_run::InputFile>;

/// What went in: files with their hashes, and under their names what Python held.
pub(crate) fn inputs(
    task: &Task,
    policies: &[String],
    model: &str,
    log: Option<&Log>,
) -> PyResult<Files> {
    let mut files = vec![call::held("task", &task.origin, task.text.as_bytes())];
    let logs = log.map(|log| log.files.as_slice()).unwrap_or_default();
    let logs = logs.iter().map(|path| ("log", path.display().to_string()));
    let policies = policies.iter().map(|name| ("policy", name.clone()));
    for (what, name) in [("model", model.to_owned())]
        .into_iter()
        .chain(policies)
        .chain(logs)
    {
        let path = PathBuf::from(&name);
        if path.is_file() {
            files.push(call::input(what, &path).map_err(raised)?);
        } else {
            files.push(call::held(what, &name, name.as_bytes()));
        }
    }
    Ok(files)
}

#[pymethods]
impl CheckResult {
    /// The lower bound of the return, as its digits in JSON say it.
    #[getter]
    fn bound(&self) -> f64 {
        let digits = serde_json::to_string(&self.run.result.decision.bound);
        let bound = digits.ok().and_then(|digits| digits.parse().ok());
        bound.unwrap_or(f64::NAN)
    }

    /// `deploy`, `reject`, `abstain`, or `None` without a threshold.
    #[getter]
    fn verdict(&self) -> Option<&'static str> {
        self.run
            .result
            .decision
            .verdict
            .map(hambo_check::Verdict::name)
    }

    /// Why it is not `deploy`, in sentences.
    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.run.result.decision.reasons.clone()
    }

    /// The estimates of the return, as in `to_dict()`.
    #[getter]
    fn estimates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.get_item("estimates")
    }

    /// The trajectories behind the bound, by `neutral` and `worst`; `None` if the check broke off.
    #[getter]
    fn trajectories<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(walks) = &self.walks else {
            return Ok(None);
        };
        let task = &self.checked.task;
        let widths = (task.state_names.len(), task.action_names.len());
        let both = PyDict::new(py);
        both.set_item("neutral", arrays(py, &walks.neutral, widths)?)?;
        both.set_item("worst", arrays(py, &walks.worst, widths)?)?;
        Ok(Some(both))
    }

    /// The truth beside the bound: the controller in an environment of Gymnasium.
    #[pyo3(signature = (env, episodes = 100, seed = 0))]
    fn against<'py>(
        slf: &Bound<'py, Self>,
        env: Bound<'py, PyAny>,
        episodes: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let truth = slf.py().import("hambo._truth")?;
        truth.call_method1("against", (slf, env, episodes, seed))
    }

    /// Steps of a trajectory.
    #[getter]
    fn horizon(&self) -> u32 {
        self.checked.task.horizon
    }

    /// The task that was given.
    #[getter]
    fn task(&self, py: Python<'_>) -> Py<Task> {
        self.task.clone_ref(py)
    }

    /// The controller's actions in rows of states, with a standard normal number for each.
    fn _actions<'py>(
        &self,
        py: Python<'py>,
        states: Rows<'py>,
        noise: Rows<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        acted(
            py,
            (&self.checked.policy, &self.checked.task),
            &states,
            Some(&noise),
        )
    }

    /// The returns of a log's episodes by the task's own reward.
    fn _returns<'py>(&self, py: Python<'py>, log: &Log) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let found = call::returns(&self.checked, &self.held.get().file, &log.log);
        Ok(PyArray1::from_vec(py, found.map_err(raised)?))
    }

    /// The object of `hambo check --json`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut object = serde_json::to_value(&self.run.result).map_err(unwritten)?;
        for (key, name) in [("policy", &self.policy), ("model", &self.model)] {
            object[key] = name.clone().into();
        }
        loaded(py, &object)
    }

    /// Saves the run for `hambo report`, or its page if the name ends in `.html`.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let page = path
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("html"));
        if page {
            let text = hambo_report::page(&self.run);
            return hambo_base::files::write_whole(&path, text.as_bytes()).map_err(raised);
        }
        self.run.write(&path).map_err(raised)
    }

    fn _repr_html_(&self) -> String {
        framed(&hambo_report::page(&self.run))
    }

    fn __repr__(&self) -> String {
        let verdict = self.verdict().unwrap_or("no verdict");
        format!("hambo.Result({verdict}, bound {:.3})", self.bound())
    }
}

/// What cannot be written as JSON.
pub(crate) fn unwritten(problem: serde_json::Error) -> PyErr {
    raised(std::io::Error::other(problem))
}

/// As Python holds JSON.
pub(crate) fn loaded<'py>(
    py: Python<'py>,
    object: &serde_json::Value,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?
        .call_method1("loads", (object.to_string(),))
}

/// A page inside another one, whose styles do not meet.
pub(crate) fn framed(page: &str) -> String {
    let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<iframe srcdoc=\"{quoted}\" title=\"hambo\" style=\"width:100%;height:40em;border:0\"></iframe>"
    )
}
