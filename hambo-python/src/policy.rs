//! A controller: of a file, or of the text of one.

use std::path::PathBuf;

use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use pyo3::prelude::*;

/// Where a controller comes from. It is read for a task, once that is known.
#[pyclass(frozen, module = "hambo")]
pub(crate) struct Policy {
    pub(crate) name: String,
    source: Source,
}

enum Source {
    File(PathBuf),
    Text(String),
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
}

impl Policy {
    pub(crate) fn read(&self, task: &TaskFile) -> Result<HostPolicy, hambo_base::Error> {
        Ok(match &self.source {
            Source::File(path) => HostPolicy::read(path, task)?,
            Source::Text(text) => HostPolicy::parse(text, &self.name, task)?,
        })
    }
}
