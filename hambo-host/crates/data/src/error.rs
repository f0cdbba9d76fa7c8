//! What is wrong with a data file: which file, which row and column, and what to do.

use std::fmt::Display;
use std::io;
use std::path::Path;

use hambo_base::error::Explained;

/// A data file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// It cannot be read.
    #[error("cannot read {file}: {source}\nhelp: check the path and its permissions")]
    Read {
        file: String,
        /// Why.
        source: io::Error,
    },
    /// It cannot be written.
    #[error(
        "cannot write {file}: {source}\nhelp: check the folder, its permissions and the space left"
    )]
    Write {
        file: String,
        /// Why.
        source: io::Error,
    },
    /// What it holds is not a log, or not this log.
    #[error("{place}: {problem}\nhelp: {help}")]
    Unfit {
        /// The file, and a key, row or column in it.
        place: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        help: &'static str,
    },
    /// A row that a log refuses.
    #[error("{file}: {problem}")]
    Row {
        file: String,
        /// What is wrong with it.
        problem: LogError,
    },
}

impl Explained for DataError {}

impl DataError {
    pub(crate) fn read(file: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| Self::Read {
            file: file.display().to_string(),
            source,
        }
    }

    pub(crate) fn write(file: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| Self::Write {
            file: file.display().to_string(),
            source,
        }
    }

    pub(crate) fn row(file: &Path) -> impl Fn(LogError) -> Self + Copy {
        move |problem| Self::Row {
            file: file.display().to_string(),
            problem,
        }
    }

    /// All of a file is unfit.
    pub(crate) fn whole(file: &Path, problem: impl Into<String>, help: &'static str) -> Self {
        Self::Unfit {
            place: file.display().to_string(),
            problem: problem.into(),
            help,
        }
    }

    /// A part of a file is unfit.
    pub(crate) fn part(
        file: &Path,
        place: impl Display,
        problem: impl Into<String>,
        help: &'static str,
    ) -> Self {
        Self::Unfit {
            place: format!("{}, {place}", file.display()),
            problem: problem.into(),
            help,
        }
    }

    /// No transition is left.
    pub(crate) fn empty(file: &Path, help: &'static str) -> Self {
        Self::whole(file, "there is no transition in it", help)
    }
}

/// A row that a log refuses.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LogError {
    /// A row of another size.
    #[error("row {}: {part} has {found} numbers, the log's rows have {expected}", row + 1)]
    Dimension {
        /// Number of the row, from 0.
        row: usize,
        /// Which part of it.
        part: &'static str,
        /// Its length.
        found: usize,
        /// The log's.
        expected: usize,
    },
    /// NaN or infinity.
    #[error("row {}: {part} is not finite; remove the row or mend its source", row + 1)]
    NotFinite {
        /// Number of the row, from 0.
        row: usize,
        /// Which part of it.
        part: &'static str,
    },
}

impl LogError {
    pub(crate) fn row(&self) -> usize {
        match self {
            Self::Dimension { row, .. } | Self::NotFinite { row, .. } => *row,
        }
    }
}

impl Explained for LogError {
    const ABOUT: &'static str = "the log: ";
}

/// Names, but not thousands of them.
pub(crate) fn short_list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    match (names.len(), names.len().saturating_sub(SHOWN)) {
        (0, _) => "nothing".to_owned(),
        (_, 0) => shown.join(", "),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}
