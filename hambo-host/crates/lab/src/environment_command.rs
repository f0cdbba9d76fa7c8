//! `hambo env`: built-in systems, logs of them, and true returns.

use std::io::Write;
use std::path::PathBuf;

use super::environment::mujoco::{GET_MUJOCO, HAS_MUJOCO, MUJOCO_ENVIRONMENTS};
use super::environment::named::{ENVIRONMENTS, named};
use super::environment::rollout::rollout_for;
use clap::{Args, Subcommand};
use hambo_base::Error;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_check::number::Number;
use hambo_data::{Format, OutputOptions, write_table};
use hambo_task::policy::HostPolicy;

use super::train::{self, TrainArguments};
use hambo_console::number::{at_least_one, whole};

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
    /// Steps of an episode, instead of the task's.
    #[arg(long, value_parser = at_least_one::<u32>)]
    horizon: Option<u32>,
    /// Standard deviation of noise on the actions, as a part of half their
    /// range.
    #[arg(long, default_value_t = 0.0)]
    action_noise: f32,
    /// Seed of the episodes.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// The log to write: .csv, .npz, .hdf5 or .parquet.
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
            let built: &[_] = if HAS_MUJOCO {
                &MUJOCO_ENVIRONMENTS
            } else {
                &[]
            };
            for (name, what) in ENVIRONMENTS.iter().chain(built) {
                let environment = named(name)?;
                let task = environment.task();
                writeln!(
                    out,
                    "{name:15} {what}; states {}, actions {}, {} steps",
                    task.logged_states().join(" "),
                    task.action_names.join(" "),
                    task.horizon
                )?;
            }
            if !HAS_MUJOCO {
                for (name, what) in MUJOCO_ENVIRONMENTS {
                    writeln!(out, "{name:15} {what}; {GET_MUJOCO}")?;
                }
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
        ensure_output(path, OutputKind::Log)?;
    }
    let format = arguments.output.as_deref().map(|path| {
        // A name without one of the known ends has always been CSV.
        Format::of_name(path).unwrap_or(Format::Csv)
    });
    let task = environment.task();
    let policy = HostPolicy::read(&arguments.policy, task)?;
    let run = rollout_for(
        arguments.horizon.unwrap_or(task.horizon),
        environment.as_ref(),
        &policy,
        arguments.episodes,
        arguments.action_noise,
        arguments.seed,
    )?;
    if let (Some(path), Some(format)) = (&arguments.output, format) {
        let options = OutputOptions {
            format,
            minari: false,
            compress: false,
        };
        write_table(path, &run.table(environment.as_ref()), options)?;
    }
    let truth = run.mean_return();
    if arguments.json {
        let object = serde_json::json!({
            "environment": arguments.environment,
            "policy": arguments.policy,
            "episodes": arguments.episodes,
            "transitions": run.log.len(),
            "terminated": run.terminated.iter().filter(|ended| **ended).count(),
            "seed": arguments.seed,
            "mean": truth.mean,
            "std_error": truth.std_error,
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
        Number(truth.mean),
        Number(truth.std_error)
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
