//! Why a log gives no model.

use crate::foundation::error::Explained;

/// A log that nothing can be learnt from.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Nothing is left to train on.
    #[error(
        "the log has {rows} transitions, of which {left} are left for training: at least {needed} are needed\nhelp: log more, or withhold less"
    )]
    TooFewRows {
        /// In the log.
        rows: usize,
        /// After the split.
        left: usize,
        /// At least.
        needed: usize,
    },
    /// A column that never changes.
    #[error(
        "the log: {what} is always {value}: nothing can be learnt of it\nhelp: take it out of the task, or log more; for networks --allow-constant keeps it"
    )]
    ConstantColumn {
        /// The column.
        what: String,
        /// Its value.
        value: f32,
    },
}

impl Explained for FitError {}
