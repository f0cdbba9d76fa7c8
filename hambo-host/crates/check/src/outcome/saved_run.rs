//! A finished check as a file: everything that the report shows, and nothing that must be
//! computed again. JSON with a version, so that other tools can read it.

use std::cmp::Ordering;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::model_summary::ModelSummary;
use super::paths::Paths;
use super::result::CheckResult;
use super::run::CheckOutcome;
use hambo_base::Error;
use hambo_base::error::Explained;
use hambo_base::files::write_whole;

/// What a run file says it is.
const FORMAT: &str = "hambo run";
/// The version that this program writes and reads.
const VERSION: u32 = 5;

/// A finished check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedRun {
    /// The kind of file.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// What went in.
    pub inputs: Inputs,
    /// What came out.
    pub result: CheckResult,
    /// Trajectories to draw; none if the check broke off.
    pub paths: Option<Paths>,
    /// The model and the log behind it.
    pub model: ModelSummary,
}

/// What is needed to repeat a run, beside its numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    /// The version of hambo that ran the check.
    pub hambo_version: String,
    /// When, in seconds since 1970 (UTC).
    pub time: u64,
    /// The command line.
    pub command: String,
    /// The task file as it was read.
    pub task_text: String,
    /// The files that went in.
    pub files: Vec<InputFile>,
    /// SHA-256 of the controller as the core sees it.
    pub policy_part: String,
}

/// A file that went in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// `task`, `model`, `policy` or `log`.
    pub what: String,
    /// Its path as it was given.
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

/// Why a run file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SavedRunError {
    /// It cannot be read.
    #[error("{file}: {error}")]
    Read {
        file: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is no run.
    #[error(
        "{file}: not a run of hambo ({problem})\nhelp: give what `hambo check … --save` wrote, under a name of its own"
    )]
    NotARun {
        file: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// It is of another version.
    #[error("{file}: a run of version {found}, this program reads version {VERSION}\nhelp: {help}")]
    OtherVersion {
        file: String,
        /// Its version.
        found: u32,
        /// What to do.
        help: &'static str,
    },
}

impl Explained for SavedRunError {}

/// What all versions share.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

impl SavedRun {
    /// A run of this version.
    #[must_use]
    pub fn new(inputs: Inputs, outcome: CheckOutcome) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            inputs,
            result: outcome.result,
            paths: outcome.paths,
            model: outcome.model,
        }
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let mut bytes = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        bytes.push(b'\n');
        Ok(write_whole(path, &bytes)?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, is no run, or is of another version.
    pub fn read(path: &Path) -> Result<Self, SavedRunError> {
        let file = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| SavedRunError::Read {
            file: file.clone(),
            error,
        })?;
        let bad = |error: serde_json::Error| SavedRunError::NotARun {
            file: file.clone(),
            problem: error.to_string(),
        };
        let Head {
            format,
            version: found,
        } = serde_json::from_slice(&bytes).map_err(bad)?;
        if format != FORMAT {
            let problem = format!("its format is `{format}`");
            return Err(SavedRunError::NotARun { file, problem });
        }
        let help = match found.cmp(&VERSION) {
            Ordering::Less => "written by an earlier version: check again",
            // By way of a value: flattened parts cannot be read from text where another crate
            // asks serde_json for arbitrary precision.
            Ordering::Equal => {
                let value = serde_json::from_slice(&bytes).map_err(bad)?;
                return serde_json::from_value(value).map_err(bad);
            }
            Ordering::Greater => "use the hambo that wrote it, or run the check again",
        };
        Err(SavedRunError::OtherVersion { file, found, help })
    }
}
