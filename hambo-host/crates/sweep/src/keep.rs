//! Results that are there once, whole: two machines may work off the same cell at the same time.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folder for what is not whole yet, beside the places.
const PARTS: &str = "parts";

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is the first.
    First,
    /// The same bytes were there.
    Same,
}

/// A new file for a result that is not whole yet; `root` is the folder of all results. No other
/// process writes into it.
///
/// # Errors
/// If the folder cannot be made.
pub fn part(root: &Path, name: &str) -> io::Result<PathBuf> {
    let folder = root.join(PARTS);
    let named = named(&folder);
    fs::create_dir_all(&folder).map_err(named)?;
    Ok(folder.join(format!("{name}.{}", own_name())))
}

/// Puts a whole file into its place. What is there stays, and must have the same bytes.
///
/// # Errors
/// If the place cannot be written; or if something else is there: then the part stays where it is,
/// for whoever looks into it.
pub fn keep(part: &Path, place: &Path) -> io::Result<Kept> {
    let failed = named(place);
    let kept = File::open(part)
        .and_then(|file| file.sync_all())
        .and_then(|()| put(part, place));
    match kept.map_err(failed)? {
        Some(kept) => {
            fs::remove_file(part)
                .or_else(gone_already)
                .map_err(failed)?;
            Ok(kept)
        }
        None => Err(io::Error::other(format!(
            "{}: computed twice, to different results; the second is {}\nhelp: the same program on \
             the same files gives the same bits: compare the programs and processors of the two \
             machines, and begin in a new folder",
            place.display(),
            part.display()
        ))),
    }
}

/// Writes bytes beside their place and puts them into it; see [`keep`].
///
/// # Errors
/// As [`keep`]; or if there is no space left: then nothing is there.
pub fn keep_bytes(root: &Path, place: &Path, bytes: &[u8]) -> io::Result<Kept> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let part = part(root, &name)?;
    let written = File::create(&part).and_then(|mut file| file.write_all(bytes));
    if let Err(error) = written {
        let _ = fs::remove_file(&part);
        return Err(named(place)(error));
    }
    keep(&part, place)
}

/// Removes what interrupted work has left, once everything is whole. What another process is at
/// work on is not needed any more.
pub fn forget_parts(root: &Path) {
    let _ = fs::remove_dir_all(root.join(PARTS));
}

/// `None` if something else is there.
fn put(part: &Path, place: &Path) -> io::Result<Option<Kept>> {
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    let is_there = match fs::hard_link(part, place) {
        Ok(()) => return Ok(Some(Kept::First)),
        Err(error) => error.kind() == io::ErrorKind::AlreadyExists || place.exists(),
    };
    if is_there {
        return Ok((fs::read(part)? == fs::read(place)?).then_some(Kept::Same));
    }
    // Some file systems know no links.
    fs::rename(part, place)?;
    Ok(Some(Kept::First))
}

fn gone_already(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}

/// The error with the file's name and what to do.
fn named(path: &Path) -> impl Fn(io::Error) -> io::Error + Copy + '_ {
    move |error| {
        let text = format!(
            "{}: cannot be written: {error}\nhelp: check the space left and the folder's \
             permissions; the next call goes on from here",
            path.display()
        );
        io::Error::new(error.kind(), text)
    }
}

/// Of this process among those of all machines that share the folder.
fn own_name() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '-';
    let host: String = host.chars().filter(plain).collect();
    format!("{host}-{}", std::process::id())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("hambo-keep-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn the_first_stays_an_equal_one_passes_and_another_is_refused() {
        let root = folder("twice");
        let place = root.join("rows/0000/0000007.json");
        assert_eq!(keep_bytes(&root, &place, b"7").unwrap(), Kept::First);
        assert_eq!(keep_bytes(&root, &place, b"7").unwrap(), Kept::Same);
        assert_eq!(fs::read_dir(root.join(PARTS)).unwrap().count(), 0);
        let error = keep_bytes(&root, &place, b"8").unwrap_err().to_string();
        assert!(
            error.contains("0000007.json: computed twice") && error.contains("help: "),
            "{error}"
        );
        assert_eq!(fs::read(&place).unwrap(), b"7");
        // For whoever looks into it.
        assert_eq!(fs::read_dir(root.join(PARTS)).unwrap().count(), 1);
        forget_parts(&root);
        assert!(!root.join(PARTS).exists() && place.exists());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let root = folder("blocked");
        fs::write(root.join("rows"), "a file where a folder should be").unwrap();
        let place = root.join("rows/0000/0000007.json");
        let error = keep_bytes(&root, &place, b"7").unwrap_err().to_string();
        assert!(error.contains("cannot be written"), "{error}");
        assert!(error.contains("help: check the space left"), "{error}");
        fs::remove_dir_all(root).unwrap();
    }
}
