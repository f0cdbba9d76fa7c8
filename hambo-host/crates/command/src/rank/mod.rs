//! `hambo rank`: which of several controllers to try first, and which not at all.

mod controllers;
mod csv;
mod save;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use hambo_base::Error;
use hambo_base::files::write_whole;
use hambo_base::observer::Observer;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_check::CheckOptions;
use hambo_check::adversary::EffortLevel;
use hambo_check::names::VARIANTS;
use hambo_check::ranking::certain::{certain_of_model, certain_of_options};
use hambo_check::ranking::judge_all::{Controller, Judged, judge_all};
use hambo_check::ranking::table::Ranking;
use hambo_check::saved_run::{Inputs, SavedRun};
use hambo_console::line::Line;
use hambo_core::task::Variant;
use hambo_data::Log;
use hambo_learn::fit::fit;
use hambo_learn::model_file::ModelFile;
use hambo_report::ranking_page;
use hambo_task::policy::HostPolicy;
use hambo_task::policy::find::{Found, find};
use hambo_task::task::TaskFile;

use super::asked::AskedArguments;
use super::case::CaseArguments;
use super::exit_code::{ABSTAIN, exit_code};
use super::fit::{ModelKind, plain_options};
use super::inputs;

/// What `hambo rank` takes.
#[derive(Args)]
pub struct RankArguments {
    /// The task file (TOML).
    task: PathBuf,
    /// The controllers: policy files (TOML or ONNX), or folders of them. All
    /// are read before the first is checked, and one that does not fit ends
    /// all.
    #[arg(long, required = true, num_args = 1.., value_name = "DIR|FILE")]
    policies: Vec<PathBuf>,
    /// A model file of `hambo fit`; without one, a model is fitted to the log
    /// as `hambo fit` does it.
    #[arg(long)]
    model: Option<PathBuf>,
    /// The kind of model that is fitted.
    #[arg(long, value_enum, default_value = "bnn", conflicts_with = "model")]
    fit: ModelKind,
    #[command(flatten)]
    case: CaseArguments,
    /// The columns, each the bound of `hambo check --variant`; the first
    /// decides verdict and order.
    #[arg(long, value_delimiter = ',', value_parser = variant_names(),
        default_values_t = ["ca", "da1", "dainf"].map(str::to_owned))]
    variant: Vec<String>,
    #[command(flatten)]
    asked: AskedArguments,
    /// Write the table as a CSV file.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write one page about all of them.
    #[arg(long, value_name = "PAGE")]
    report: Option<PathBuf>,
    /// Save every run into a new folder, for `hambo report`, beside the
    /// ranking and the model that was fitted.
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// The rule, every pair that is not settled, and the whole check of each
    /// controller, below the table.
    #[arg(long)]
    details: bool,
    /// One JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// What comes of controllers.
pub(super) enum Outcome {
    /// All abstain, for these reasons; none was checked.
    Certain(Vec<String>),
    /// The checks of each.
    Judged(Vec<Judged>),
}

/// The fitted model, in the folder of `--save`.
const MODEL: &str = "model.hambo";

/// The variants that bound something.
fn variant_names() -> PossibleValuesParser {
    let bounding = VARIANTS.iter().filter(|(one, _)| one.has_adversary());
    bounding.map(|(_, name)| *name).collect::<Vec<_>>().into()
}

