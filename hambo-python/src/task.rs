//! `hambo.Task`.

use std::fs;
use std::path::{Path, PathBuf};

use hambo_base::files::write_whole;
use hambo_command::call::TaskText;
use hambo_data::{DraftOptions, DraftReward, LoggedRows, draft_with};
use hambo_task::task::TaskFile;
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::error::{Error, raised};

/// Least and largest values.
type Limits = (Vec<f32>, Vec<f32>);

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

    /// A first task from a log, as `hambo task new` drafts it.
    ///
    /// `data` as for `hambo.fit`. `reward`: an expression of states and actions; without one the
    /// model learns the log's rewards. `actions`: their names, where no column `next.NAME` tells
    /// states and actions apart. Look at every line of `task.text`.
    ///
    /// >>> import hambo
    /// >>> task = hambo.Task.from_log("log.csv", reward="-x^2", name="cart")
    /// >>> task.states, task.actions, task.horizon
    /// (['x', 'v'], ['u'], 25)
    #[staticmethod]
    #[pyo3(signature = (data, reward = None, *, actions = None, name = None))]
    fn from_log<'py>(
        py: Python<'py>,
        data: Bound<'py, PyAny>,
        reward: Option<String>,
        actions: Option<Vec<String>>,
        name: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let tasks = py.import("hambo._tasks")?;
        tasks.call_method1("from_log", (data, reward, actions, name))
    }

    /// A first task of an environment of Gymnasium, or of its id.
    ///
    /// Limits and horizon are its own, names those of its documentation where it has a table of
    /// them. It is driven by random actions for some episodes: what stays the same within each
    /// (a goal) or follows exactly becomes `[known]`. Without `reward` the model learns it. Look
    /// at every line of `task.text`; what ends an episode is for you to write.
    #[staticmethod]
    #[pyo3(signature = (env, reward = None, *, states = None, actions = None, name = None,
        episodes = 20, seed = 0))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keywords of a function of Python"
    )]
    fn from_env<'py>(
        py: Python<'py>,
        env: Bound<'py, PyAny>,
        reward: Option<String>,
        states: Option<Vec<String>>,
        actions: Option<Vec<String>>,
        name: Option<String>,
        episodes: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let tasks = py.import("hambo._tasks")?;
        let words = (env, reward, states, actions, name, episodes, seed);
        tasks.call_method1("from_env", words)
    }

    /// A first task of a log: of files, or of arrays by their names. `told` is the reward's
    /// expression, the horizon, and limits of states and actions, where the caller knows them.
    #[staticmethod]
    fn draft(
        files: Option<Vec<PathBuf>>,
        arrays: Vec<(String, Bound<'_, PyAny>)>,
        names: (Option<String>, Vec<String>),
        told: (Option<String>, Option<u32>, Option<Limits>, Option<Limits>),
    ) -> PyResult<Self> {
        let (name, actions) = names;
        let (reward, horizon, state_limits, action_limits) = told;
        let first = files.as_ref().and_then(|files| files.first()?.file_stem());
        let first = first.map(|stem| stem.to_string_lossy().into_owned());
        let log = match files {
            Some(files) => LoggedRows::discover(&files, &actions),
            None => {
                let columns = Columns::of(&arrays)?;
                LoggedRows::discover_held(Path::new("data"), &columns.held()?, &actions)
            }
        };
        let log = log.map_err(raised)?;
        let reward = match reward {
            Some(expression) => DraftReward::Expression(expression),
            None if log.rows.iter().all(|row| row.reward.is_some()) => DraftReward::Learned,
            None => {
                let text = "the log has no rewards, and none is given\n\
                            help: give reward=\"-x^2\" with the names of states and actions, or \
                            log a column `reward`";
                return Err(Error::new_err(text));
            }
        };
        let options = DraftOptions {
            reward,
            horizon,
            state_limits,
            action_limits,
        };
        let name = name.or(first).unwrap_or_else(|| "task".to_owned());
        Self::from_string(draft_with(&log, &name, &options))
    }

    /// Writes the task file; one that is there stays.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        if path.exists() {
            return Err(Error::new_err(format!(
                "{} is there already\nhelp: choose another file; a task is never overwritten",
                path.display()
            )));
        }
        write_whole(&path, self.text.as_bytes()).map_err(raised)
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

    /// How many states the task computes along an episode: memory, and a learned return.
    #[getter]
    fn computed(&self) -> (usize, bool) {
        (self.file.memory.len(), self.file.learns_reward())
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
