//! The one error of the library's calls.
//!
//! Each district has error types of its own, which say what is wrong, where (file, key,
//! row) and what to do. Here they are only held, so that this file knows none of them.

use std::error::Error as StdError;
use std::io;

/// An error that explains itself to a user.
pub trait Explained: StdError + Send + Sync + 'static {
    /// What the message is about, where it does not say so itself.
    const ABOUT: &'static str = "";
}

/// Any error of the library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Input that cannot be used, in the words of the district that found it.
    #[error("{about}{source}")]
    Input {
        /// Comes before the message; may be empty.
        about: &'static str,
        /// The district's own error; [`Error::of`] gives it back.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// Options that contradict each other.
    #[error("{0}")]
    Usage(String),
    /// A file; the message names it.
    #[error("{0}")]
    File(#[from] io::Error),
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// The district's own error, if it is of this type.
    #[must_use]
    pub fn of<E: StdError + 'static>(&self) -> Option<&E> {
        match self {
            Self::Input { source, .. } => source.downcast_ref(),
            _ => None,
        }
    }
}

impl<E: Explained> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Input {
            about: E::ABOUT,
            source: Box::new(error),
        }
    }
}
