//! Which files are the controllers, and what each is called.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use hambo_base::Error;

/// A policy file under the name that tells it from the others: that of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file's name.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
}

/// The files that are given, and those of the folders that are given, in this order; a folder's
/// by their names. `task` is none of them, wherever it lies.
///
/// # Errors
/// If a folder has none, or two have one name.
pub fn find(given: &[PathBuf], task: &Path) -> Result<Vec<Found>, Error> {
    let mut paths = Vec::new();
    for path in given {
        if path.is_dir() {
            paths.extend(of_folder(path, task)?);
        } else {
            paths.push(path.clone());
        }
    }
    let mut named: BTreeMap<String, &Path> = BTreeMap::new();
    for path in &paths {
        if let Some(other) = named.insert(name(path), path) {
            return Err(Error::Usage(format!(
                "{} and {}: two controllers are called {}\n\
                 help: give each file once, and rename one of two that have one name",
                other.display(),
                path.display(),
                name(path)
            )));
        }
    }
    let found = paths.into_iter().map(|path| Found {
        name: name(&path),
        path,
    });
    Ok(found.collect())
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The policy files of a folder.
fn of_folder(folder: &Path, task: &Path) -> Result<Vec<PathBuf>, Error> {
    let named = |error: std::io::Error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(named)? {
        let path = entry.map_err(named)?.path();
        if is_policy(&path) && !is_same(&path, task) {
            paths.push(path);
        }
    }
    let wrapped: Vec<PathBuf> = paths.iter().filter_map(|path| wrapped(path)).collect();
    paths.retain(|path| !wrapped.iter().any(|other| is_same(path, other)));
    if paths.is_empty() {
        return Err(Error::Usage(format!(
            "{}: no controller is in this folder\n\
             help: put policy files into it, as .onnx or .toml, or name them one by one",
            folder.display()
        )));
    }
    paths.sort();
    Ok(paths)
}

/// By its name; neither a hidden file nor the command's own settings.
fn is_policy(path: &Path) -> bool {
    let hidden = name(path).starts_with('.');
    let ends = |end: &&str| {
        let extension = path.extension().unwrap_or_default();
        extension.eq_ignore_ascii_case(end)
    };
    let settings = path.file_name() == Some(OsStr::new("hambo.toml"));
    path.is_file() && !hidden && !settings && ["onnx", "toml"].iter().any(ends)
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// The network that a policy file wraps: it is no controller of its own.
fn wrapped(path: &Path) -> Option<PathBuf> {
    let extension = path.extension().unwrap_or_default();
    if !extension.eq_ignore_ascii_case("toml") {
        return None;
    }
    // A file that cannot be read is complained about later, by its name.
    let text = std::fs::read_to_string(path).ok()?;
    let table: toml::Table = text.parse().ok()?;
    let file = table.get("file")?.as_str()?;
    Some(path.parent()?.join(file))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let own = format!("hambo-find-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(own);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("deeper.onnx")).unwrap();
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        folder
    }

    fn names(found: &[Found]) -> Vec<&str> {
        found.iter().map(|one| one.name.as_str()).collect()
    }

    #[test]
    fn a_folder_gives_its_policies_and_nothing_else() {
        let files = [
            ("task.toml", "horizon = 3"),
            ("hambo.toml", "seed = 1"),
            (".hidden.onnx", ""),
            ("notes.txt", ""),
            ("bare.onnx", ""),
            ("inner.onnx", ""),
            ("wrapper.toml", "kind = 'onnx'\nfile = 'inner.onnx'"),
            ("broken.toml", "kind = "),
            ("a.TOML", "kind = 'constant'"),
        ];
        let folder = folder("all", &files);
        let task = folder.join("task.toml");
        let found = find(std::slice::from_ref(&folder), &task).unwrap();
        let all = ["a.TOML", "bare.onnx", "broken.toml", "wrapper.toml"];
        assert_eq!(names(&found), all);
        // Whoever names a file means it.
        let inner = folder.join("inner.onnx");
        let found = find(&[inner, folder.join("a.TOML")], &task).unwrap();
        assert_eq!(names(&found), ["inner.onnx", "a.TOML"]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn empty_folders_and_equal_names_are_refused() {
        let (one, other) = (
            folder("one", &[("pd.toml", "")]),
            folder("other", &[("pd.toml", "")]),
        );
        let task = Path::new("task.toml");
        let refused = |given: &[PathBuf]| find(given, task).unwrap_err().to_string();
        let text = refused(&[one.clone(), other.clone()]);
        for path in [&one, &other] {
            let path = path.join("pd.toml");
            assert!(text.contains(&path.display().to_string()), "{text}");
        }
        assert!(text.contains("help: ") && text.contains("called pd.toml"));
        assert!(refused(&[one.clone(), one.join("pd.toml")]).contains("pd.toml"));
        let text = refused(&[one.join("deeper.onnx")]);
        assert!(
            text.contains("deeper.onnx: no controller") && text.contains("help: "),
            "{text}"
        );
        for folder in [one, other] {
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
}