/// Ranks and prints; returns the exit code.
///
/// # Errors
/// If an input is bad; then nothing is written.
pub fn run(arguments: &RankArguments, out: &mut impl Write) -> Result<u8, Error> {
    arguments.ensure_outputs()?;
    let task = arguments.asked.task(&arguments.task)?;
    let found = find(&arguments.policies, &arguments.task)?;
    let controllers = controllers::read(&found, &task)?;
    let mut line = Line::begin_with_pulse();
    // What is certain of a model is said before the log is read.
    let given = arguments.model.as_deref();
    let given = given.map(ModelFile::read).transpose()?;
    if let Some(model) = &given
        && let Some(reason) = certain_of_model(&task, model)?
    {
        return arguments.abstain(&task, &[reason], &found, out);
    }
    let log = arguments.case.log(&task)?;
    let model = match given {
        Some(model) => model,
        None => {
            let model = arguments.fitted(&task, log.as_ref(), &mut line)?;
            if let Some(reason) = certain_of_model(&task, &model)? {
                line.finish();
                return arguments.abstain(&task, &[reason], &found, out);
            }
            model
        }
    };
    let judged = arguments.judge(&task, (&model, log.as_ref()), &controllers, &mut line);
    line.finish();
    let mut judged = match judged? {
        Outcome::Certain(reasons) => return arguments.abstain(&task, &reasons, &found, out),
        Outcome::Judged(judged) => judged,
    };
    let Some(ranking) = Ranking::of(&mut judged) else {
        return Ok(0);
    };
    arguments.print(&ranking, &judged, &found, out)?;
    let saved = arguments.write(&ranking, judged, (&controllers, &found), &model)?;
    // One object is all that a program reads.
    for path in saved.iter().filter(|_| !arguments.json) {
        writeln!(out, "saved {}", path.display())?;
    }
    let first = ranking.controllers.first();
    Ok(first.map_or(0, |first| exit_code(first.verdict)))
}

impl RankArguments {
    /// Before the work, which takes its time.
    fn ensure_outputs(&self) -> Result<(), Error> {
        for (path, kind) in [
            (&self.csv, OutputKind::Text),
            (&self.report, OutputKind::Page),
        ] {
            if let Some(path) = path {
                ensure_output(path, kind)?;
            }
        }
        if let Some(path) = &self.save {
            save::ensure_folder(path)?;
        }
        if self.model.is_none() && self.case.data.is_empty() {
            let text = "neither --model nor --data: there is nothing to judge the controllers by\n\
                        help: give the log with --data, or a model of hambo fit with --model";
            return Err(Error::Usage(text.to_owned()));
        }
        Ok(())
    }

    /// The model of the log.
    pub(super) fn fitted(
        &self,
        task: &TaskFile,
        log: Option<&Log>,
        observer: &mut dyn Observer,
    ) -> Result<ModelFile, Error> {
        let Some(log) = log else {
            return Err(Error::Usage("--data: give the log".to_owned()));
        };
        let options = plain_options((self.fit, self.case.seed), task, log.len())?;
        Ok(fit(task, log, &options, observer)?.0)
    }

    /// Checks every controller, unless what would come out is certain beforehand.
    pub(super) fn judge(
        &self,
        task: &TaskFile,
        (model, log): (&ModelFile, Option<&Log>),
        controllers: &[Controller],
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let variants = self.variants();
        let options = CheckOptions {
            controllers: self.asked.sharing(controllers.len()),
            variants: variants.get(..1).unwrap_or_default(),
            ..self.case.options(log, EffortLevel::Normal)?
        };
        if let Some(first) = controllers.first() {
            let certain = certain_of_options(task, model, &first.policy, &options)?;
            if !certain.is_empty() {
                return Ok(Outcome::Certain(certain));
            }
        }
        let asked = (variants.as_slice(), &options);
        let judged = judge_all(task, model, controllers, asked, observer)?;
        Ok(Outcome::Judged(judged))
    }

    /// What is asked instead of what the task says.
    pub(super) fn asked(&self) -> &AskedArguments {
        &self.asked
    }

    /// The variants of the columns, each once.
    fn variants(&self) -> Vec<Variant> {
        let mut variants = Vec::new();
        for wanted in &self.variant {
            let named = VARIANTS.iter().find(|(_, name)| name == wanted);
            let new = named.filter(|(variant, _)| !variants.contains(variant));
            variants.extend(new.map(|(variant, _)| *variant));
        }
        variants
    }

    /// What is certain beforehand: nothing is checked, and nothing is written.
    fn abstain(
        &self,
        task: &TaskFile,
        reasons: &[String],
        found: &[Found],
        out: &mut impl Write,
    ) -> Result<u8, Error> {
        if self.json {
            let object = serde_json::json!({
                "task": task.name,
                "verdict": "abstain",
                "reasons": reasons,
                "controllers": [],
            });
            writeln!(out, "{object}")?;
            return Ok(ABSTAIN);
        }
        writeln!(
            out,
            "abstain: {}\nthat is certain for {}, whatever they do, so none was checked (hambo \
             check shows numbers all the same)",
            reasons.join("; "),
            text::several(found.len())
        )?;
        Ok(ABSTAIN)
    }

