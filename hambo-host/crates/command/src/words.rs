//! The command line that this process runs: what a saved run says of how it came about.

use std::ffi::OsString;
use std::sync::OnceLock;

static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps the words of the command line, the program's name first. A process runs one.
pub(crate) fn keep(words: &[OsString]) {
    let _ = WORDS.set(words.to_vec());
}

/// The words; none where the process runs no command line.
pub(crate) fn kept() -> impl Iterator<Item = String> {
    let words = WORDS.get().into_iter().flatten();
    words.map(|word| word.to_string_lossy().into_owned())
}
