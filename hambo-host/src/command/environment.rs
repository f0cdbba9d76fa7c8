//! `hambo env`: built-in systems, logs of them, and true returns.

use std::io::Write;
use std::path::PathBuf;

use crate::Error;
use crate::check::number::Number;
use crate::environment::{ENVIRONMENTS, named, rollout};
use crate::formats::policy::HostPolicy;
use crate::foundation::output::{OutputKind, hold_output};
use clap::{Args, Subcommand};

use super::number::whole;
use super::train::{self, TrainArguments};

/// What `hambo env` does.
#[derive(Subcommand)]
pub enum EnvironmentCommand {
    /// The built-in systems.
    ///
    /// Example: hambo env list
    List,
    /// Drive a system with a controller: a log, and the true return.
    ///
    /// Example: hambo env rollout pendulum --policy pd.toml --episodes 20 -o log.csv
    Rollout(RolloutArguments),
    /// Train a controller on a system by soft actor-critic.
    ///
    /// Example: hambo env train pendulum --steps 10000 -o swing.onnx
    Train(TrainArguments),
}

/// What `hambo env rollout` takes.
#[derive(Args)]
pub struct RolloutArguments {
    /// The system's name; see `hambo env list`.
    environment: String,
    /// The policy file (TOML or ONNX).
    #[arg(long)]
    policy: PathBuf,
    /// Episodes of the task's horizon.
    #[arg(long, default_value_t = 10, value_parser = whole::<u32>)]
    episodes: u32,
    /// Standard deviation of noise on the actions, as a part of half their
    /// range.
    #[arg(long, default_value_t = 0.0)]
    action_noise: f32,
    /// Seed of the episodes.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// The log to write (CSV).
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// One JSON object instead of the text.
    #[arg(long)]
    json: bool,
}

/// Runs a subcommand.
///
/// # Errors
/// If an input is bad.
pub fn run(command: &EnvironmentCommand, out: &mut impl Write) -> Result<(), Error> {
    match command {
        EnvironmentCommand::List => {
            for (name, what) in ENVIRONMENTS {
                let environment = named(name)?;
                let task = environment.task();
                writeln!(
                    out,
                    "{name:14} {what}; states {}, actions {}, {} steps",
                    task.state_names.join(" "),
                    task.action_names.join(" "),
                    task.horizon
                )?;
            }
            Ok(())
        }
        EnvironmentCommand::Rollout(arguments) => drive(arguments, out),
        EnvironmentCommand::Train(arguments) => train::run(arguments, out),
    }
}

fn drive(arguments: &RolloutArguments, out: &mut impl Write) -> Result<(), Error> {
    let environment = named(&arguments.environment)?;
    if arguments.episodes == 0 {
        return Err(Error::Usage("--episodes 0: give at least 1".to_owned()));
    }
    if !(arguments.action_noise >= 0.0 && arguments.action_noise.is_finite()) {
        let text = "--action-noise: give a number that is not negative";
        return Err(Error::Usage(text.to_owned()));
    }
    if let Some(path) = &arguments.output {
        hold_output(path, OutputKind::Log)?;
    }
    let task = environment.task();
    let policy = HostPolicy::read(&arguments.policy, task)?;
    let run = rollout(
        environment.as_ref(),
        &policy,
        arguments.episodes,
        arguments.action_noise,
        arguments.seed,
    )?;
    if let Some(path) = &arguments.output {
        run.log
            .write_csv(path, &task.state_names, &task.action_names)?;
    }
    let count = run.returns.len() as f64;
    let mean = run.returns.iter().sum::<f64>() / count;
    let squares = run.returns.iter().map(|value| (value - mean).powi(2));
    let error = (squares.sum::<f64>() / (count - 1.0).max(1.0) / count).sqrt();
    if arguments.json {
        let object = serde_json::json!({
            "environment": arguments.environment,
            "policy": arguments.policy,
            "episodes": arguments.episodes,
            "transitions": run.log.len(),
            "seed": arguments.seed,
            "mean": mean,
            "std_error": error,
            "returns": run.returns,
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    writeln!(
        out,
        "{}: {} episodes, return {:.3} ± {:.3} (standard error)",
        arguments.environment,
        arguments.episodes,
        Number(mean),
        Number(error)
    )?;
    if let Some(path) = &arguments.output {
        writeln!(
            out,
            "saved {} transitions in {}",
            run.log.len(),
            path.display()
        )?;
    }
    Ok(())
}
