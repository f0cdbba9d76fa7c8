//! What can be wrong with the data or the hyperparameters.

use hambo_base::error::Explained;
use thiserror::Error;

use hambo_task::image::EncodeError;

/// Why there is no posterior.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GaussianProcessError {
    /// There are no rows, or rows without columns.
    #[error("the data are empty")]
    Empty,
    /// A table's length is not rows × columns, or the tables disagree on the rows.
    #[error("the {table} hold {length} values, which is not {rows} rows of {columns} columns")]
    Mismatch {
        /// `inputs`, `targets` or another table.
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
    /// A hyperparameter is out of its range.
    #[error("output {output}: {name} is {value}, which is not in {low} ..= {high}")]
    Hyperparameter {
        /// Output, from 0.
        output: usize,
        /// Name of the hyperparameter.
        name: &'static str,
        /// What it is.
        value: f64,
        /// The least it may be.
        low: f64,
        /// The most it may be.
        high: f64,
    },
    /// The kernel matrix has no Cholesky factor, whatever is added to it.
    #[error(
        "output {output}: the kernel matrix is not positive definite; remove repeated points or raise the noise"
    )]
    Singular {
        /// Output, from 0.
        output: usize,
    },
    /// Too few rows to estimate hyperparameters from.
    #[error("{rows} rows are too few to estimate hyperparameters from: log at least {needed}")]
    TooFewRows {
        /// Rows given.
        rows: usize,
        /// Rows needed.
        needed: usize,
    },
    /// A target never changes, so there is nothing to learn.
    #[error("target column {column} is constant: leave it out of the state")]
    ConstantTarget {
        /// Column, from 0.
        column: usize,
    },
    /// The limits of the search contradict each other or the core.
    #[error("the bounds {low} ..= {high} of {name} are not an interval in {least} ..= {most}")]
    Bounds {
        /// Name of the bounds.
        name: &'static str,
        /// Lower one.
        low: f64,
        /// Upper one.
        high: f64,
        /// The least there may be.
        least: f64,
        most: f64,
    },
    /// A number that an answer depends on is out of its range.
    #[error("{name} is {value}: {wanted}")]
    OutOfRange {
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it must be.
        wanted: &'static str,
    },
    /// A row of a selection is not one of the data's.
    #[error("row {row} does not exist: the data have {rows} rows")]
    NoSuchRow {
        /// Row, from 0.
        row: usize,
        /// Rows of the data.
        rows: usize,
    },
    /// The posterior does not fit the format of a model part.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The caller stopped the search.
    #[error("the search for hyperparameters was stopped")]
    Stopped,
}

impl Explained for GaussianProcessError {
    const ABOUT: &'static str = "the Gaussian process: ";
}
