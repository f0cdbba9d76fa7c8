//! `hambo backtest`: the model's claim held against a log, several steps at once.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::exit_code::{ABSTAIN, REJECT};
use hambo_base::Error;
use hambo_check::case::ensure_model_fits;
use hambo_console::line::Line;
use hambo_console::number::{at_least_one, whole};
use hambo_data::{Log, LogPart, read_task_logs};
use hambo_learn::backtest::{Answer, Backtest, BacktestOptions, Verdict, backtest_with};
use hambo_learn::fit::ensure_corrections_agree;
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

/// What `hambo backtest` takes.
#[derive(Args)]
pub struct BacktestArguments {
    /// The task file (TOML).
    task: PathBuf,
    /// The model file of `hambo fit`.
    #[arg(long)]
    model: PathBuf,
    /// A log: of the one that the model was fitted to, only the episodes that were withheld
    /// and chose nothing are used; of another one, all. Several files count as one.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// The controller that made the log (ONNX or TOML): it acts on the model's states, and what
    /// was logged beside its actions is added. Without it the logged actions are replayed.
    #[arg(long)]
    behaviour: Option<PathBuf>,
    /// The share of windows that may fail; without one, the task's delta.
    #[arg(long)]
    delta: Option<f32>,
    /// The most windows of all lengths together.
    #[arg(long, default_value_t = 1000, value_parser = at_least_one::<usize>)]
    windows: usize,
    /// Seed of the noise.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// One JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

/// The object of `--json`.
#[derive(Serialize)]
struct Json<'a> {
    model: String,
    data: Vec<String>,
    withheld_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    behaviour: Option<String>,
    #[serde(flatten)]
    backtest: &'a Backtest,
}

/// Replays the log and prints what came of it. Exit code 0: passed; 1: failed; 3: too few
/// episodes.
///
/// # Errors
/// If an input is bad.
pub fn run(arguments: &BacktestArguments, out: &mut impl Write) -> Result<u8, Error> {
    let task = TaskFile::read(&arguments.task)?;
    let model = ModelFile::read(&arguments.model)?;
    ensure_model_fits(&task, &model)?;
    let log = read_task_logs(&arguments.data, &task)?;
    let delta = arguments.delta.unwrap_or(task.delta);
    if !(delta > 0.0 && delta < 1.0) {
        let text = format!("--delta: {delta} is no share\nhelp: give a number between 0 and 1");
        return Err(Error::Usage(text));
    }
    ensure_corrections_agree(&task, &log)?;
    let (rows, withheld_only) = untrained_rows(&model, &log);
    let behaviour = arguments.behaviour.as_ref();
    let behaviour = behaviour.map(|file| HostPolicy::read(file, &task));
    let behaviour = behaviour.transpose()?;
    let options = BacktestOptions {
        delta,
        windows: arguments.windows,
        seed: arguments.seed,
    };
    let mut line = Line::begin();
    let part = model.model_part();
    let behaviour = behaviour.as_ref();
    let found = backtest_with(&task, part, &rows, behaviour, &options, &mut line);
    line.finish();
    let found = found?;
    if arguments.json {
        let json = Json {
            model: arguments.model.display().to_string(),
            data: arguments
                .data
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
            withheld_only,
            behaviour: arguments
                .behaviour
                .as_ref()
                .map(|file| file.display().to_string()),
            backtest: &found,
        };
        serde_json::to_writer_pretty(&mut *out, &json).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(
            out,
            "{}: {} of {}",
            arguments.model.display(),
            counted(found.episodes, "episode"),
            if withheld_only {
                "the model's own log, withheld from training and calibration"
            } else {
                "another log than the model's"
            }
        )?;
        print(&found, out)?;
    }
    Ok(match found.verdict {
        Verdict::Passed => 0,
        Verdict::Failed { .. } => REJECT,
        Verdict::TooFewEpisodes { .. } => ABSTAIN,
    })
}

/// The rows that the model has not seen, and whether they are a part of its own log.
fn untrained_rows(model: &ModelFile, log: &Log) -> (LogPart, bool) {
    let data = &model.metadata().data;
    let hash: [u8; 32] = Sha256::digest(log.bytes()).into();
    if hash == data.hash {
        let part = LogPart::of_groups(log, &data.judging, data.split_by_episodes);
        let part = LogPart {
            stretches_count: data.stationary,
            ..part
        };
        (part, true)
    } else {
        (LogPart::whole(log), false)
    }
}

/// The table, and the verdict in a sentence.
pub(super) fn print(found: &Backtest, out: &mut impl Write) -> Result<(), Error> {
    writeln!(
        out,
        "  steps  windows  path in the tube  return above the quantile"
    )?;
    for of in &found.lengths {
        let answer = |answer: &Answer| {
            let mark = if answer.failed { " failed" } else { "" };
            format!("{:5.1} %{mark}", 100.0 * answer.share)
        };
        writeln!(
            out,
            "  {:5}  {:7}  {:<16}  {}",
            of.length,
            of.windows,
            answer(&of.path),
            answer(&of.returns)
        )?;
    }
    writeln!(out, "{}", sentence(found))?;
    let help = match found.verdict {
        Verdict::Passed => return Ok(()),
        Verdict::Failed { .. } => {
            "log what is missing (a state, a payload, a delay), or check with a horizon below that"
        }
        Verdict::TooFewEpisodes { .. } => "log more episodes, or give another log with --data",
    };
    writeln!(out, "help: {help}")?;
    Ok(())
}

/// The verdict in a sentence.
pub(super) fn sentence(found: &Backtest) -> String {
    let wanted = 100.0 * (1.0 - found.delta);
    match found.verdict {
        Verdict::Passed => format!("passed: nothing says that less than {wanted:.0} % hold"),
        Verdict::Failed { length } => format!(
            "failed: of windows of {} less than {wanted:.0} % hold. From that length on the model is blind to what happens",
            counted(length, "step")
        ),
        Verdict::TooFewEpisodes { needed } => format!(
            "too few episodes: {} judged, and a wrong model could have passed; {needed} would show it",
            found.episodes
        ),
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
