//! Reading several files, each of its own kind, into one table or log.

use std::path::{Path, PathBuf};

use hambo_task::column_names::ColumnNames;
use hambo_task::task::TaskFile;

use super::csv::{Purpose, read_csv};
#[cfg(feature = "hdf5")]
use super::hdf5::read_hdf5;
use super::held::{HeldArray, read_held};
use super::npz::read_npz;
#[cfg(feature = "parquet")]
use super::parquet::read_parquet;
use crate::error::DataError;
use crate::format::Format;
use crate::log::{Log, ensure_rewards, transitions, with_memory, with_return_so_far, wrapped};
use crate::table::Table;

/// Reads the log of a task from files of any kinds; no episode runs across files. States of
/// `[known]` with an initial value are computed along the episodes. Where the reward is learned,
/// the return so far is its last state. States that wrap are inside their intervals.
///
/// # Errors
/// As [`read_logs`], or if such a log has no rewards.
pub fn read_task_logs(paths: &[PathBuf], task: &TaskFile) -> Result<Log, DataError> {
    task_log(&read_all(paths, Some(&task.names()), Purpose::Log)?, task)
}

/// The same of arrays that a program holds; `origin` is what messages call them.
///
/// # Errors
/// As [`read_task_logs`].
pub fn read_held_task_log(
    origin: &Path,
    arrays: &[HeldArray<'_>],
    task: &TaskFile,
) -> Result<Log, DataError> {
    task_log(&read_held_table(origin, arrays, Some(&task.names()))?, task)
}

/// Reads a table from arrays that a program holds.
///
/// # Errors
/// As [`read_table`].
pub fn read_held_table(
    origin: &Path,
    arrays: &[HeldArray<'_>],
    names: Option<&ColumnNames>,
) -> Result<Table, DataError> {
    ready(read_held(origin, arrays, names)?, origin)
}

fn task_log(table: &Table, task: &TaskFile) -> Result<Log, DataError> {
    let mut log = wrapped(&transitions(table)?, &task.wraps).into_owned();
    if !task.memory.is_empty() {
        log = with_memory(&log, &task.model_view()).map_err(|problem| {
            let help = "correct its expression in [known], or the row";
            DataError::whole(&table.file, problem, help)
        })?;
    }
    if !task.learns_reward() {
        return Ok(log);
    }
    ensure_rewards(table)?;
    with_return_so_far(&log).map_err(DataError::row(&table.file))
}

/// Reads the log of these states and actions from files of any kinds; no episode runs across files.
///
/// # Errors
/// If a kind is unknown, or a file is unfit or has other columns than the first; the message names
/// the place.
///
/// ```
/// use hambo_data::{ColumnNames, read_logs};
///
/// let file = std::env::temp_dir().join("hambo-doc-cart.csv");
/// std::fs::write(&file, "u,x,terminal\n0.5,0,0\n0.5,1,0\n0,2,1\n0.5,7,0\n0,8,0\n")?;
/// let names = ColumnNames { states: vec!["x".to_owned()], actions: vec!["u".to_owned()] };
/// let log = read_logs(&[file], &names)?;
/// // Never across a terminal: 0 → 1, 1 → 2 and 7 → 8.
/// assert_eq!(log.len(), 3);
/// assert_eq!(log.rows().map(|row| row.episode).collect::<Vec<_>>(), [0, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_logs(paths: &[PathBuf], names: &ColumnNames) -> Result<Log, DataError> {
    transitions(&read_all(paths, Some(names), Purpose::Log)?)
}

/// Reads a table from files of any kinds, one after the other; no episode runs across files.
/// Without names, states and actions are told apart as [`Table::roles_known`] says.
///
/// # Errors
/// If a file is unfit or differs from the first.
///
/// ```
/// use hambo_data::{ColumnNames, read_table, transitions};
///
/// let file = std::env::temp_dir().join("hambo-doc-table.csv");
/// std::fs::write(&file, "x,u,next.x\n0,1,1\n1,1,2\n")?;
/// let table = read_table(&[file.clone(), file], None)?;
/// assert_eq!((table.rows(), table.names.states[0].as_str()), (4, "x"));
/// assert_eq!(table.episode_lengths(), [2, 2]);
/// assert_eq!(transitions(&table)?.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_table(paths: &[PathBuf], names: Option<&ColumnNames>) -> Result<Table, DataError> {
    read_all(paths, names, Purpose::Table)
}

fn read_all(
    paths: &[PathBuf],
    names: Option<&ColumnNames>,
    purpose: Purpose,
) -> Result<Table, DataError> {
    let mut paths = paths.iter();
    let Some(first) = paths.next() else {
        return Err(DataError::empty(
            Path::new("no file"),
            "give at least one log",
        ));
    };
    let mut table = read_one(first, names, purpose)?;
    // The others have the first one's columns, in whatever order.
    let found = table.names.clone();
    for path in paths {
        table.append(read_one(path, names.or(Some(&found)), purpose)?)?;
    }
    Ok(table)
}

fn read_one(
    path: &Path,
    names: Option<&ColumnNames>,
    purpose: Purpose,
) -> Result<Table, DataError> {
    let table = match Format::of_file(path)? {
        Format::Csv => read_csv(path, names, purpose)?,
        Format::Npz => read_npz(path, names)?,
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => read_hdf5(path, names)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => read_parquet(path, names)?,
        #[cfg(not(all(feature = "hdf5", feature = "parquet")))]
        format => return Err(format.left_out(path)),
    };
    ready(table, path)
}

/// What holds of every table, wherever it comes from.
fn ready(mut table: Table, path: &Path) -> Result<Table, DataError> {
    if table.rows() == 0 {
        return Err(DataError::empty(
            path,
            "the file has no row; log something first",
        ));
    }
    // A table of lines has said so itself.
    if table.origin.files.is_empty() {
        table.set_origin(false);
    }
    tracing::info!(
        file = %path.display(),
        rows = table.rows(),
        states = table.states.columns(),
        actions = table.actions.columns(),
        "read a log"
    );
    Ok(table)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_tasks_log_is_read_into_its_intervals() {
        let name = format!("hambo-wrapped-{}.csv", std::process::id());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, "yaw,u,next.yaw\n350,0,370\n-10,0,30\n").unwrap();
        let task = "name = 'car'\nhorizon = 2\n[state]\nnames = ['yaw']\n\
            wrap = [{ name = 'yaw', period = 360, low = 0 }]\n\
            [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = 'yaw'\n\
            [initial]\nkind = 'data'\n";
        let task = TaskFile::parse(task, "car.toml").unwrap();
        let log = read_task_logs(std::slice::from_ref(&file), &task).unwrap();
        std::fs::remove_file(&file).unwrap();
        let rows: Vec<(f32, f32)> = log
            .rows()
            .map(|row| (row.state[0], row.next_state[0]))
            .collect();
        assert_eq!(rows, [(350.0, 10.0), (350.0, 30.0)]);
    }
}
