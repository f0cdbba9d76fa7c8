//! Long work on disk, so that it can go on after a stop.
//!
//! The file is the state in postcard, then the SHA-256 of its kind and itself.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::error::{Error, Explained};
use super::files::write_whole;

const HASH: usize = 32;
const DAMAGED: &str = "is damaged, or of other work";
/// Time between two checkpoints.
const EVERY: Duration = Duration::from_secs(20);

/// The checkpoint of a file that is being made; it lies beside it.
///
/// ```
/// use hambo_base::checkpoint::Checkpoint;
///
/// let output = std::env::temp_dir().join("hambo-doc-checkpoint.onnx");
/// let mut checkpoint = Checkpoint::new(&output, "counter");
/// checkpoint.keep(&|| Ok(vec![7]), true)?;
/// assert_eq!(checkpoint.read()?, [7]);
/// // Another kind of work does not take it for its own.
/// assert!(Checkpoint::new(&output, "other").read().is_err());
/// checkpoint.remove();
/// # Ok::<(), hambo_base::Error>(())
/// ```
pub struct Checkpoint {
    path: PathBuf,
    kind: &'static str,
    last: Instant,
}

/// A checkpoint that cannot be written or used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the checkpoint {problem}: start again without it")]
pub struct CheckpointError {
    pub problem: &'static str,
}

impl Explained for CheckpointError {
    const ABOUT: &'static str = "training: ";
}

/// Makes the bytes of a state, if they are wanted.
pub type StateBytes<'a> = dyn Fn() -> Result<Vec<u8>, CheckpointError> + 'a;

impl Checkpoint {
    /// For this output and kind of work.
    #[must_use]
    pub fn new(output: &Path, kind: &'static str) -> Self {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".checkpoint");
        Self {
            path: output.with_file_name(name),
            kind,
            last: Instant::now(),
        }
    }

    /// Writes a state, whole or not at all, if it is time or the last chance.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&mut self, state: &StateBytes<'_>, last: bool) -> Result<(), Error> {
        if !last && self.last.elapsed() < EVERY {
            return Ok(());
        }
        let mut bytes = state()?;
        let hash = self.hash(&bytes);
        bytes.extend(hash);
        write_whole(&self.path, &bytes)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Reads the state.
    ///
    /// # Errors
    /// If there is none, it is of another kind, or any byte of it is wrong.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        let bytes = std::fs::read(&self.path).map_err(|error| {
            let text = format!(
                "{}: {error}; there is no run to resume: start again without --resume",
                self.path.display()
            );
            std::io::Error::new(error.kind(), text)
        })?;
        match bytes.split_last_chunk::<HASH>() {
            Some((state, hash)) if self.hash(state) == *hash => Ok(state.to_vec()),
            _ => Err(CheckpointError { problem: DAMAGED }.into()),
        }
    }

    /// Removes the file once the work is done.
    pub fn remove(&self) {
        // Not there is as good.
        let _ = std::fs::remove_file(&self.path);
    }

    fn hash(&self, bytes: &[u8]) -> [u8; HASH] {
        let mut hash = Sha256::new();
        hash.update(self.kind);
        hash.update(bytes);
        hash.finalize().into()
    }
}

/// The bytes of a state.
pub fn encode<S: Serialize>(state: &S) -> Result<Vec<u8>, CheckpointError> {
    let problem = "cannot be encoded";
    postcard::to_stdvec(state).map_err(|_| CheckpointError { problem })
}

/// The state of some bytes.
pub fn decode<S: DeserializeOwned>(bytes: &[u8]) -> Result<S, CheckpointError> {
    postcard::from_bytes(bytes).map_err(|_| CheckpointError { problem: DAMAGED })
}
