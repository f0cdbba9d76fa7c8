//! A folder that is there whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hambo_base::Error;
use hambo_base::files::ensure_writable;

/// Ensures before the work that a folder can be made, or that one is there and empty.
///
/// # Errors
/// If something is in its place, or nothing can be written beside it.
pub(super) fn ensure_folder(path: &Path) -> Result<(), Error> {
    let named = |problem: &str| {
        let text = format!(
            "{}: {problem}\nhelp: give the name of a new folder",
            path.display()
        );
        Error::File(io::Error::other(text))
    };
    let path = bare(path);
    if path.is_dir() {
        let mut entries = fs::read_dir(&path)?;
        if entries.next().is_some() {
            return Err(named("there is a folder that is not empty"));
        }
        return Ok(());
    }
    if path.exists() {
        return Err(named("a file is there"));
    }
    Ok(ensure_writable(&path)?)
}

/// Lets `write` fill a new folder beside `path` and renames it.
///
/// # Errors
/// What `write` says, or if the folder cannot be made; then nothing is left.
pub(super) fn write_folder(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<(), Error> {
    let path = bare(path);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".part-{}", std::process::id()));
    let temporary = path.with_file_name(name);
    let named = |error: io::Error| {
        let text = format!("{}: cannot be written: {error}", path.display());
        Error::File(io::Error::new(error.kind(), text))
    };
    let place = || {
        // Only an empty one goes.
        if path.is_dir() {
            fs::remove_dir(&path)?;
        }
        fs::rename(&temporary, &path)
    };
    let written = fs::create_dir(&temporary)
        .map_err(named)
        .and_then(|()| write(&temporary))
        .and_then(|()| place().map_err(named));
    if written.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    written
}

/// Without a slash at its end.
fn bare(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_folder_is_there_whole_or_not_at_all() {
        let root = std::env::temp_dir().join(format!("hambo-save-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        let path = root.join("runs/");
        let fill = |folder: &Path| Ok(fs::write(folder.join("a"), "a")?);
        let fail = |folder: &Path| {
            fs::write(folder.join("a"), "a")?;
            Err(Error::Usage("full".to_owned()))
        };
        let there = || fs::read_dir(&root).unwrap().count();
        ensure_folder(&path).unwrap();
        write_folder(&path, fail).unwrap_err();
        assert_eq!(there(), 0, "a part is left");
        write_folder(&path, fill).unwrap();
        assert_eq!(fs::read(path.join("a")).unwrap(), b"a");
        assert_eq!(there(), 1);
        // What is there stays.
        let error = ensure_folder(&path).unwrap_err().to_string();
        assert!(
            error.contains("not empty") && error.contains("help: "),
            "{error}"
        );
        write_folder(&path, |folder| Ok(fs::write(folder.join("b"), "b")?)).unwrap_err();
        assert!(path.join("a").exists() && !path.join("b").exists());
        let file = path.join("a");
        assert!(
            ensure_folder(&file)
                .unwrap_err()
                .to_string()
                .contains("a file is there")
        );
        // An empty one is taken.
        fs::remove_file(&file).unwrap();
        ensure_folder(&path).unwrap();
        write_folder(&path, fill).unwrap();
        assert!(file.exists());
        ensure_folder(&root.join("none/runs")).unwrap_err();
        fs::remove_dir_all(&root).unwrap();
    }
}
