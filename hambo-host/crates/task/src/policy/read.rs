//! Policy files: ONNX or TOML, from a disk or a text.

use std::io;
use std::path::Path;

use super::error::PolicyError;
use super::foreign;
use super::format;
use super::host_policy::HostPolicy;
use super::learned_reward::for_task;
use super::onnx;
use crate::task::task_file::TaskFile;

impl HostPolicy {
    /// Reads a policy file for a task: an ONNX model, by its name or its first byte, or
    /// TOML.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a good policy for this task; the error names
    /// the file, the key and what to do.
    pub fn read(path: impl AsRef<Path>, task: &TaskFile) -> Result<Self, PolicyError> {
        let path = path.as_ref();
        let policy = Self::read_as_written(path, &task.seen_by_controllers())?;
        Ok(for_task(policy, task))
    }

    /// For the states that controllers see.
    fn read_as_written(path: &Path, task: &TaskFile) -> Result<Self, PolicyError> {
        let origin = path.display().to_string();
        let bytes = match onnx::read_bytes(path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(PolicyError::Read { origin, source }),
        };
        tracing::info!(file = %origin, bytes = bytes.len(), "read a policy");
        foreign::refuse(path, &bytes)?;
        let extension = path.extension().unwrap_or_default();
        if extension.eq_ignore_ascii_case("onnx") || onnx::is_model(&bytes) {
            return Self::of_onnx_as_written(&bytes, origin, path.parent(), task);
        }
        match String::from_utf8(bytes) {
            Ok(text) => format::parse(&text, &origin, path.parent(), task),
            Err(_) => {
                let text = "it is neither ONNX nor TOML text";
                let source = io::Error::new(io::ErrorKind::InvalidData, text);
                Err(PolicyError::Read { origin, source })
            }
        }
    }

    /// Reads the bytes of an ONNX model that holds all its weights; `origin` is its name in
    /// errors.
    ///
    /// # Errors
    ///
    /// If they are no good policy for this task.
    pub fn of_onnx(bytes: &[u8], origin: &str, task: &TaskFile) -> Result<Self, PolicyError> {
        let seen = task.seen_by_controllers();
        let policy = Self::of_onnx_as_written(bytes, origin.to_owned(), None, &seen)?;
        Ok(for_task(policy, task))
    }

    fn of_onnx_as_written(
        bytes: &[u8],
        origin: String,
        folder: Option<&Path>,
        task: &TaskFile,
    ) -> Result<Self, PolicyError> {
        match onnx::decode(bytes, folder, task, &onnx::OnnxOptions::default()) {
            Ok(read) => Ok(Self::Perceptron(read.policy)),
            Err(problem) => Err(PolicyError::Onnx {
                origin,
                problem: Box::new(problem),
            }),
        }
    }

    /// Checks the text of a policy file; `origin` is its name in errors, and a file that
    /// it names lies beside it.
    ///
    /// # Errors
    ///
    /// If the text is not a good policy for this task.
    pub fn parse(text: &str, origin: &str, task: &TaskFile) -> Result<Self, PolicyError> {
        let seen = task.seen_by_controllers();
        let policy = format::parse(text, origin, Path::new(origin).parent(), &seen)?;
        Ok(for_task(policy, task))
    }
}
