//! `hambo check`: the verdict on a controller.

mod object;
mod record;
mod tell;
mod words;

use std::io::Write;
use std::path::PathBuf;

use crate::Error;
use crate::check::adversary::{Contest, contest};
use crate::check::case::Case;
use crate::formats::task::TaskFile;
use crate::learn::model_file::ModelFile;
use crate::present::report::Story;
use clap::{Args, ValueEnum};
use hambo_core::variant::Variant;
use hambo_core::verdict::Verdict;

use super::case::{CaseArguments, EffortName};
use super::line::Line;
use super::number::whole;
use super::report;

/// What `hambo check` takes.
#[derive(Args)]
pub struct CheckArguments {
    /// The task file (TOML).
    task: PathBuf,
    /// The model file of `hambo fit`.
    #[arg(long)]
    model: PathBuf,
    #[command(flatten)]
    case: CaseArguments,
    /// What decides; with `all` the lowest of them.
    #[arg(long, value_enum, default_value = "ca")]
    variant: VariantName,
    /// Deploy only at or above this return, instead of the task's threshold.
    #[arg(long)]
    threshold: Option<f32>,
    /// The bound may fail with this probability, instead of the task's delta.
    #[arg(long)]
    delta: Option<f32>,
    /// Steps of a trajectory, instead of the task's horizon.
    #[arg(long, value_parser = whole::<u32>)]
    horizon: Option<u32>,
    /// Save the whole run, for `hambo report`.
    #[arg(long, value_name = "RUN")]
    save: Option<PathBuf>,
    /// Write the page of `hambo report` at once.
    #[arg(long, value_name = "PAGE")]
    report: Option<PathBuf>,
    /// One JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VariantName {
    Ca,
    Da1,
    Dainf,
    Ds,
    Ts1,
    Tsinf,
    Mean,
    Mopo,
    All,
}

const VARIANTS: [(VariantName, Variant, &str); 8] = [
    (VariantName::Ca, Variant::ContinuousAdversary, "ca"),
    (VariantName::Da1, Variant::DiscreteAdversary1, "da1"),
    (VariantName::Dainf, Variant::DiscreteAdversaryInf, "dainf"),
    (VariantName::Ds, Variant::DistributionSampling, "ds"),
    (VariantName::Ts1, Variant::TrajectorySampling1, "ts1"),
    (VariantName::Tsinf, Variant::TrajectorySamplingInf, "tsinf"),
    (VariantName::Mean, Variant::Mean, "mean"),
    (VariantName::Mopo, Variant::Penalised, "mopo"),
];

/// Exit codes of a verdict.
const REJECT: u8 = 1;
const ABSTAIN: u8 = 3;

/// Judges a controller and tells; returns the exit code.
///
/// # Errors
/// If an input is bad.
pub fn run(arguments: &CheckArguments, out: &mut impl Write) -> Result<u8, Error> {
    let mut task = TaskFile::read(&arguments.task)?;
    arguments.change(&mut task)?;
    let model = ModelFile::read(&arguments.model)?;
    let variants = arguments.variants(&model)?;
    task.method.variants.clear();
    task.method.variants.extend(variants);
    let level = arguments.effort().level();
    let case = arguments.case.case(&model, task, level)?;
    let line = Line::new();
    let learning = level.learning(arguments.case.seed);
    let contest = contest(&case, learning.as_ref(), &mut |variant, report| {
        line.show_round(words::variant(variant), report)
    });
    line.finish();
    let contest = contest?;
    let story = arguments.story(&case, &contest)?;
    if arguments.json {
        writeln!(out, "{}", arguments.object(&case, &contest, story.as_ref()))?;
    } else {
        arguments.tell(&case, &contest, story.as_ref(), out)?;
    }
    arguments.keep(&case, &model, &contest, story, out)?;
    let outcome = &contest.outcome;
    Ok(match (&outcome.verdict, outcome.threshold) {
        (_, None) | (Verdict::Deploy(_), _) => 0,
        (Verdict::Reject, _) => REJECT,
        (Verdict::Abstain, _) => ABSTAIN,
    })
}

impl CheckArguments {
    fn effort(&self) -> EffortName {
        self.case.effort.unwrap_or(EffortName::Normal)
    }

    /// Writes the run and the page, where they are asked for.
    fn keep(
        &self,
        case: &Case,
        model: &ModelFile,
        contest: &Contest,
        story: Option<Story>,
        out: &mut impl Write,
    ) -> Result<(), Error> {
        if self.save.is_none() && self.report.is_none() {
            return Ok(());
        }
        let run = self.record(case, model, contest, story)?;
        if let Some(path) = &self.save {
            run.write(path)?;
        }
        if let Some(path) = &self.report {
            report::write(&run, path)?;
        }
        // One object is all that a program reads.
        for path in self.save.iter().chain(&self.report).filter(|_| !self.json) {
            writeln!(out, "saved {}", path.display())?;
        }
        Ok(())
    }

    /// Takes over what the command line says instead of the task.
    fn change(&self, task: &mut TaskFile) -> Result<(), Error> {
        if let Some(threshold) = self.threshold {
            if !threshold.is_finite() {
                return Err(Error::Usage("--threshold: give a finite number".to_owned()));
            }
            task.threshold = Some(threshold);
        }
        if let Some(delta) = self.delta {
            if !(delta > 0.0 && delta < 1.0) {
                let text = format!("--delta {delta}: give a probability between 0 and 1");
                return Err(Error::Usage(text));
            }
            task.delta = delta;
        }
        match self.horizon {
            Some(0) => return Err(Error::Usage("--horizon 0: give at least 1".to_owned())),
            Some(horizon) => task.horizon = horizon,
            None => {}
        }
        Ok(())
    }

    /// The variants that decide.
    fn variants(&self, model: &ModelFile) -> Result<Vec<Variant>, Error> {
        let members = model.model()?.dynamics.members() > 0;
        let named = VARIANTS
            .iter()
            .filter(|(name, ..)| self.variant == VariantName::All || self.variant == *name);
        let possible = |variant: &Variant| members || !variant.needs_members();
        let variants: Vec<Variant> = named
            .map(|(_, variant, _)| *variant)
            .filter(possible)
            .collect();
        if variants.is_empty() {
            let text = "--variant: this one needs networks, and the model is a Gaussian process\n\
                        help: choose ca, ds or mean, or fit with --model bnn";
            return Err(Error::Usage(text.to_owned()));
        }
        Ok(variants)
    }
}