    fn print(
        &self,
        ranking: &Ranking,
        judged: &[Judged],
        found: &[Found],
        out: &mut impl Write,
    ) -> Result<(), Error> {
        if self.json {
            writeln!(out, "{}", object(ranking, found)?)?;
            return Ok(());
        }
        text::write(ranking, judged, out)?;
        let asked = self.variants();
        if ranking.variants.len() < asked.len() {
            writeln!(
                out,
                "da1 and dainf need networks, and the model is a Gaussian process"
            )?;
        }
        if self.details {
            return text::write_details(ranking, judged, out);
        }
        writeln!(
            out,
            "the rule of the order, and every check: --details, or --report PAGE"
        )?;
        Ok(())
    }

    /// Writes what is asked for; returns where.
    fn write(
        &self,
        ranking: &Ranking,
        judged: Vec<Judged>,
        (controllers, found): (&[Controller], &[Found]),
        model: &ModelFile,
    ) -> Result<Vec<&Path>, Error> {
        let mut saved = Vec::new();
        if let Some(path) = &self.csv {
            write_whole(path, csv::csv(ranking)?.as_bytes())?;
            saved.push(path.as_path());
        }
        if let Some(path) = &self.report {
            let policies: Vec<&HostPolicy> = controllers.iter().map(|one| &one.policy).collect();
            let files = found.iter().map(|one| one.path.as_path());
            let inputs = self.inputs(files.collect(), &policies, self.model.as_deref())?;
            write_whole(path, ranking_page(ranking, &inputs).as_bytes())?;
            saved.push(path);
        }
        if let Some(path) = &self.save {
            save::write_folder(path, |folder| {
                self.fill(folder, (ranking, judged), (controllers, found), model)
            })?;
            saved.push(path);
        }
        Ok(saved)
    }

    /// Fills the folder of `--save`.
    fn fill(
        &self,
        folder: &Path,
        (ranking, judged): (&Ranking, Vec<Judged>),
        (controllers, found): (&[Controller], &[Found]),
        model: &ModelFile,
    ) -> Result<(), Error> {
        let fitted = folder.join(MODEL);
        if self.model.is_none() {
            model.write(&fitted)?;
        }
        let model = self.model.as_deref().unwrap_or(&fitted);
        let mut text = object(ranking, found)?.to_string();
        text.push('\n');
        write_whole(&folder.join("ranking.json"), text.as_bytes())?;
        for one in judged {
            let of = controllers.iter().zip(found);
            let mut of = of.filter(|(own, _)| own.name == one.name);
            let Some((controller, file)) = of.next() else {
                continue;
            };
            let mut inputs = self.inputs(
                vec![file.path.as_path()],
                &[&controller.policy],
                Some(model),
            )?;
            for input in &mut inputs.files {
                // Where it will be, once the folder has its name.
                if let (true, Some(place)) = (Path::new(&input.path) == fitted, &self.save) {
                    input.path = place.join(MODEL).display().to_string();
                }
            }
            let run = SavedRun::new(inputs, one.outcome);
            run.write(&folder.join(format!("{}.run.json", one.name)))?;
        }
        Ok(())
    }

    /// What went in.
    fn inputs(
        &self,
        policies: Vec<&Path>,
        parts: &[&HostPolicy],
        model: Option<&Path>,
    ) -> Result<Inputs, Error> {
        let mut files = vec![("task", self.task.as_path())];
        files.extend(model.map(|path| ("model", path)));
        files.extend(policies.into_iter().map(|path| ("policy", path)));
        files.extend(self.case.logs());
        inputs::inputs(&files, parts)
    }
}

/// The ranking for programs, with the files it is about.
fn object(ranking: &Ranking, found: &[Found]) -> Result<serde_json::Value, Error> {
    let mut object = serde_json::to_value(ranking).map_err(std::io::Error::other)?;
    let rows = object["controllers"].as_array_mut();
    for row in rows.into_iter().flatten() {
        let own = found.iter().find(|one| row["name"] == one.name.as_str());
        if let Some(own) = own {
            row["policy"] = own.path.display().to_string().into();
        }
    }
    Ok(object)
}
