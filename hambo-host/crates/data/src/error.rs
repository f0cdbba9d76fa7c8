//! What is wrong with a data file: which file, which row and column, and what
//! to do.

use std::io;

use super::LogError;
use hambo_base::error::Explained;

/// A data file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// It cannot be read.
    #[error("cannot read {file}: {source}\nhelp: check the path and its permissions")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// Neither its bytes nor its name are known.
    #[error(
        "{file}: a log of this kind is not known\nhelp: give CSV with a header, NPZ, HDF5 or Parquet"
    )]
    Kind {
        /// The file.
        file: String,
    },
    /// This build was made without its format.
    #[error(
        "{file}: this hambo was built without {format} (cargo feature `{feature}`)\nhelp: `cargo build --release` builds it with every format; or convert the log to CSV or NPZ"
    )]
    LeftOut {
        /// The file.
        file: String,
        /// The format's name.
        format: &'static str,
        /// The cargo feature that brings it.
        feature: String,
    },
    /// It is not a table.
    #[error("{file}: {problem}\nhelp: every line needs as many fields as the header")]
    Table {
        /// The file.
        file: String,
        /// What the reader says, with the line.
        problem: csv::Error,
    },
    /// A column is not there.
    #[error("{file}: the column `{column}` is missing; the header has: {found}\nhelp: {help}")]
    Column {
        /// The file.
        file: String,
        /// Its name.
        column: String,
        /// The names that are there.
        found: String,
        /// What to do.
        help: &'static str,
    },
    /// A column is there twice.
    #[error("{file}: there are two columns `{column}`\nhelp: remove or rename one of them")]
    Twice {
        /// The file.
        file: String,
        /// Its name.
        column: String,
    },
    /// A field is not a number that a log may hold.
    #[error(
        "{file}, line {line}, column `{column}`: \"{field}\" is not {wanted}\nhelp: mend or remove this row"
    )]
    Field {
        /// The file.
        file: String,
        /// From 1, with the header.
        line: u64,
        /// The column's name.
        column: String,
        /// What stands there.
        field: String,
        /// What should.
        wanted: &'static str,
    },
    /// A row that a log refuses.
    #[error("{file}: {problem}")]
    Row {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: LogError,
    },
    /// No transition is left.
    #[error("{file}: there is no transition in it\nhelp: {help}")]
    Empty {
        /// The file.
        file: String,
        /// What to do.
        help: &'static str,
    },
    /// A key of an array is not there.
    #[error(
        "{file}: the key `{key}` is missing; the file has: {found}\nhelp: name the arrays observations, actions, rewards, terminals, timeouts, next_observations"
    )]
    Key {
        /// The file.
        file: String,
        /// Its name.
        key: String,
        /// The keys that are there.
        found: String,
    },
    /// A part of it is unfit.
    #[error("{file}, {place}: {problem}\nhelp: {help}")]
    Part {
        /// The file.
        file: String,
        /// Key, row or column.
        place: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        help: &'static str,
    },
    /// All of it is unfit.
    #[error("{file}: {problem}\nhelp: {help}")]
    Whole {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        help: &'static str,
    },
    /// It cannot be written.
    #[error(
        "cannot write {file}: {source}\nhelp: check the folder, its permissions and the space left"
    )]
    Write {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
}

impl Explained for DataError {}
