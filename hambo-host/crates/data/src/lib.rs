//! Logs: reading, writing and converting them, what they show, and a first task from one.
//!
//! | module | what it holds |
//! |---|---|
//! | `error` | what is wrong with a file: place, problem, remedy |
//! | `format` | which kind of file it is |
//! | `table` | a log as a file holds it |
//! | `log` | transitions that models are fitted to |
//! | `read`, `write`, `convert` | CSV, NPZ, HDF5 in D4RL's and Minari's layouts, Parquet |
//! | `inspect` | what a log shows |
//! | `draft` | a first task file from a log |
//! | `review` | a task compared with a log |
//!
//! Each stands on those above it.
#![cfg_attr(
    not(all(feature = "hdf5", feature = "parquet")),
    allow(dead_code, reason = "what only those two formats need")
)]

mod convert;
mod draft;
mod error;
mod format;
mod inspect;
mod log;
mod read;
mod review;
mod table;
mod write;

pub use convert::{FileEnds, convert};
pub use draft::{DraftOptions, DraftReward, LoggedRow, LoggedRows, draft, draft_with};
pub use error::{DataError, LogError};
pub use format::Format;
pub use hambo_task::column_names::ColumnNames;
pub use inspect::{
    ColumnSummary, Exploration, KnownResidual, Summary, Told, WrapHint, circle_residuals,
    corrected_path, explorations, known_residuals, wrap_line,
};
pub use log::{
    Log, LogPart, MINIMUM_RECORDINGS, Split, Transition, distinct_states, follows, next_to_states,
    transitions, with_memory, with_return_so_far, wrapped,
};
pub use read::{
    HeldArray, HeldNumbers, read_held_table, read_held_task_log, read_logs, read_table,
    read_task_logs,
};
pub use review::{Finding, Review, WorstRow, review};
pub use table::{Block, Numbers, Origin, Table};
pub use write::{OutputOptions, PlainColumn, PlainValues, write_plain_parquet, write_table};
