//! `hambo.check` and its result.

use std::path::PathBuf;

use hambo_check::saved_run::SavedRun;
use hambo_command::call;
use pyo3::prelude::*;

use crate::error::raised;
use crate::log::Log;
use crate::model::Model;
use crate::observer::Watch;
use crate::policy::Policy;
use crate::task::Task;

/// The verdict on a controller, and what it rests on.
#[pyclass(frozen, module = "hambo")]
pub(crate) struct CheckResult {
    run: SavedRun,
    policy: String,
    model: String,
}

/// Checks a controller; the options are words of the command line.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    task: &Task,
    model: &Model,
    policy: &Policy,
    log: Option<&Log>,
    asked: (Vec<String>, Bound<'_, PyAny>),
) -> PyResult<CheckResult> {
    let (options, progress) = asked;
    let files = inputs(task, std::slice::from_ref(&policy.name), &model.name(), log)?;
    let run = Watch::new(&progress).over(py, |watch| {
        let read = |task: &_| policy.read(task);
        let log = log.map(|log| &log.log);
        let asked = (
            options.as_slice(),
            watch as &mut dyn hambo_base::observer::Observer,
        );
        let (outcome, policy) = call::check(task.written(), &model.file, read, log, asked)?;
        let what = format!("hambo.check(\u{2026}) {}", options.join(" "));
        let inputs = call::described(task.text.clone(), files, &[&policy], what)?;
        Ok(SavedRun::new(inputs, outcome))
    })?;
    Ok(CheckResult {
        run,
        policy: policy.name.clone(),
        model: model.name(),
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
