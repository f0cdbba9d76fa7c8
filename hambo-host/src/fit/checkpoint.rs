//! A training run on disk, so that it can go on after a stop.
//!
//! The file is the state in postcard, then its SHA-256.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Error;
use crate::files::write_whole;
use crate::training::{TrainerState, TrainingError};

const HASH: usize = 32;

/// Where the checkpoint of a model file lies: beside it.
#[must_use]
pub fn checkpoint_path(model: &Path) -> PathBuf {
    let mut name = model.file_name().unwrap_or_default().to_owned();
    name.push(".checkpoint");
    model.with_file_name(name)
}

/// Writes a checkpoint, whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write_checkpoint(path: &Path, state: &TrainerState) -> Result<(), Error> {
    let damaged = |_| TrainingError::Checkpoint {
        problem: "cannot be encoded",
    };
    let mut bytes = postcard::to_stdvec(state).map_err(damaged)?;
    let hash = Sha256::digest(&bytes);
    bytes.extend(hash);
    Ok(write_whole(path, &bytes)?)
}

/// Reads a checkpoint.
///
/// # Errors
/// If there is none or any byte of it is wrong.
pub fn read_checkpoint(path: &Path) -> Result<TrainerState, Error> {
    let bytes = std::fs::read(path).map_err(|error| {
        let text = format!(
            "{}: {error}; there is no run to resume: start again without --resume",
            path.display()
        );
        std::io::Error::new(error.kind(), text)
    })?;
    let damaged = TrainingError::Checkpoint {
        problem: "is damaged",
    };
    let Some((state, hash)) = bytes.split_last_chunk::<HASH>() else {
        return Err(damaged.into());
    };
    if Sha256::digest(state).as_slice() != hash {
        return Err(damaged.into());
    }
    postcard::from_bytes(state).map_err(|_| damaged.into())
}
