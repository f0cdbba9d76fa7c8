//! Files that are there whole or not at all, and files that stay small.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Reads a file that should be small: one that never ends, like a device, is an error
/// and not all of the memory.
///
/// # Errors
/// If it cannot be read or has more bytes than `most`.
///
/// ```
/// use hambo_base::files::read_at_most;
///
/// let file = std::env::temp_dir().join("hambo-doc-small.txt");
/// std::fs::write(&file, "12345")?;
/// assert_eq!(read_at_most(&file, 5)?, b"12345");
/// assert!(read_at_most(&file, 4).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
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
/// use hambo_base::files::short_lines;
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

/// Writes `bytes` into a file, whole or not at all: see [`write_file`].
///
/// # Errors
/// If the folder cannot be written; the message names the file.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    write_file(path, named, |file| file.write_all(bytes).map_err(named))
}

/// Lets `write` fill a new file beside `path` and renames it, so that an interrupted or
/// failed write leaves what was there before. A link stays one, and its target is replaced; a
/// file keeps its mode and, where that is allowed, its owner. What is no plain file, such as
/// `/dev/null` or a pipe, is written into.
///
/// # Errors
/// What `write` says, and what `failed` makes of a file that cannot be written.
pub fn write_file<E>(
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let before = fs::metadata(path).ok();
    let plain = before.as_ref().is_none_or(fs::Metadata::is_file);
    let path = linked_to(path).map_err(&failed)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let temporary = if plain {
        path.with_file_name(name)
    } else {
        let mut own = OsString::from(format!("hambo-{}-", std::process::id()));
        own.push(name);
        std::env::temp_dir().join(own)
    };
    let place = || {
        if plain {
            if let Some(before) = &before {
                keep_mode(&temporary, before)?;
            }
            return fs::rename(&temporary, &path);
        }
        // A folder refuses to be opened.
        let mut to = fs::OpenOptions::new().write(true).open(&path)?;
        io::copy(&mut File::open(&temporary)?, &mut to)?;
        fs::remove_file(&temporary)
    };
    let written = File::create(&temporary)
        .map_err(&failed)
        .and_then(|mut file| write(&mut file))
        .and_then(|()| place().map_err(&failed));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Where a chain of links ends, whether something is there or not.
fn linked_to(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&path) else {
            return Ok(path);
        };
        path = match path.parent() {
            Some(folder) => folder.join(target),
            None => target,
        };
    }
    Err(io::Error::other("too many links lead on from it"))
}

/// Gives a new file the owner, if this user may, and the mode of the old one.
#[cfg(unix)]
fn keep_mode(file: &Path, before: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, chown};
    let _ = chown(file, Some(before.uid()), Some(before.gid()));
    fs::set_permissions(file, before.permissions())
}

#[cfg(not(unix))]
fn keep_mode(file: &Path, before: &fs::Metadata) -> io::Result<()> {
    fs::set_permissions(file, before.permissions())
}

/// Ensures before the work that its result can be saved.
///
/// # Errors
/// If the path is a folder, or lies in none, or its folder cannot be written.
pub fn ensure_writable(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let problem = if path.is_dir() {
        "it is a folder\nhelp: give the name of a file in it"
    } else if !folder.is_dir() {
        "its folder does not exist\nhelp: create the folder first"
    } else {
        return ensure_folder_writable(folder, path);
    };
    let text = format!("{}: cannot be written: {problem}", path.display());
    Err(io::Error::other(text))
}

/// Ensures that a new file can be made beside a plain one.
fn ensure_folder_writable(folder: &Path, path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Ok(());
    }
    let trial = folder.join(format!(".hambo-{}", std::process::id()));
    let made = File::create(&trial).and_then(|_| fs::remove_file(&trial));
    made.map_err(|error| {
        let text = format!(
            "{}: cannot be written: nothing can be written into its folder: {error}\nhelp: check \
             its permissions and the space left",
            path.display()
        );
        io::Error::new(error.kind(), text)
    })
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
    use std::process::{Command, Stdio};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("hambo-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// What stands for `/dev/null`, which a failure would destroy: it must still be there.
    #[test]
    fn a_pipe_is_written_into_and_stays_one() {
        let folder = folder("pipe");
        let pipe = folder.join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let mut reader = Command::new("cat");
        let reader = reader.arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
        write_whole(&pipe, b"whole").unwrap();
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(reader.wait_with_output().unwrap().stdout, b"whole");
        assert_eq!(names(&folder), ["pipe"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_link_stays_one_and_its_target_keeps_its_mode() {
        let folder = folder("links");
        let (file, link, second) = (
            folder.join("file"),
            folder.join("link"),
            folder.join("second"),
        );
        fs::write(&file, "before").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        symlink(&link, &second).unwrap();
        write_whole(&second, b"after").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"after");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::symlink_metadata(&second).unwrap().is_symlink());
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        // A link to what is not there yet.
        symlink("new", folder.join("to_new")).unwrap();
        write_whole(&folder.join("to_new"), b"new").unwrap();
        assert_eq!(fs::read(folder.join("new")).unwrap(), b"new");
        assert_eq!(names(&folder), ["file", "link", "new", "second", "to_new"]);
        // Links in a circle lead nowhere.
        symlink("circle", folder.join("circle")).unwrap();
        let error = write_whole(&folder.join("circle"), b"x").unwrap_err();
        assert!(error.to_string().contains("links"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Root gives the file away first; whoever may not replaces a file of their own.
    #[test]
    fn a_replaced_file_keeps_its_owner() {
        const OTHERS: (u32, u32) = (12_345, 23_456);
        let folder = folder("owner");
        let file = folder.join("file");
        fs::write(&file, "before").unwrap();
        let owner = || {
            let there = fs::metadata(&file).unwrap();
            (there.uid(), there.gid())
        };
        let own = owner();
        let given = chown(&file, Some(OTHERS.0), Some(OTHERS.1));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
        write_whole(&file, b"after").unwrap();
        assert_eq!(owner(), if given.is_ok() { OTHERS } else { own });
        assert_eq!(given.is_ok(), own.0 == 0, "only root gives files away");
        assert_eq!(fs::read(&file).unwrap(), b"after");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o604);
        // What was not there before belongs to whoever writes.
        write_whole(&folder.join("new"), b"new").unwrap();
        assert_eq!(fs::metadata(folder.join("new")).unwrap().uid(), own.0);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_is_refused_and_nothing_is_left_beside_it() {
        let folder = folder("refused");
        fs::create_dir(folder.join("inner")).unwrap();
        let error = write_whole(&folder.join("inner"), b"x").unwrap_err();
        assert!(error.to_string().contains("inner"), "{error}");
        assert_eq!(names(&folder), ["inner"]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
