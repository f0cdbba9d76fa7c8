//! `hambo env train`: soft actor-critic on a true system.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::environment::named::named;
use super::environment::rollout::rollout;
use crate::environment_problem::EnvironmentProblem;
use clap::Args;
use hambo_base::Error;
use hambo_base::observer::{Observer, Progress};
use hambo_base::output::{OutputKind, ensure_output};
use hambo_check::number::Number;
use hambo_check::reinforcement::{
    LearningOptions, RoundReport, Rounds, SoftActorCritic, SoftActorCriticOptions,
    SoftActorCriticState, TrainedActor, Value,
};
use hambo_task::policy::{HostPolicy, PerceptronPolicy, for_task, onnx};
use hambo_task::task::TaskFile;

use hambo_console::number::{at_least_one, whole};
use hambo_console::terminal::Terminal;

/// What `hambo env train` takes.
#[derive(Args)]
pub struct TrainArguments {
    /// The system's name; see `hambo env list`.
    environment: String,
    /// Steps in the system, with one gradient step for each.
    #[arg(long, default_value_t = 10_000, value_parser = whole::<u32>)]
    steps: u32,
    /// Seed of the episodes and the learner.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// Widths of the hidden layers, as 64,64.
    #[arg(long, default_value = "256,256", value_delimiter = ',', value_parser = at_least_one::<usize>)]
    hidden: Vec<usize>,
    /// Steps after which the controller is kept each time, beside the output
    /// (swing-20000.onnx).
    #[arg(long, value_parser = at_least_one::<u32>)]
    snapshots: Option<u32>,
    /// Episodes that tell the true return at the end.
    #[arg(long, default_value_t = 100, value_parser = at_least_one::<u32>)]
    episodes: u32,
    /// The controller to write (ONNX).
    #[arg(short, long)]
    output: PathBuf,
    /// Go on from the checkpoint that an interrupted run left beside the
    /// output.
    #[arg(long)]
    resume: bool,
    /// One JSON object instead of the text.
    #[arg(long)]
    json: bool,
}

/// Episodes of random actions at first.
const RANDOM_EPISODES: u32 = 5;
/// Seeds of the final episodes, which nothing was learnt from.
const FRESH: u64 = 1 << 32;

