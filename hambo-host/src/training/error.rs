//! What can be wrong with the data or the options of a training run.

use thiserror::Error;

/// Why an ensemble could not be trained.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TrainingError {
    /// There are no rows, or rows without columns.
    #[error("the training data are empty")]
    Empty,
    /// Too few rows to fit and to standardise.
    #[error("{rows} training rows are too few: at least {needed} are needed")]
    TooFewRows {
        /// Rows given.
        rows: usize,
        /// Rows needed.
        needed: usize,
    },
    /// A table's length is not rows × columns, or the tables disagree on the rows.
    #[error("the {table} hold {length} values, which is not {rows} rows of {columns} columns")]
    Mismatch {
        /// `inputs` or `targets`.
        table: &'static str,
        /// Values given.
        length: usize,
        /// Rows expected.
        rows: usize,
        /// Columns stated.
        columns: usize,
    },
    /// A value is NaN or infinite.
    #[error("the {table} hold a value that is not finite in row {row}, column {column}")]
    NotFinite {
        /// `inputs` or `targets`.
        table: &'static str,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
    },
    /// An option is out of its range.
    #[error("option `{name}` must be {must_be}")]
    Option {
        /// Name of the option.
        name: &'static str,
        /// What it must be.
        must_be: &'static str,
    },
    /// The weights of a member left the finite numbers.
    #[error("training of member {member} diverged: try a smaller learning rate")]
    Diverged {
        /// Member, from 0.
        member: usize,
    },
}
