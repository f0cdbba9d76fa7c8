//! Why a log gives no model.

use hambo_base::error::Explained;

/// A log that nothing can be learnt from.
#[derive(Clone, Debug, thiserror::Error)]
pub enum FitError {
    /// Nothing is left to train on.
    #[error(
        "the log has {rows} transitions, of which {left} are left for training: at least {needed} are needed\nhelp: log more, or withhold less (--withhold)"
    )]
    TooFewRows {
        /// In the log.
        rows: usize,
        /// After the split.
        left: usize,
        /// At least.
        needed: usize,
    },
    /// A row that cannot belong to the others.
    #[error(
        "{place}: `{column}` is {value:e}, a million times as far from the median as nearly all others\nhelp: correct the row or take it out"
    )]
    Outlier {
        /// File and line.
        place: String,
        column: String,
        /// Its value, or its change for a next state.
        value: f32,
    },
    /// A known state that the log knows otherwise.
    #[error(
        "{place}: [known] says that `{state}` becomes {computed}, and the log says {logged}: {share:.1e} of its standard deviation apart, where 1e-4 may be rounding\nhelp: correct the expression, or leave `{state}` to the model"
    )]
    Known {
        /// File and line.
        place: String,
        state: String,
        /// What the task says of its next value.
        computed: f32,
        /// What the log says.
        logged: f32,
        /// The difference, as a share of the state's standard deviation.
        share: f64,
    },
    /// A correction that leaves nothing to learn from.
    #[error(
        "the line of [known] for `{state}` passes the learned value on in {left} of {rows} rows: the others say nothing of it, and at least {needed} must\nhelp: log rows in which it is free to move, or write `{state}` without `learned.`"
    )]
    Held {
        state: String,
        /// Rows that say something.
        left: usize,
        /// In the log.
        rows: usize,
        /// At least.
        needed: usize,
    },
    /// Corrections that leave no rows in which all states are free.
    #[error(
        "in {left} of {rows} rows that are trained on every line of [known] passes its learned value on, and at least {needed} must: of the others it is not known where a controller may go\nhelp: log rows in which no state is at a wall or in saturation"
    )]
    AllHeld {
        /// Rows that say something of every state.
        left: usize,
        rows: usize,
        needed: usize,
    },
    /// A pair that is not on the unit circle.
    #[error(
        "{place}: `circle` says that `{state}` and its other state have the length 1, and they have {length}\nhelp: correct the row, or take the pair out of `state.circle`"
    )]
    Circle {
        /// File and line.
        place: String,
        /// The first state of the pair.
        state: String,
        /// The length of the pair.
        length: f32,
    },
    /// A column that never changes.
    #[error("the log: {what} is always {value}: nothing can be learnt of it\nhelp: {help}")]
    ConstantColumn {
        /// The column.
        what: String,
        value: f32,
        /// What to write into the task.
        help: String,
    },
}

impl Explained for FitError {}
