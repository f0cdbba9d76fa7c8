//! The subcommands for a caller that holds task, log, model and controllers itself: what a module
//! for another language stands on. Options are the words of the command line, so that they mean
//! the same and are refused in the same sentences.

use std::ffi::OsString;

use hambo_base::Error;
use hambo_base::observer::Observer;
use hambo_check::case::Case;
use hambo_check::logged_return::logged_returns;
use hambo_check::ranking::certain::certain_of_model;
use hambo_check::ranking::judge_all::Controller;
use hambo_check::ranking::table::Ranking;
use hambo_check::{CheckOptions, CheckOutcome};
use hambo_data::{Log, wrapped};
use hambo_learn::model_file::ModelFile;
use hambo_learn::prediction::Predictions;
use hambo_task::policy::HostPolicy;
use hambo_task::task::{Initial, TaskFile};

use super::{Arguments, Command, inputs, parsed, predict, rank};
use clap::CommandFactory;

/// A task as it was written, and where.
#[derive(Clone, Copy, Debug)]
pub struct TaskText<'a> {
    /// The text of the task file.
    pub text: &'a str,
    /// Its name in errors.
    pub origin: &'a str,
}

/// Flags that write, print or set up the process: a caller does that itself.
const OF_THE_COMMAND: [&str; 13] = [
    "--output",
    "--json",
    "--save",
    "--report",
    "--csv",
    "--plan-csv",
    "--details",
    "--resume",
    "--quiet",
    "--verbose",
    "--threads",
    "--config",
    "--help",
];

/// What stands for an input that the caller holds.
const HELD: &str = "held";
/// The words before the options of a fit.
const FIT: [&str; 6] = ["fit", HELD, "--data", HELD, "--output", HELD];
/// The words before the options of a check.
const CHECK: [&str; 6] = ["check", HELD, "--model", HELD, "--policy", HELD];

/// Parses the options of a subcommand whose inputs are held by the caller.
fn command(before: &[&str], options: &[String]) -> Result<Command, Error> {
    let name = before.first().copied().unwrap_or_default();
    let of_the_command = |option: &&String| {
        let flag = option.split('=').next().unwrap_or_default();
        OF_THE_COMMAND.contains(&flag)
    };
    if let Some(option) = options.iter().find(of_the_command) {
        return Err(Error::Usage(format!(
            "{option}: this is for the command alone\nhelp: hambo {name} on the command line takes it"
        )));
    }
    let words = ["hambo"].iter().chain(before).map(OsString::from);
    let words = words.chain(options.iter().map(OsString::from));
    let arguments = parsed(Arguments::command(), words.collect()).map_err(|problem| {
        let text = problem.to_string();
        // Without the lines on how to call the command.
        let text = text.split("\n\nUsage:").next().unwrap_or_default();
        let text = text.strip_prefix("error: ").unwrap_or(text).trim_end();
        Error::Usage(format!(
            "{text}\nhelp: the options are those of `hambo {name} --help`"
        ))
    })?;
    Ok(arguments.command)
}

/// What happens if words lead to another subcommand than was named, which they cannot.
fn mixed_up() -> Error {
    Error::Usage("the options lead to another subcommand".to_owned())
}

/// Fits as `hambo fit` does; returns the model and the warnings.
///
/// # Errors
/// In the words of `hambo fit`.
pub fn fit(
    task: &TaskFile,
    log: &Log,
    options: &[String],
    observer: &mut dyn Observer,
) -> Result<(ModelFile, Vec<String>), Error> {
    let Command::Fit(arguments) = command(&FIT, options)? else {
        return Err(mixed_up());
    };
    let options = arguments.options(task, log.len())?;
    let warnings = super::fit::warnings(task, log, &options);
    let (model, _) = hambo_learn::fit::fit(task, log, &options, observer)?;
    Ok((model, warnings))
}

/// Whether these are options of a fit.
///
/// # Errors
/// In the words of `hambo fit`.
pub(crate) fn ensure_fit(task: &TaskFile, options: &[String]) -> Result<(), Error> {
    match command(&FIT, options)? {
        // Without rows: what contradicts itself.
        Command::Fit(arguments) => arguments.options(task, 0).map(|_| ()),
        _ => Err(mixed_up()),
    }
}

/// Whether these are options of a check.
///
/// # Errors
/// In the words of `hambo check`.
pub(crate) fn ensure_check(options: &[String]) -> Result<(), Error> {
    match command(&CHECK, options)? {
        Command::Check(arguments) => arguments.ensure(),
        _ => Err(mixed_up()),
    }
}

/// Checks as `hambo check` does; `policy` reads the controller for the task as it is asked for.
///
/// # Errors
/// In the words of `hambo check`.
pub fn check(
    task: TaskText<'_>,
    model: &ModelFile,
    policy: impl FnOnce(&TaskFile) -> Result<HostPolicy, Error>,
    log: Option<&Log>,
    (options, observer): (&[String], &mut dyn Observer),
) -> Result<(CheckOutcome, About), Error> {
    let Command::Check(arguments) = command(&CHECK, options)? else {
        return Err(mixed_up());
    };
    let task = arguments.asked().task_of(|horizon| task.read(horizon))?;
    let policy = policy(&task)?;
    let outcome = arguments.judge((&task, model), &policy, log, observer)?;
    Ok((outcome, About { policy, task }))
}

/// What a check was about.
#[derive(Clone, Debug)]
pub struct About {
    /// The controller.
    pub policy: HostPolicy,
    /// The task, with what was asked instead of what it says.
    pub task: TaskFile,
}

