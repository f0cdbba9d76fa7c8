//! Files that are there whole or not at all, and files that stay small.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Reads a file that should be small: one that never ends, like a device, is an error
/// and not all of the memory.
///
/// # Errors
/// If it cannot be read or has more bytes than `most`.
///
/// ```
/// use hambo_host::foundation::files::read_at_most;
///
/// let file = std::env::temp_dir().join("hambo-doc-small.txt");
/// std::fs::write(&file, "12345")?;
/// assert_eq!(read_at_most(&file, 5)?, b"12345");
/// assert!(read_at_most(&file, 4).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let text = format!("it has more than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// A message that quotes a file, with the lines cut that nobody could read.
///
/// ```
/// use hambo_host::foundation::files::short_lines;
///
/// assert_eq!(short_lines("line 1\n  ^"), "line 1\n  ^");
/// assert_eq!(short_lines(&"x".repeat(999)).chars().count(), 201);
/// ```
#[must_use]
pub fn short_lines(text: &str) -> String {
    const LONGEST: usize = 200;
    let short = |line: &str| match line.char_indices().nth(LONGEST) {
        Some((end, _)) => line.get(..end).unwrap_or_default().to_owned() + "…",
        None => line.to_owned(),
    };
    text.lines().map(short).collect::<Vec<_>>().join("\n")
}

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

/// Finds out before the work whether its result can be saved.
///
/// # Errors
/// If the path is a folder, or lies in none.
pub fn hold_writable(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let problem = if path.is_dir() {
        "it is a folder; give the name of a file"
    } else if !folder.is_dir() {
        "its folder does not exist; create it first"
    } else {
        return Ok(());
    };
    let text = format!("{}: cannot be written: {problem}", path.display());
    Err(io::Error::other(text))
}
