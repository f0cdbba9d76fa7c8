//! Weights in a file of their own beside the model, as PyTorch writes them.
//!
//! A model comes from elsewhere and may name any path; only plain files inside the
//! model's folder are read, and only as many bytes as the tensor needs.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path};

use super::complaint::{Complaint, shown};
use super::message::Entry;

/// The folder that external weights may come from.
pub(super) struct WeightFolder<'a> {
    folder: Option<&'a Path>,
}

impl<'a> WeightFolder<'a> {
    /// The folder of a model file; `None` for a model that is not a file.
    pub fn new(folder: Option<&'a Path>) -> Self {
        Self { folder }
    }

    /// The bytes of a tensor from its `location`, `offset` and `length`.
    pub fn read(&self, entries: &[Entry], needed: usize) -> Result<Vec<u8>, Complaint> {
        let find = |name: &str| {
            let found = entries.iter().find(|entry| entry.key == name);
            found.map(|entry| entry.value.as_str())
        };
        let Some(location) = find("location") else {
            let help = "export the model again";
            return Err(Complaint::new("its external data has no location", help));
        };
        let number = |name: &str, default: u64| match find(name) {
            None => Ok(default),
            Some(text) => text.parse::<u64>().map_err(|_| {
                let problem = format!("the {name} of its external data is `{}`", shown(text));
                Complaint::new(problem, "export the model again")
            }),
        };
        let needed = needed as u64;
        let offset = number("offset", 0)?;
        let length = number("length", needed)?;
        if length != needed {
            let problem = format!("its external data has {length} bytes, its shape needs {needed}");
            return Err(Complaint::new(problem, "export the model again"));
        }
        let mut file = self.open(location)?;
        let unreadable = |error: std::io::Error| {
            let problem = format!("cannot read `{}`: {error}", shown(location));
            Complaint::new(problem, "check its permissions")
        };
        let size = file.metadata().map_err(unreadable)?.len();
        if offset.checked_add(length).is_none_or(|end| end > size) {
            let problem = format!(
                "`{}` has {size} bytes; {length} from byte {offset} on are asked for",
                shown(location)
            );
            let help = "copy the whole weight file that belongs to this model";
            return Err(Complaint::new(problem, help));
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
        file.take(length)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        Ok(bytes)
    }

    /// Opens a plain file inside the folder, links followed first.
    fn open(&self, location: &str) -> Result<File, Complaint> {
        let Some(folder) = self.folder else {
            let help = "read the model from its file, or export it in one file";
            return Err(Complaint::new("it is in a file of its own", help));
        };
        let leaves = || {
            let problem = format!("`{}` is outside the model's folder", shown(location));
            let help = "put the weight file beside the model, and export it with that name";
            Complaint::new(problem, help)
        };
        let path = Path::new(location);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if location.contains(['\\', '\0']) || !path.components().all(plain) {
            return Err(leaves());
        }
        let missing = |error: std::io::Error| {
            let problem = format!("cannot open `{}`: {error}", shown(location));
            Complaint::new(problem, "put the weight file beside the model")
        };
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let root = folder.canonicalize().map_err(missing)?;
        let path = root.join(path).canonicalize().map_err(missing)?;
        if !path.starts_with(&root) {
            return Err(leaves());
        }
        // A pipe would wait for ever.
        if !path.metadata().map_err(missing)?.is_file() {
            let problem = format!("`{}` is not a plain file", shown(location));
            return Err(Complaint::new(
                problem,
                "put the weight file beside the model",
            ));
        }
        File::open(path).map_err(missing)
    }
}
