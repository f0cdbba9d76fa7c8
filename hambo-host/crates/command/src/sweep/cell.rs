//! A cell's fit and check, by the commands themselves: options mean the same, and are refused in
//! the same sentences.

use std::path::Path;

use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_check::CheckResult;
use hambo_data::Log;
use hambo_learn::model_file::ModelFile;
use hambo_sweep::commands::Commands;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

use crate::call::{self, TaskText};

/// The commands of this process.
pub(super) struct InProcess;

impl Commands for InProcess {
    fn ensure_fit(&self, task: &TaskFile, options: &[String]) -> Result<(), Error> {
        let mut options = options.to_vec();
        // A cell gives it, so that a second one is refused here.
        options.push("--seed=0".to_owned());
        call::ensure_fit(task, &options)
    }

    fn ensure_check(&self, options: &[String]) -> Result<(), Error> {
        let mut options = options.to_vec();
        options.extend(["--seed=0", "--horizon=1"].map(str::to_owned));
        call::ensure_check(&options)
    }

    fn fit(&self, task: &TaskFile, log: &Log, options: &[String]) -> Result<ModelFile, Error> {
        Ok(call::fit(task, log, options, &mut Unobserved)?.0)
    }

    fn check(
        &self,
        (text, origin): (&str, &str),
        model: &ModelFile,
        policy: &Path,
        log: &Log,
        options: &[String],
    ) -> Result<CheckResult, Error> {
        let read = |task: &TaskFile| Ok(HostPolicy::read(policy, task)?);
        let task = TaskText { text, origin };
        let outcome = call::check(task, model, read, Some(log), (options, &mut Unobserved))?;
        Ok(outcome.0.result)
    }
}
