//! Logged transitions: the table in memory, its split, and the files it comes
//! from: CSV, NPZ, HDF5 in D4RL's and Minari's layouts, and Parquet. The last
//! two bring heavy dependencies; a build without their cargo features says so
//! when it meets such a file.
#![cfg_attr(
    not(all(feature = "hdf5", feature = "parquet")),
    allow(dead_code, reason = "what only those two formats need")
)]

mod arrays;
mod clock;
mod columns;
#[cfg(feature = "parquet")]
mod contained;
mod convert;
mod csv_file;
mod csv_write;
mod ends;
mod error;
mod exploration;
mod follows;
mod format;
mod habits;
#[cfg(feature = "hdf5")]
mod hdf5_file;
#[cfg(feature = "hdf5")]
mod hdf5_minari;
#[cfg(feature = "hdf5")]
mod hdf5_plain;
#[cfg(feature = "hdf5")]
mod hdf5_write;
mod known_residual;
mod known_states;
mod learned_reward;
mod limits;
mod memory;
mod npy;
mod npz_file;
#[cfg(feature = "hdf5")]
mod npz_to_hdf5;
mod origin;
mod output;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(feature = "parquet")]
mod parquet_write;
mod rows;
mod separator;
mod split;
mod starts;
mod summary;
mod table;
pub mod task_draft;
mod transitions;
mod wrap_hint;
mod wrapped;
mod zip_file;
mod zip_write;

use std::path::{Path, PathBuf};

use hambo_task::task::TaskFile;
use learned_reward::require_rewards;
pub(crate) use memory::Memory;
pub use memory::with_memory;

pub use convert::{FileEnds, convert};
pub use csv_file::read_csv;
use csv_file::{Reading, read_csv_table};
pub use error::DataError;
pub use exploration::{Exploration, LEAST_EXPLORATION, StateAction, explorations, explorations_of};
pub use follows::follows;
pub use format::Format;
pub use hambo_task::column_names::ColumnNames;
#[cfg(feature = "hdf5")]
pub use hdf5_file::read_hdf5;
pub use known_residual::{KnownResidual, LARGEST_RESIDUAL, circle_residuals, known_residuals};
pub use learned_reward::with_return_so_far;
pub use npz_file::read_npz;
pub use origin::Origin;
pub use output::{OutputOptions, write_table};
#[cfg(feature = "parquet")]
pub use parquet_file::read_parquet;
pub use rows::{Log, LogError, Transition};
pub use split::{LogPart, MINIMUM_EPISODES, Split};
pub use starts::distinct_states;
pub use summary::{ColumnSummary, Summary};
pub use table::{Block, Numbers, Table};
pub use transitions::transitions;
pub(crate) use wrap_hint::wrap_hint;
pub use wrap_hint::{WrapHint, wrap_line};
pub use wrapped::next_to_states;
pub use wrapped::wrapped;

/// Reads the log of a task from files of any kinds; no episode runs across
/// files. States of `[known]` with an initial value are computed along the episodes. Where the
/// reward is learned, the return so far is its last state. States that wrap are inside their
/// intervals.
///
/// # Errors
/// As [`read_logs`], or if such a log has no rewards.
pub fn read_task_logs(paths: &[PathBuf], task: &TaskFile) -> Result<Log, DataError> {
    let table = read_all(paths, Some(&task.names()), Reading::Log)?;
    let mut log = wrapped(&transitions(&table)?, &task.wraps).into_owned();
    if !task.memory.is_empty() {
        log = with_memory(&log, &task.model_view()).map_err(|problem| DataError::Whole {
            file: table.file.display().to_string(),
            problem,
            help: "correct its expression in [known], or the row",
        })?;
    }
    if !task.learns_reward() {
        return Ok(log);
    }
    require_rewards(&table)?;
    with_return_so_far(&log).map_err(|problem| DataError::Row {
        file: table.file.display().to_string(),
        problem,
    })
}

/// Reads the log of these states and actions from files of any kinds; no
/// episode runs across files.
///
/// # Errors
/// If a kind is unknown, or a file is unfit or has other columns than the
/// first; the message names the place.
pub fn read_logs(paths: &[PathBuf], names: &ColumnNames) -> Result<Log, DataError> {
    transitions(&read_all(paths, Some(names), Reading::Log)?)
}

/// Reads a table from files of any kinds, one after the other; no episode
/// runs across files. Without names, states and actions are told apart as
/// [`Table::roles_known`] says.
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
    read_all(paths, names, Reading::Table)
}

fn read_all(
    paths: &[PathBuf],
    names: Option<&ColumnNames>,
    reading: Reading,
) -> Result<Table, DataError> {
    let mut paths = paths.iter();
    let Some(first) = paths.next() else {
        return Err(DataError::Empty {
            file: "no file".to_owned(),
            help: "give at least one log",
        });
    };
    let mut table = read_one(first, names, reading)?;
    // The others have the first one's columns, in whatever order.
    let found = table.names.clone();
    for path in paths {
        table.append(read_one(path, names.or(Some(&found)), reading)?)?;
    }
    Ok(table)
}

fn read_one(
    path: &Path,
    names: Option<&ColumnNames>,
    reading: Reading,
) -> Result<Table, DataError> {
    let mut table = match Format::of_file(path)? {
        Format::Csv => read_csv_table(path, names, reading)?,
        Format::Npz => read_npz(path, names)?,
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => read_hdf5(path, names)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => read_parquet(path, names)?,
        #[cfg(not(all(feature = "hdf5", feature = "parquet")))]
        format => return Err(format.left_out(path)),
    };
    if table.rows() == 0 {
        return Err(DataError::Empty {
            file: path.display().to_string(),
            help: "the file has no row; log something first",
        });
    }
    // A table of lines has said so itself.
    if table.origin.files.is_empty() {
        table.come_from_file(false);
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
