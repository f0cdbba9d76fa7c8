//! The plan file, and the sweep that it asks for.

mod file;
mod inputs;

use std::path::{Path, PathBuf};

use hambo_base::Error;
use serde::{Deserialize, Serialize};

use crate::cells::Counts;
use crate::commands::Commands;

pub use inputs::sha256;

/// More cells than a folder should hold.
pub const MOST_CELLS: usize = 1_000_000;

/// A sweep with all that its cells depend on: files with their hashes, options, numbers. Each cell
/// reads it from the sweep's folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// The program that planned it, and that alone may work it off.
    pub hambo_version: String,
    /// What it is called.
    pub name: String,
    /// The task file.
    pub task: InputFile,
    /// The files of the log.
    pub data: Vec<InputFile>,
    /// The controllers.
    pub policies: Vec<PolicyFile>,
    /// What is fitted.
    pub models: Vec<ModelPlan>,
    /// Episodes of the log that a fit gets.
    pub episodes: Vec<u32>,
    /// How many the log has.
    pub all_episodes: u32,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Steps of a trajectory.
    pub horizons: Vec<u32>,
    /// Options of `hambo check`.
    pub check: Vec<String>,
}

/// A file that cells read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputFile {
    /// From the root, so that every machine finds it.
    pub path: PathBuf,
    /// Of its bytes.
    pub sha256: String,
}

/// A controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyFile {
    /// The file's name.
    pub name: String,
    /// From the root.
    pub path: PathBuf,
    /// Of the bytes that the core reads: of a network in another file too.
    pub sha256: String,
}

/// What is fitted, under a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelPlan {
    /// The name in the plan.
    pub name: String,
    /// Options of `hambo fit`.
    pub fit: Vec<String>,
}

impl Sweep {
    /// Reads a plan and everything that it names, once: what a cell could trip over is said now.
    ///
    /// # Errors
    /// If a key is wrong, a file is missing or bad, or an option is none of the command's.
    pub fn read(path: &Path, commands: &dyn Commands) -> Result<Self, Error> {
        let plan = file::read(path)?;
        inputs::resolved(path, plan, commands)
    }

    /// How many there are of each.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            models: self.models.len(),
            sizes: self.episodes.len(),
            seeds: self.seeds.len(),
            policies: self.policies.len(),
            horizons: self.horizons.len(),
        }
    }

    /// In what another sweep differs, in the words of the plan.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let parts = [
            (
                "the version of hambo",
                self.hambo_version == other.hambo_version,
            ),
            ("name", self.name == other.name),
            ("the task file", self.task == other.task),
            ("data", self.data == other.data),
            ("policies", self.policies == other.policies),
            ("model", self.models == other.models),
            ("episodes", self.episodes == other.episodes),
            ("the log", self.all_episodes == other.all_episodes),
            ("seeds", self.seeds == other.seeds),
            ("horizons", self.horizons == other.horizons),
            ("check", self.check == other.check),
        ];
        let mut parts = parts.into_iter();
        parts.find(|(_, same)| !same).map(|(name, _)| name)
    }
}
