//! What can be wrong with the data or the options of a training run.

use hambo_base::error::Explained;
use thiserror::Error;

use hambo_base::checkpoint::CheckpointError;

/// Why an ensemble could not be trained.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TrainingError {
    /// There are no rows, or rows without columns.
    #[error("the training data are empty")]
    Empty,
    /// A validation set was given without rows.
    #[error("the validation set is empty: withhold more episodes, or train without one")]
    EmptyValidation,
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
        /// `inputs` or `targets`, or those of the validation.
        table: &'static str,
        /// Values given.
        length: usize,
        /// Rows expected.
        rows: usize,
        /// Columns stated.
        columns: usize,
    },
    /// Another set has other columns than the training set.
    #[error("the {table} have {found} columns, those of the training {expected}")]
    Columns {
        /// `validation inputs` or `validation targets`.
        table: &'static str,
        /// Columns given.
        found: usize,
        /// Columns of the training set.
        expected: usize,
    },
    /// A value is NaN or infinite.
    #[error("the {table} hold a value that is not finite in row {row}, column {column}")]
    NotFinite {
        /// `inputs` or `targets`, or those of the validation.
        table: &'static str,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
    },
    /// A column never changes.
    #[error(
        "column {column} of the {table} is always {value}: nothing can be learnt of it; drop it"
    )]
    Constant {
        /// `inputs` or `targets`.
        table: &'static str,
        /// Column, from 0.
        column: usize,
        /// The value of all rows.
        value: f32,
    },
    /// An option is out of its range.
    #[error("option `{name}` must be {must_be}")]
    Option {
        /// Name of the option.
        name: &'static str,
        /// What it must be.
        must_be: &'static str,
    },
    /// No preset for a board.
    #[error("there is no preset for board `{name}`; known: {known}")]
    Board {
        /// The board asked for.
        name: String,
        /// Those with a preset.
        known: String,
    },
    /// A checkpoint of another training run, or a broken one.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The validation rows were never explained any better than before the first update.
    #[error(
        "training never improved: the loss of the validation rows was never finite; look for rows that do not belong to the others, or try a smaller learning rate"
    )]
    NeverImproved,
    /// The weights of a member left the finite numbers.
    #[error("training of member {member} diverged: try a smaller learning rate")]
    Diverged {
        /// Member, from 0.
        member: usize,
    },
}

impl Explained for TrainingError {
    const ABOUT: &'static str = "training: ";
}
