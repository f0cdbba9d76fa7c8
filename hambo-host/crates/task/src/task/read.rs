//! Task files read from a disk or a text.

use std::io;
use std::path::Path;

use hambo_base::files::read_at_most;

use super::error::TaskError;
use super::format;
use super::task_file::TaskFile;

/// The largest task file, in bytes.
const MOST_BYTES: u64 = 1 << 20;

impl TaskFile {
    /// Reads and checks a task file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a good task; the error names the file, the
    /// key, the line and what to do.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TaskError> {
        Self::read_with_horizon(path, None)
    }

    /// The same with another horizon than the file's, if one is given: expressions that name
    /// it mean this one.
    ///
    /// # Errors
    ///
    /// As [`TaskFile::read`].
    pub fn read_with_horizon(
        path: impl AsRef<Path>,
        horizon: Option<u32>,
    ) -> Result<Self, TaskError> {
        let path = path.as_ref();
        let origin = path.display().to_string();
        let text = read_at_most(path, MOST_BYTES).and_then(|bytes| {
            let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
            String::from_utf8(bytes).map_err(no_text)
        });
        match text {
            Ok(text) => {
                let task = format::parse(&text, &origin, horizon)?;
                let (states, actions) = (task.state_names.len(), task.action_names.len());
                tracing::info!(file = %origin, states, actions, horizon = task.horizon, "read a task");
                Ok(task)
            }
            Err(source) => Err(TaskError::Read { origin, source }),
        }
    }

    /// Checks the text of a task file; `origin` is its name in errors.
    ///
    /// # Errors
    ///
    /// If the text is not a good task; the error names the file, the key, the line and what
    /// to do.
    pub fn parse(text: &str, origin: &str) -> Result<Self, TaskError> {
        Self::parse_with_horizon(text, origin, None)
    }

    /// The same with another horizon than the text's, if one is given.
    ///
    /// # Errors
    ///
    /// As [`TaskFile::parse`].
    pub fn parse_with_horizon(
        text: &str,
        origin: &str,
        horizon: Option<u32>,
    ) -> Result<Self, TaskError> {
        format::parse(text, origin, horizon)
    }
}
