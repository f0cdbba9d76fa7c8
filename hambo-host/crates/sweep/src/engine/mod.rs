//! Hands out cells as command lines: to this machine, to Ray, to Slurm. An engine knows numbers
//! and a program; what is done it learns from the places of the results.

mod local;
mod ray;
mod slurm;
mod told;

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hambo_base::Error;
use hambo_base::observer::Observer;

pub use local::LocalOptions;
pub use ray::RayOptions;
pub use slurm::SlurmOptions;

/// Cells to work off, each by a call of a program with its number as the last word.
pub struct Job<'a> {
    /// For the schedulers' lists.
    pub name: &'a str,
    /// The program and its words before the cells' numbers.
    pub program: Vec<OsString>,
    /// What may run side by side: a stage begins when the one before it has ended.
    pub stages: Vec<Range<usize>>,
    /// Which cells have their result.
    pub done: &'a (dyn Fn() -> Result<Vec<bool>, Error> + Sync),
    /// For scripts, lists and messages; every machine sees it.
    pub folder: &'a Path,
    /// Processors of a cell.
    pub cpus: usize,
}

/// Who works the cells off.
#[derive(Clone, Debug, PartialEq)]
pub enum Engine {
    /// Processes on this machine.
    Local(LocalOptions),
    /// Tasks on Ray.
    Ray(RayOptions),
    /// Array jobs of Slurm.
    Slurm(SlurmOptions),
}

/// How a job ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ended {
    /// Cells that have no result.
    pub left: Vec<usize>,
    /// What was said of cells that ended without a result, the first of each sentence.
    pub problems: Vec<(usize, String)>,
    /// What still runs and was not waited for, in the scheduler's words.
    pub submitted: Vec<String>,
}

impl Engine {
    /// Works off what is left, and learns at the end what still is.
    ///
    /// # Errors
    /// If the engine itself is missing, does not answer or refuses; or the observer breaks off.
    pub fn run(&self, job: &Job<'_>, observer: &mut dyn Observer) -> Result<Ended, Error> {
        if job.left()?.is_empty() {
            return Ok(Ended::default());
        }
        let mut ended = match self {
            Self::Local(options) => local::run(options, job, observer)?,
            Self::Ray(options) => ray::run(options, job, observer)?,
            Self::Slurm(options) => slurm::run(options, job, observer)?,
        };
        ended.left = job.left()?;
        let left = &ended.left;
        ended.problems.retain(|(cell, _)| left.contains(cell));
        Ok(ended)
    }
}

impl Job<'_> {
    /// All cells that are left.
    fn left(&self) -> Result<Vec<usize>, Error> {
        let done = (self.done)()?;
        let cells = self.stages.iter().cloned().flatten();
        let is_left = |cell: &usize| !done.get(*cell).copied().unwrap_or(false);
        Ok(cells.filter(is_left).collect())
    }

    /// What is left of each stage; stages of which nothing is left are not there.
    fn left_by_stage(&self) -> Result<Vec<Vec<usize>>, Error> {
        let left = self.left()?;
        let of = |stage: &Range<usize>| -> Vec<usize> {
            let cells = left.iter().copied();
            cells.filter(|cell| stage.contains(cell)).collect()
        };
        let stages: Vec<_> = self.stages.iter().map(of).collect();
        Ok(stages
            .into_iter()
            .filter(|stage| !stage.is_empty())
            .collect())
    }

    /// A folder for the engine's own files.
    fn own_folder(&self, name: &str) -> Result<PathBuf, Error> {
        let folder = self.folder.join(name);
        std::fs::create_dir_all(&folder).map_err(|error| {
            let text = format!("{}: {error}", folder.display());
            std::io::Error::new(error.kind(), text)
        })?;
        Ok(folder)
    }

    /// The program's words as text, for scripts and other languages.
    ///
    /// # Errors
    /// If one of them is not UTF-8.
    fn words(&self) -> Result<Vec<&str>, Error> {
        let text = |word: &'_ OsString| {
            Error::Usage(format!(
                "{}: this path is not UTF-8, as this engine needs it\nhelp: rename it, or take \
                 --engine local",
                word.to_string_lossy()
            ))
        };
        let words = self.program.iter();
        words
            .map(|word| word.to_str().ok_or_else(|| text(word)))
            .collect()
    }
}
