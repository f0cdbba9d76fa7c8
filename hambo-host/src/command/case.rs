//! Model, task and policy from their files, put together as one case: what
//! `hambo check` judges and `hambo export` writes.

use std::path::PathBuf;

use crate::Error;
use crate::check::adversary::EffortLevel;
use crate::check::case::{Case, first_states};
use crate::formats::image::encode_policy;
use crate::formats::log::{Log, read_task_logs};
use crate::formats::policy::HostPolicy;
use crate::formats::task::{Initial, TaskFile};
use crate::learn::model_file::ModelFile;
use clap::{Args, ValueEnum};
use hambo_core::task::Effort;

use super::number::whole;

/// More would only make a margin smaller that is small already, and what each of them
/// found is kept in memory.
pub const MOST_TRAJECTORIES: u32 = 1_000_000;

/// The controller, and how hard it is tried.
#[derive(Args)]
pub struct CaseArguments {
    /// The policy file (TOML or ONNX).
    #[arg(long)]
    pub policy: PathBuf,
    /// The log: the first states of its episodes, for a task that starts from
    /// its data, and the scale of the task's comparisons for the adversary's
    /// search; several files count as one, and no episode runs across.
    #[arg(long, num_args = 1..)]
    pub data: Vec<PathBuf>,
    /// Trajectories.
    #[arg(long, default_value_t = 16, value_parser = whole::<u32>)]
    pub trajectories: u32,
    /// Sweeps of the adversary's search, instead of the effort's: more of
    /// them find more.
    #[arg(long, value_parser = whole::<u32>)]
    pub sweeps: Option<u32>,
    /// How hard the worst case is looked for [default: normal for a check,
    /// quick for an export].
    #[arg(long, value_enum)]
    pub effort: Option<EffortName>,
    /// Seed of the trajectories.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    pub seed: u64,
}

/// `--effort`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EffortName {
    /// Constants and a search, as on the device.
    Quick,
    /// A network learns as well, for about half a minute.
    Normal,
    /// More of both, for minutes.
    Thorough,
}

impl EffortName {
    /// As it is given.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Normal => "normal",
            Self::Thorough => "thorough",
        }
    }

    /// As the library knows it.
    pub fn level(self) -> EffortLevel {
        match self {
            Self::Quick => EffortLevel::Quick,
            Self::Normal => EffortLevel::Normal,
            Self::Thorough => EffortLevel::Thorough,
        }
    }
}

impl CaseArguments {
    /// The case, with the sweeps of `effort` unless others are given. The
    /// comparisons of the task are scaled to the log.
    ///
    /// # Errors
    /// If a file is bad, or they do not belong together.
    pub fn case(
        &self,
        model: &ModelFile,
        mut task: TaskFile,
        effort: EffortLevel,
    ) -> Result<Case, Error> {
        if !(1..=MOST_TRAJECTORIES).contains(&self.trajectories) {
            return Err(Error::Usage(format!(
                "--trajectories {}: give 1 to {MOST_TRAJECTORIES}",
                self.trajectories
            )));
        }
        let metadata = model.metadata();
        let trained_on = [&metadata.state_names, &metadata.action_names];
        let named = [&task.state_names, &task.action_names];
        if trained_on.iter().any(|names| !names.is_empty()) && trained_on != named {
            let help = match (metadata.learned_reward, task.learns_reward()) {
                (false, true) => "the task learns its reward, the model did not: fit it again",
                (true, false) => "the model learned the reward, the task computes it: fit it again",
                _ => "choose the task of this model",
            };
            return Err(Error::Usage(format!(
                "the model was trained for the states {} and the actions {}, the task names {} and {}\n\
                 help: {help}",
                trained_on[0].join(", "),
                trained_on[1].join(", "),
                named[0].join(", "),
                named[1].join(", ")
            )));
        }
        let policy = HostPolicy::read(&self.policy, &task)?;
        let initial = self.initial_states(&mut task)?;
        Ok(Case {
            model_part: model.model_part().to_vec(),
            effort: Effort {
                trajectories: self.trajectories,
                iterations: self.sweeps.unwrap_or(effort.sweeps()),
                seed: self.seed,
            },
            initial,
            policy_part: encode_policy(&policy)?,
            task,
        })
    }

    /// The log, if one is given.
    ///
    /// # Errors
    /// If a file is bad.
    pub fn log(&self, task: &TaskFile) -> Result<Option<Log>, Error> {
        if self.data.is_empty() {
            return Ok(None);
        }
        Ok(Some(read_task_logs(&self.data, task)?))
    }

    /// The first state of every episode for a task that starts there, else
    /// none.
    fn initial_states(&self, task: &mut TaskFile) -> Result<Vec<f32>, Error> {
        let from_data = task.initial == Initial::Data;
        let Some(log) = self.log(task)? else {
            if from_data {
                let text = "the task starts from its data: give the log with --data";
                return Err(Error::Usage(text.to_owned()));
            }
            return Ok(Vec::new());
        };
        task.fit_smoothing(
            log.rows()
                .map(|row| (row.state, row.action, row.next_state)),
        );
        Ok(if from_data {
            first_states(&log)
        } else {
            Vec::new()
        })
    }
}