/// The return of every episode of a log by the task's own reward, over its horizon at most.
///
/// # Errors
/// If model, controller and log are none of this task.
pub fn returns(about: &About, model: &ModelFile, log: &Log) -> Result<Vec<f32>, Error> {
    let mut task = about.task.clone();
    // Where the model would start does not matter.
    task.initial = Initial::Data { always: false };
    let options = CheckOptions {
        log: Some(log),
        ..CheckOptions::default()
    };
    let case = Case::new(&task, model, &about.policy, &options)?;
    case.parsed(|case| Ok(logged_returns(case.image.task(), log)))
}

/// A controller that was learned.
#[derive(Clone, Debug)]
pub struct Improved {
    /// The bytes of its ONNX file.
    pub onnx: Vec<u8>,
    /// The object of `hambo improve --json`.
    pub object: serde_json::Value,
}

/// Improves as `hambo improve` does, with a model or with one that is fitted to the log.
///
/// # Errors
/// In the words of `hambo improve`.
pub fn improve(
    task: &TaskFile,
    model: Option<&ModelFile>,
    log: &Log,
    (options, observer): (&[String], &mut dyn Observer),
) -> Result<Improved, Error> {
    let mut before = vec!["improve", HELD, "--data", HELD, "--output", "held.onnx"];
    if model.is_some() {
        before.extend(["--model", HELD]);
    }
    let Command::Improve(arguments) = command(&before, options)? else {
        return Err(mixed_up());
    };
    arguments.ensure_numbers()?;
    let fitted;
    let model = match model {
        Some(model) => {
            arguments.ensure_fits(task, model, "the model")?;
            model
        }
        None => {
            fitted = arguments.fitted(task, log, observer)?;
            &fitted
        }
    };
    let found = arguments.found(task.clone(), log, model, observer)?;
    let mut object = arguments.object(&found, model);
    // There is no file.
    if let Some(object) = object.as_object_mut() {
        object.remove("output");
    }
    Ok(Improved {
        onnx: found.onnx(arguments.seed())?,
        object,
    })
}

/// What a ranking comes to.
#[derive(Clone, Debug)]
pub enum Ranked {
    /// All abstain, for these reasons; none was checked.
    Certain(Vec<String>),
    /// The table, and the controllers as they were given.
    Judged(Box<Ranking>, Vec<HostPolicy>),
}

/// Ranks as `hambo rank` does, with a model or with one that is fitted to the log; `policies`
/// reads the controllers for the task as it is asked for.
///
/// # Errors
/// In the words of `hambo rank`.
pub fn rank(
    task: TaskText<'_>,
    model: Option<&ModelFile>,
    policies: impl FnOnce(&TaskFile) -> Result<Vec<Controller>, Error>,
    log: Option<&Log>,
    (options, observer): (&[String], &mut dyn Observer),
) -> Result<Ranked, Error> {
    let from = if model.is_some() { "--model" } else { "--data" };
    let before = ["rank", HELD, from, HELD, "--policies", HELD];
    let Command::Rank(arguments) = command(&before, options)? else {
        return Err(mixed_up());
    };
    let task = arguments.asked().task_of(|horizon| task.read(horizon))?;
    let controllers = policies(&task)?;
    let fitted;
    let model = match model {
        Some(model) => model,
        None => {
            fitted = arguments.fitted(&task, log, observer)?;
            &fitted
        }
    };
    if let Some(reason) = certain_of_model(&task, model)? {
        return Ok(Ranked::Certain(vec![reason]));
    }
    let mut judged = match arguments.judge(&task, (model, log), &controllers, observer)? {
        rank::Outcome::Certain(reasons) => return Ok(Ranked::Certain(reasons)),
        rank::Outcome::Judged(judged) => judged,
    };
    let policies = controllers.into_iter().map(|one| one.policy).collect();
    let ranking = Ranking::of(&mut judged);
    let ranking = ranking.ok_or_else(|| Error::Usage("there is no controller".to_owned()))?;
    Ok(Ranked::Judged(Box::new(ranking), policies))
}

/// What a model says of every row of a log, as `hambo predict` does.
///
/// # Errors
/// In the words of `hambo predict`.
pub fn predicted(model: &ModelFile, log: &Log) -> Result<Predictions, Error> {
    predict::predicted(model, &wrapped(log, &model.metadata().view.wraps))
}

impl TaskText<'_> {
    /// Checks the text, with another horizon if one is given.
    ///
    /// # Errors
    /// If it is not a good task.
    pub fn read(self, horizon: Option<u32>) -> Result<TaskFile, Error> {
        let (text, origin) = (self.text, self.origin);
        Ok(TaskFile::parse_with_horizon(text, origin, horizon)?)
    }
}

pub use inputs::{described, held, input};

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(before: &[&str], options: &[&str]) -> String {
        let options: Vec<String> = options.iter().map(|word| (*word).to_owned()).collect();
        match command(before, &options) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn options_are_those_of_the_command_and_no_files_are_written() {
        let fit = FIT;
        assert_eq!(refused(&fit, &["--model=gp", "--seed=3", "--norm=1,2"]), "");
        let unknown = refused(&fit, &["--kernle=rbf"]);
        assert!(
            unknown.contains("--kernle") && unknown.contains("hambo fit --help"),
            "{unknown}"
        );
        assert!(!unknown.contains("Usage"), "{unknown}");
        let wrong = refused(&fit, &["--seed=-1"]);
        assert!(wrong.contains("negative"), "{wrong}");
        for flag in ["--json", "--save=x", "--output=x", "--help", "--threads=2"] {
            let text = refused(&fit, &[flag]);
            assert!(text.contains("for the command alone"), "{flag}: {text}");
        }
    }
}
