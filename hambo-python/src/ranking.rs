//! `hambo.rank` and its table.

use std::path::PathBuf;

use hambo_base::files::write_whole;
use hambo_check::ranking::judge_all::Controller;
use hambo_command::call::{self, Ranked};
use pyo3::prelude::*;

use crate::error::raised;
use crate::log::Log;
use crate::model::Model;
use crate::observer::Watch;
use crate::policy::Policy;
use crate::result::{framed, inputs, loaded, unwritten};
use crate::task::Task;

/// Which of several controllers to try first.
#[pyclass(frozen, module = "hambo")]
pub(crate) struct Ranking {
    object: serde_json::Value,
    page: Option<String>,
}

/// Ranks controllers; the options are words of the command line.
#[pyfunction]
pub(crate) fn rank(
    py: Python<'_>,
    task: &Task,
    evidence: (Option<PyRef<'_, Model>>, Option<PyRef<'_, Log>>),
    policies: Vec<PyRef<'_, Policy>>,
    options: Vec<String>,
    progress: Bound<'_, PyAny>,
) -> PyResult<Ranking> {
    let (model, log) = evidence;
    let name = model
        .as_ref()
        .map_or("the model".to_owned(), |model| model.name());
    let names: Vec<String> = policies.iter().map(|one| one.name.clone()).collect();
    let files = inputs(task, &names, &name, log.as_deref())?;
    let (model, log) = (model.as_deref(), log.as_deref());
    let policies: Vec<&Policy> = policies.iter().map(|one| &**one).collect();
    Watch::new(&progress).over(py, |watch| {
        let read = |task: &_| -> Result<Vec<Controller>, hambo_base::Error> {
            let each = policies.iter().map(|one| {
                Ok(Controller {
                    name: one.name.clone(),
                    policy: one.read(task)?,
                })
            });
            each.collect()
        };
        let (model, log) = (model.map(|one| &one.file), log.map(|one| &one.log));
        let asked = (
            options.as_slice(),
            watch as &mut dyn hambo_base::observer::Observer,
        );
        match call::rank(task.written(), model, read, log, asked)? {
            Ranked::Certain(reasons) => Ok(Ranking {
                object: serde_json::json!({
                    "task": task.file.name,
                    "verdict": "abstain",
                    "reasons": reasons,
                    "controllers": [],
                }),
                page: None,
            }),
            Ranked::Judged(ranking, read) => {
                let read: Vec<_> = read.iter().collect();
                let what = format!("hambo.rank(\u{2026}) {}", options.join(" "));
                let inputs = call::described(task.text.clone(), files, &read, what)?;
                let object = serde_json::to_value(&ranking).map_err(std::io::Error::other)?;
                Ok(Ranking {
                    object,
                    page: Some(hambo_report::ranking_page(&ranking, &inputs)),
                })
            }
        }
    })
}

#[pymethods]
impl Ranking {
    /// The object of `hambo rank --json`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loaded(py, &self.object)
    }

    /// The rows, the controller to try first at the top.
    #[getter]
    fn controllers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.get_item("controllers")
    }

    /// Writes the page, or the JSON object if the name ends in `.json`.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let json = path
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("json"));
        let text = match &self.page {
            Some(page) if !json => page.clone(),
            _ => serde_json::to_string(&self.object).map_err(unwritten)?,
        };
        write_whole(&path, text.as_bytes()).map_err(raised)
    }

    fn _repr_html_(&self) -> Option<String> {
        self.page.as_deref().map(framed)
    }

    fn __repr__(&self) -> String {
        let rows = self.object["controllers"].as_array();
        format!("hambo.Ranking({} controllers)", rows.map_or(0, Vec::len))
    }
}
