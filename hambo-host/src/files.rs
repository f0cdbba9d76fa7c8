//! Files that are there whole or not at all.

use std::fs;
use std::io;
use std::path::Path;

/// Writes `bytes` beside `path` and renames, so that an interrupted or failed
/// write leaves what was there before.
///
/// # Errors
/// If the folder cannot be written; the message names the file.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let temporary = path.with_file_name(name);
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|error| {
            let _ = fs::remove_file(&temporary);
            named(error)
        })
}
