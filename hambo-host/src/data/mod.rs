//! Logged transitions: the table in memory, its split, and the files it comes
//! from.

mod csv_file;
mod error;
mod log;
mod split;

use std::path::Path;

use crate::task_file::TaskFile;

pub use csv_file::read_csv;
pub use error::DataError;
pub use log::{Log, LogError, Transition};
pub use split::{MINIMUM_EPISODES, Split};

/// Reads the log of a task from a file, by the end of its name.
///
/// # Errors
/// If the kind is unknown or the file is unfit; the message names the place.
pub fn read_log(path: &Path, task: &TaskFile) -> Result<Log, DataError> {
    read_log_of(path, &task.state_names, &task.action_names)
}

/// Likewise for these states and actions.
///
/// # Errors
/// As [`read_log`].
pub fn read_log_of(path: &Path, states: &[String], actions: &[String]) -> Result<Log, DataError> {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str() {
        Some("csv") => read_csv(path, states, actions),
        _ => Err(DataError::Kind {
            file: path.display().to_string(),
        }),
    }
}
