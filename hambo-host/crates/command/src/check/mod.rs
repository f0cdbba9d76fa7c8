//! `hambo check`: the command line around [`hambo_check`].

pub(crate) mod claim;
mod compare;
mod plan;
pub(crate) mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::exit_code::exit_code;
use clap::Args;
use clap::builder::PossibleValuesParser;
use hambo_base::Error;
use hambo_base::files::write_whole;
use hambo_base::observer::Observer;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_check::adversary::EffortLevel;
use hambo_check::names::VARIANTS;
use hambo_check::saved_run::SavedRun;
use hambo_check::{CheckOptions, CheckOutcome, CheckResult};
use hambo_core::task::Variant;
use hambo_data::Log;
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

use super::asked::AskedArguments;
use super::case::CaseArguments;
use super::{inputs, report};
use hambo_console::line::Line;
use hambo_console::number::whole;

/// What `hambo check` takes.
#[derive(Args)]
pub struct CheckArguments {
    /// The task file (TOML).
    task: PathBuf,
    /// The model file of `hambo fit`.
    #[arg(long)]
    model: PathBuf,
    /// Policy files (TOML or ONNX). Several are checked one after the other
    /// and compared in one table, the best first; they share delta, so that all
    /// bounds hold together, and the exit code is that of the worst.
    #[arg(long, required = true, num_args = 1..)]
    policy: Vec<PathBuf>,
    #[command(flatten)]
    case: CaseArguments,
    /// What decides; with `all` the lowest of them.
    #[arg(long, value_parser = variant_names(), default_value = "ca")]
    variant: String,
    #[command(flatten)]
    asked: AskedArguments,
    /// Save the whole run, for `hambo report`.
    #[arg(long, value_name = "RUN")]
    save: Option<PathBuf>,
    /// Write the page of `hambo report` at once.
    #[arg(long, value_name = "PAGE")]
    report: Option<PathBuf>,
    /// Places to log next: the states and actions at which the model's
    /// uncertainty costs most.
    #[arg(long, value_name = "N", default_value_t = hambo_check::DEFAULT_PLAN, value_parser = whole::<usize>)]
    plan: usize,
    /// Write these places as a CSV file.
    #[arg(long, value_name = "FILE")]
    plan_csv: Option<PathBuf>,
    /// Solve the worst case of the return on a grid too, for up to three
    /// states: the search is held against it, and starts from it.
    #[arg(long)]
    exact: bool,
    /// Every estimate, what each adversary found and where to log next, below the verdict.
    #[arg(long)]
    details: bool,
    /// One JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// More places than anybody logs.
const MOST_PLACES: usize = 64;

/// All variants together.
const ALL: &str = "all";

fn variant_names() -> PossibleValuesParser {
    VARIANTS.iter().map(|(_, name)| *name).chain([ALL]).into()
}

/// Judges a controller and prints; returns the exit code.
///
/// # Errors
/// If an input is bad.
pub fn run(arguments: &CheckArguments, out: &mut impl Write) -> Result<u8, Error> {
    arguments.ensure_plan()?;
    // Before the check, which takes its time.
    for (path, kind) in [
        (&arguments.plan_csv, OutputKind::Text),
        (&arguments.save, OutputKind::Run),
        (&arguments.report, OutputKind::Page),
    ] {
        if let Some(path) = path {
            ensure_output(path, kind)?;
        }
    }
    let task = arguments.asked.task(&arguments.task)?;
    let model = ModelFile::read(&arguments.model)?;
    let policies = arguments.policies(&task)?;
    let log = arguments.case.log(&task)?;
    let variants = arguments.variants();
    let options = arguments.options((&variants, policies.len()), log.as_ref())?;
    let judge = |policy: &HostPolicy| {
        let mut line = Line::begin();
        let outcome = hambo_check::run(&task, &model, policy, &options, &mut line);
        line.finish();
        outcome
    };
    let [(path, policy)] = policies.as_slice() else {
        return arguments.compare(&policies, judge, out);
    };
    let outcome = judge(policy)?;
    if arguments.json {
        writeln!(out, "{}", arguments.object(path, &outcome.result)?)?;
    } else {
        text::write(&outcome, path, arguments.details, out)?;
    }
    if let Some(path) = &arguments.plan_csv {
        let places = &outcome.result.evidence.log_next;
        write_whole(path, plan::csv(places, &task)?.as_bytes())?;
        if !arguments.json {
            writeln!(out, "saved {}", path.display())?;
        }
    }
    let verdict = outcome.result.decision.verdict;
    if arguments.save.is_some() || arguments.report.is_some() {
        let mut files = vec![
            ("task", arguments.task.as_path()),
            ("model", &arguments.model),
            ("policy", path),
        ];
        files.extend(arguments.case.logs());
        let inputs = inputs::inputs(&files, &[policy])?;
        let run = SavedRun::new(inputs, outcome);
        arguments.save(&run, out)?;
    }
    Ok(exit_code(verdict))
}

impl CheckArguments {
    /// Before the check, which takes its time.
    fn ensure_plan(&self) -> Result<(), Error> {
        if self.plan > MOST_PLACES {
            let text = format!("--plan {}: give at most {MOST_PLACES}", self.plan);
            return Err(Error::Usage(text));
        }
        Ok(())
    }

