//! What processes say that end without a result.

use hambo_base::Error;
use hambo_base::observer::{Observer, Progress};

/// Sentences that are kept: thousands of cells mostly fail for one reason.
const MOST: usize = 20;

/// Sentences, each with the first cell that said it.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub problems: Vec<(usize, String)>,
}

impl Told {
    /// Keeps a new sentence.
    pub fn add(&mut self, cell: usize, text: &str) {
        let text = text.trim();
        let text = text.strip_prefix("hambo: ").unwrap_or(text);
        let new = self.problems.iter().all(|(_, known)| known != text);
        if new && self.problems.len() < MOST {
            self.problems.push((cell, text.to_owned()));
        }
    }
}

/// Says how many cells have ended.
///
/// # Errors
/// [`Error::Interrupted`] if the work shall end.
pub(super) fn report(
    observer: &mut dyn Observer,
    done: usize,
    planned: usize,
) -> Result<(), Error> {
    observer.report(Progress {
        done,
        planned,
        message: "cells".to_owned(),
    })
}
