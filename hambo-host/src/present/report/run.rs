//! A finished check as a file: everything that the page shows, and nothing
//! that must be computed again. JSON with a version, so that a run of today
//! can be read by later programs and by other tools.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Number;
use super::story::Story;
use crate::Error;
use crate::foundation::error::Explained;
use crate::foundation::files::write_whole;

/// What a run file says it is.
const FORMAT: &str = "hambo run";
/// The version that this program writes and reads.
const VERSION: u32 = 1;

/// A finished check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The kind of file.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// What was asked and with what: enough to repeat it.
    pub settings: Settings,
    /// What came out.
    pub result: RunResult,
    /// Trajectories and losses; none if the check broke off.
    pub story: Option<Story>,
    /// The model and the log behind it.
    pub model: ModelFacts,
}

/// What is needed to repeat a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The version of hambo that ran the check.
    pub hambo_version: String,
    /// When, in seconds since 1970 (UTC).
    pub time: u64,
    /// The command line.
    pub command: String,
    /// The task's name.
    pub task: String,
    /// The task file as it was read.
    pub task_text: String,
    /// The files that went in.
    pub files: Vec<FileFact>,
    /// SHA-256 of the controller as the core sees it.
    pub policy_part: String,
    /// T.
    pub horizon: u32,
    /// delta.
    pub delta: Number,
    /// Discount per step.
    pub discount: Number,
    /// L.
    pub trajectories: u32,
    /// Sweeps of the adversary's search.
    pub sweeps: u32,
    /// `--effort`.
    pub effort: String,
    /// The seed of the trajectories and of what was learnt on the way.
    pub seed: u64,
    /// The variants that decide.
    pub variants: Vec<String>,
}

/// A file that went in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFact {
    /// `task`, `model`, `policy` or `log`.
    pub what: String,
    /// Its path as it was given.
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// `deploy`, `reject`, `abstain`; none without a threshold.
    pub verdict: Option<String>,
    /// Why it is not `deploy`, in sentences.
    pub reasons: Vec<String>,
    /// The lower bound of the return.
    pub bound: Number,
    /// Its bits.
    pub bound_bits: String,
    /// The variant that it comes from.
    pub bound_variant: Option<String>,
    /// What it had to reach.
    pub threshold: Option<Number>,
    /// Mean propagation of the return.
    pub neutral: Number,
    /// One number for all estimates, bit for bit.
    pub digest: String,
    /// Where the sampling margin comes from.
    pub margin: String,
    /// Every objective under every variant.
    pub estimates: Vec<EstimateFact>,
    /// Every constraint.
    pub constraints: Vec<ConstraintFact>,
    /// What each adversary found.
    pub contenders: Vec<ContenderFact>,
}

/// One objective under one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimateFact {
    /// `return`, or `constraint NAME`.
    pub objective: String,
    /// As `--variant` takes it.
    pub variant: String,
    /// Who found it.
    pub adversary: String,
    /// Whether the verdict hangs on it.
    pub decides: bool,
    /// The mean.
    pub mean: Number,
    /// Its standard error.
    pub std_error: Number,
    /// The lower bound.
    pub lower: Number,
}

/// One constraint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstraintFact {
    /// Its name.
    pub name: String,
    /// The lowest of the bounds that decide.
    pub lower: Number,
    /// Whether that is at least 0.
    pub ok: bool,
}

/// One adversary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContenderFact {
    /// As `--variant` takes it.
    pub variant: String,
    /// Who.
    pub name: String,
    /// The mean return it reached.
    pub mean: Number,
    /// Steps of the model.
    pub model_steps: u64,
    /// Gradient steps of a learner.
    pub gradient_steps: u64,
    /// Time.
    pub seconds: Number,
}

/// The model, the log behind it, its calibration and its theory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// What it is, in words.
    pub description: String,
    /// The version of hambo that trained it.
    pub hambo_version: String,
    /// The seed of the split and the training.
    pub seed: u64,
    /// SHA-256 of the numbers of the log it was trained on.
    pub data_hash: String,
    /// Rows of that log.
    pub rows: usize,
    /// Rows that were trained on.
    pub training_rows: usize,
    /// Rows that decided when to stop.
    pub validation_rows: usize,
    /// Rows that were withheld for the calibration.
    pub withheld_rows: usize,
    /// The calibration.
    pub calibration: Option<CalibrationFacts>,
    /// Names, values and units of the theory's constants; empty for networks.
    pub theory: Vec<[String; 3]>,
    /// What they rest on.
    pub assumptions: Vec<String>,
}

/// The calibration of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationFacts {
    /// Whether to rely on it, in words.
    pub status: String,
    /// Whether to rely on it.
    pub passed: bool,
    /// `widen` or `paper`.
    pub mode: String,
    /// Fraction of withheld rows inside the set in every state at once.
    pub joint_coverage: Number,
    /// The same with the noise.
    pub joint_total_coverage: Number,
    /// One entry for each state.
    pub states: Vec<StateCalibration>,
}

/// The calibration of one state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateCalibration {
    /// The state.
    pub name: String,
    /// Minimiser of the calibration error, tau*.
    pub best_scale: Number,
    /// tau in use.
    pub scale: Number,
    /// beta.
    pub beta: Number,
    /// Calibration error at scale 1 and at the scale in use.
    pub errors: [Number; 2],
    /// Fraction of rows in the set in use.
    pub coverage: Number,
    /// The same with the noise.
    pub total_coverage: Number,
    /// Fraction of rows in the scaled 90 % interval.
    pub coverage_90: Number,
    /// Claimed and observed shares at scale 1.
    pub before: Vec<[Number; 2]>,
    /// The same at the scale in use.
    pub after: Vec<[Number; 2]>,
}

/// Why a run file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It cannot be read.
    #[error("{file}: {error}")]
    Read {
        /// The file.
        file: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is no run.
    #[error("{file}: not a run of hambo ({problem})\nhelp: hambo check … --save {file} writes one")]
    NotARun {
        /// The file.
        file: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// It is of a later version.
    #[error(
        "{file}: a run of version {found}, this program reads up to {VERSION}\nhelp: use the hambo that wrote it, or run the check again"
    )]
    Later {
        /// The file.
        file: String,
        /// Its version.
        found: u32,
    },
}

impl Explained for RunError {}

/// What all versions share.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

impl Run {
    /// A run of this version.
    #[must_use]
    pub fn new(
        settings: Settings,
        result: RunResult,
        story: Option<Story>,
        model: ModelFacts,
    ) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            settings,
            result,
            story,
            model,
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
    /// If it cannot be read, is no run, or is of a later version.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let file = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| RunError::Read {
            file: file.clone(),
            error,
        })?;
        let bad = |error: serde_json::Error| RunError::NotARun {
            file: file.clone(),
            problem: error.to_string(),
        };
        let head: Head = serde_json::from_slice(&bytes).map_err(bad)?;
        if head.format != FORMAT {
            return Err(RunError::NotARun {
                problem: format!("its format is `{}`", head.format),
                file,
            });
        }
        if head.version > VERSION {
            return Err(RunError::Later {
                found: head.version,
                file,
            });
        }
        serde_json::from_slice(&bytes).map_err(bad)
    }
}