/// Trains, drives and tells.
///
/// # Errors
/// If an input is bad or a number is not finite.
pub fn run(arguments: &TrainArguments, out: &mut impl Write) -> Result<(), Error> {
    ensure_output(&arguments.output, OutputKind::Network)?;
    let environment = named(&arguments.environment)?;
    let task = environment.task();
    let episodes = arguments.steps / task.horizon.max(1);
    if episodes <= RANDOM_EPISODES {
        return Err(Error::Usage(format!(
            "--steps {}: give at least {}, for {RANDOM_EPISODES} random episodes of {} steps and one more",
            arguments.steps,
            (RANDOM_EPISODES + 1) * task.horizon,
            task.horizon
        )));
    }
    let mut problem = EnvironmentProblem::new(environment.as_ref(), 1, arguments.seed);
    let learning = LearningOptions {
        hidden: arguments.hidden.clone(),
        value: Value::Endless { discount: 0.99 },
        rounds: Rounds {
            // Steps are counted.
            rounds: arguments.steps as usize,
            most_steps: Some(u64::from(arguments.steps)),
            episodes: 1,
            random_episodes: RANDOM_EPISODES as usize,
            // The last weights count: nothing is chosen by looking.
            evaluation_episodes: 0,
            ..Rounds::default()
        },
        batch: 256,
        seed: arguments.seed,
        ..LearningOptions::default()
    };
    let options = SoftActorCriticOptions {
        learning,
        // Steers the entropy within a few hundred steps.
        temperature_rate: 1e-3,
        ..SoftActorCriticOptions::default()
    };
    let mut terminal = Terminal::new(&arguments.output, "env train", arguments.resume);
    let observer: &mut dyn Observer = &mut terminal;
    let mut learner = if let Some(state) = observer.resumed::<SoftActorCriticState>()? {
        if *state.options() != options {
            let text = "the checkpoint was made with other options: give the same ones, or \
                        begin anew without --resume";
            return Err(Error::Usage(text.to_owned()));
        }
        SoftActorCritic::resume(&problem, state)?
    } else {
        SoftActorCritic::new(&problem, options)?
    };
    observer.report(Progress {
        done: learner.state().steps() as usize,
        planned: arguments.steps as usize,
        message: "training".to_owned(),
    })?;
    let mut kept = Snapshots::new(arguments, learner.state().steps());
    while let Some(report) = learner.round(&mut problem)? {
        kept.keep(&report, task, || learner.last_actor())?;
        observer.report_with_state(report.progress("controller"), || learner.state())?;
    }
    terminal.finish();
    let policy = learner.actor().policy(&task.action_low, &task.action_high);
    let fresh = arguments.seed.wrapping_add(FRESH);
    let driver = for_task(HostPolicy::Perceptron(policy.clone()), task);
    let run = rollout(
        environment.as_ref(),
        &driver,
        arguments.episodes,
        0.0,
        fresh,
    )?;
    let mean = run.mean_return().mean;
    let found = ("true_return", mean);
    write(
        &arguments.output,
        &policy,
        task,
        arguments.seed,
        u64::from(arguments.steps),
        found,
    )?;
    terminal.forget();
    if arguments.json {
        let object = serde_json::json!({
            "environment": arguments.environment,
            "steps": arguments.steps,
            "seed": arguments.seed,
            "episodes": run.returns.len(),
            "mean": mean,
            "output": arguments.output,
        });
        writeln!(out, "{object}")?;
    } else {
        writeln!(
            out,
            "{}: return {:.3} over {} episodes after {} steps\nsaved {}",
            arguments.environment,
            Number(mean),
            run.returns.len(),
            arguments.steps,
            arguments.output.display()
        )?;
    }
    Ok(())
}

/// Writes a controller with where it comes from.
fn write(
    path: &Path,
    policy: &PerceptronPolicy,
    task: &TaskFile,
    seed: u64,
    steps: u64,
    (kind, found): (&str, f64),
) -> Result<(), Error> {
    let notes = [
        ("task", task.name.clone()),
        ("seed", seed.to_string()),
        ("steps", steps.to_string()),
        (kind, found.to_string()),
        ("hambo", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let notes = notes.each_ref().map(|(key, value)| (*key, value.as_str()));
    Ok(onnx::write(path, policy, &notes)?)
}

/// Controllers on the way.
struct Snapshots<'a> {
    arguments: &'a TrainArguments,
    /// Steps before the next.
    steps: u64,
}

impl<'a> Snapshots<'a> {
    fn new(arguments: &'a TrainArguments, steps: u64) -> Self {
        Self { arguments, steps }
    }

    /// Keeps the current controller if a round has passed a multiple of the wanted steps.
    fn keep(
        &mut self,
        report: &RoundReport,
        task: &TaskFile,
        actor: impl FnOnce() -> TrainedActor,
    ) -> Result<(), Error> {
        let before = std::mem::replace(&mut self.steps, report.steps);
        let Some(every) = self.arguments.snapshots.map(u64::from) else {
            return Ok(());
        };
        let full = report.steps / every;
        if full == before / every {
            return Ok(());
        }
        let output = &self.arguments.output;
        let stem = output.file_stem().unwrap_or_default().to_string_lossy();
        let path = output.with_file_name(format!("{stem}-{}.onnx", full * every));
        let policy = actor().policy(&task.action_low, &task.action_high);
        let found = ("training_return", report.training_return);
        let seed = self.arguments.seed;
        write(&path, &policy, task, seed, report.steps, found)
    }
}
