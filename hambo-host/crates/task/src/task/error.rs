//! What is wrong with a task file.

use std::io;

use crate::expression::error::ExpressionError;
use hambo_base::error::Explained;
use hambo_base::files::short_lines;
use hambo_base::place::{Place, shown};

/// A task file that cannot be used: which file, which key, which line, what to do.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The file cannot be read.
    #[error(
        "cannot read the task file {origin}: {source}\nhelp: give a task in TOML; `hambo task new` writes a first one"
    )]
    Read {
        /// The file.
        origin: String,
        /// Why.
        source: io::Error,
    },
    /// The file is not TOML, or has a key that is unknown or of the wrong type.
    #[error("{origin}: {}{}\nhelp: correct this line", short_lines(problem), shown(place.as_deref()))]
    Syntax {
        /// The file.
        origin: String,
        /// What the TOML reader says.
        problem: String,
        /// Where.
        place: Option<Box<Place>>,
    },
    /// A key is missing or has a bad value.
    #[error("{origin}: `{key}` {problem}{}\nhelp: {help}", shown(place.as_deref()))]
    Key {
        /// The file.
        origin: String,
        /// The key, like `state.low`.
        key: String,
        /// What is wrong with it.
        problem: String,
        /// Where it stands, or the table where it is missing.
        place: Option<Box<Place>>,
        /// What to do.
        help: String,
    },
    /// An expression does not compile; its place is one in the file.
    #[error("{origin}: `{key}`: {problem}")]
    Expression {
        /// The file.
        origin: String,
        /// The key, like `reward.expr`.
        key: String,
        /// What is wrong with it, and where.
        problem: Box<ExpressionError>,
    },
}

impl Explained for TaskError {}
