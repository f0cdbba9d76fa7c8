//! Why a board does not do what it is asked.

use std::io;
use std::time::Duration;

use hambo_base::error::Explained;
use hambo_core::link::update::{Objection, PROTOCOL};
use thiserror::Error;

/// Why a board does not do what it is asked. In every case the bundle that was active still is.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// The line cannot be opened or used.
    #[error("the line to the board: {source}")]
    Line {
        /// What the system said.
        source: io::Error,
    },

    /// Nobody answers.
    #[error(
        "no answer from the board within {} s: is it on, is its line the one that was named, and \
         does it not check a large bundle? Allow more time with --timeout SECONDS",
        waited.as_secs_f32().round()
    )]
    Silent {
        /// How long it was asked.
        waited: Duration,
    },

    /// It speaks another protocol.
    #[error(
        "the board speaks version {theirs} of the protocol, this program version {PROTOCOL}: use \
         firmware and program of one release"
    )]
    Protocol {
        /// The board's version.
        theirs: u16,
    },

    /// It refuses.
    #[error("the board refuses: {}", objection_text(*why))]
    Refused {
        /// Why.
        why: Objection,
    },

    /// It was begun again and again, and never came to an end.
    #[error("the line damages more than is sent again: check cable, ground and speed")]
    Damaged,
}

impl Explained for RemoteError {}

/// Why it refuses, and what to do.
fn objection_text(why: Objection) -> String {
    match why {
        Objection::Driving => "a controller drives; stop it first".into(),
        Objection::Length { capacity } => {
            format!("it takes bundles of 1 to {capacity} bytes; train a smaller model")
        }
        Objection::NotBegun => "no bundle was begun; push it again".into(),
        Objection::Offset => "bytes came where none belong; push the bundle again".into(),
        Objection::Hash => "what it has written is not what was sent; push the bundle again".into(),
        Objection::Counter { least } => format!(
            "the bundle's counter is too small, the least is {least}; export it with --counter \
             {least}"
        ),
        Objection::Flash => {
            "its flash memory does not keep what is written; it may be worn".to_owned()
        }
    }
}