    /// As the library takes them, for so many controllers.
    fn options<'a>(
        &self,
        (variants, controllers): (&'a [Variant], usize),
        log: Option<&'a Log>,
    ) -> Result<CheckOptions<'a>, Error> {
        Ok(CheckOptions {
            variants,
            plan: self.plan,
            exact: self.exact,
            controllers: self.asked.sharing(controllers),
            ..self.case.options(log, EffortLevel::Normal)?
        })
    }

    /// What can be said without an input: numbers in their ranges.
    pub(super) fn ensure(&self) -> Result<(), Error> {
        self.ensure_plan()?;
        let variants = self.variants();
        self.options((&variants, 1), None).map(|_| ())
    }

    /// What is asked instead of what the task says.
    pub(super) fn asked(&self) -> &AskedArguments {
        &self.asked
    }

    /// Checks one controller for a caller that holds all parts.
    pub(super) fn judge(
        &self,
        (task, model): (&TaskFile, &ModelFile),
        policy: &HostPolicy,
        log: Option<&Log>,
        observer: &mut dyn Observer,
    ) -> Result<CheckOutcome, Error> {
        self.ensure_plan()?;
        let variants = self.variants();
        let options = self.options((&variants, 1), log)?;
        hambo_check::run(task, model, policy, &options, observer)
    }

    /// The result for programs, with the files it is about.
    fn object(&self, policy: &Path, result: &CheckResult) -> Result<serde_json::Value, Error> {
        let mut object = serde_json::to_value(result).map_err(std::io::Error::other)?;
        for (key, path) in [("policy", policy), ("model", self.model.as_path())] {
            object[key] = path.display().to_string().into();
        }
        Ok(object)
    }

    /// Reads every controller before the first is checked.
    fn policies(&self, task: &TaskFile) -> Result<Vec<(&Path, HostPolicy)>, Error> {
        let files = [&self.save, &self.report, &self.plan_csv];
        if self.policy.len() > 1 && files.iter().any(|file| file.is_some()) {
            let text = "--save, --report and --plan-csv are for one controller\n\
                        help: check that one alone";
            return Err(Error::Usage(text.to_owned()));
        }
        let paths = self.policy.iter().map(PathBuf::as_path);
        paths
            .map(|path| Ok((path, HostPolicy::read(path, task)?)))
            .collect()
    }

    /// Writes the run and the page, where they are asked for.
    fn save(&self, run: &SavedRun, out: &mut impl Write) -> Result<(), Error> {
        if let Some(path) = &self.save {
            run.write(path)?;
        }
        if let Some(path) = &self.report {
            report::write(run, path)?;
        }
        // One object is all that a program reads.
        for path in self.save.iter().chain(&self.report).filter(|_| !self.json) {
            writeln!(out, "saved {}", path.display())?;
        }
        Ok(())
    }

    /// The variants that decide.
    fn variants(&self) -> Vec<Variant> {
        let named = VARIANTS.iter();
        let named = named.filter(|(_, name)| self.variant == ALL || self.variant == *name);
        named.map(|(variant, _)| *variant).collect()
    }
}
