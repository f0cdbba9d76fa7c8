//! What `hambo check` and `hambo export` share: the log, and how hard the
//! worst case is looked for.

use std::path::{Path, PathBuf};

use clap::Args;
use hambo_base::Error;
use hambo_check::CheckOptions;
use hambo_check::adversary::EffortLevel;
use hambo_data::{Log, read_task_logs};
use hambo_task::task::TaskFile;

use super::allocation::AllocationArgument;
use hambo_console::number::whole;

/// More would only make a margin smaller that is small already, and what each of them
/// found is kept in memory.
pub const MOST_TRAJECTORIES: u32 = 1_000_000;

/// Each costs a whole search, and what was found on it is kept in memory.
pub const MOST_SEARCHED: u32 = 10_000;

/// The log, and how hard a controller is tried.
#[derive(Args)]
pub struct CaseArguments {
    /// The log: the first states of its episodes, for a task that starts from
    /// its data, and the scale of the task's comparisons for the adversary's
    /// search, of which the model keeps a sample; several files count as one,
    /// and no episode runs across.
    #[arg(long, num_args = 1..)]
    pub data: Vec<PathBuf>,
    /// Trajectories that are sampled, forward only: they make the margin small.
    /// [default: 4000, and up to 100000 where that spares an assumption].
    #[arg(long, value_parser = whole::<u32>)]
    pub trajectories: Option<u32>,
    /// Other trajectories on which the adversary searches [default: 16; where
    /// the bound must hold for any distribution 128, and more for a
    /// requirement's probability].
    #[arg(long, value_parser = whole::<u32>)]
    pub searched: Option<u32>,
    /// Sweeps of the adversary's search, instead of the effort's: more of
    /// them find more.
    #[arg(long, value_parser = whole::<u32>)]
    pub sweeps: Option<u32>,
    /// How the adversary's starts share the steps of the model [default: even,
    /// and tried where more than 16 trajectories are searched].
    #[arg(long, value_enum)]
    pub allocation: Option<AllocationArgument>,
    /// How hard the worst case is looked for [default: normal for a check,
    /// quick for an export].
    #[arg(long, value_enum)]
    pub effort: Option<EffortLevel>,
    /// Seed of the trajectories.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    pub seed: u64,
}

impl CaseArguments {
    /// The files of the log, as what they are.
    pub fn logs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.data.iter().map(|path| ("log", path.as_path()))
    }

    /// The log, if one is given.
    ///
    /// # Errors
    /// If a file is bad.
    pub fn log(&self, task: &TaskFile) -> Result<Option<Log>, Error> {
        match self.data.as_slice() {
            [] => Ok(None),
            files => Ok(Some(read_task_logs(files, task)?)),
        }
    }

    /// As the library takes them.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn options<'a>(
        &self,
        log: Option<&'a Log>,
        effort: EffortLevel,
    ) -> Result<CheckOptions<'a>, Error> {
        if let Some(given) = self.trajectories
            && !(1..=MOST_TRAJECTORIES).contains(&given)
        {
            return Err(Error::Usage(format!(
                "--trajectories {given}: give 1 to {MOST_TRAJECTORIES}"
            )));
        }
        if let Some(given) = self.searched
            && !(2..=MOST_SEARCHED).contains(&given)
        {
            return Err(Error::Usage(format!(
                "--searched {given}: give 2 to {MOST_SEARCHED}"
            )));
        }
        Ok(CheckOptions {
            log,
            variants: &[],
            effort: self.effort.unwrap_or(effort),
            sweeps: self.sweeps,
            trajectories: self.trajectories,
            searched: self.searched,
            allocation: self.allocation.map(Into::into),
            seed: self.seed,
            ..CheckOptions::default()
        })
    }
}
