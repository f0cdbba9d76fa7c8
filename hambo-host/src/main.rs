//! The `hambo` command.

mod command;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use command::check::CheckArguments;
use command::data::DataCommand;
use command::environment::EnvironmentCommand;
use command::export::ExportArguments;
use command::fit::FitArguments;
use command::improve::ImproveArguments;
use command::model_info::ModelInfoArguments;
use command::predict::PredictArguments;
use command::report::ReportArguments;
use command::task::TaskCommand;
use command::{check, data, environment, export, fit, improve, model_info, predict, report, task};
use hambo_host::Error;
use hambo_host::bench::{self, BenchOptions};
use hambo_host::demo::{self, DemoOptions};

/// Know, before a controller drives a robot, how badly it could go.
#[derive(Parser)]
#[command(name = "hambo", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The whole story on PointSafety: log, fit, check pi_1.1 and pi_1.6 on
    /// the host and on the device, study and picture.
    ///
    /// Example: hambo demo --firmware hambo-gate --output demo-output
    Demo {
        /// The firmware's ELF file, as `cargo xtask firmware` prints it;
        /// without it nothing runs on the device.
        #[arg(long)]
        firmware: Option<PathBuf>,
        /// Folder for the log, the model, the images and the pictures.
        #[arg(long, default_value = "demo-output")]
        output: PathBuf,
        /// Seed of the log, the training and the check.
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Built-in systems: logs of them, and true returns.
    #[command(subcommand)]
    Env(EnvironmentCommand),
    /// Look at logs and convert them.
    #[command(subcommand)]
    Data(DataCommand),
    /// Learn a dynamics model with calibrated uncertainty from a log.
    ///
    /// Example: hambo fit task.toml --data log.csv --model gp -o m.hambo
    Fit(Box<FitArguments>),
    /// The verdict on a controller: a lower bound on its return and on each
    /// constraint. Exit code 0: deploy, or no threshold; 1: reject; 3:
    /// abstain.
    ///
    /// Example: hambo check task.toml --model m.hambo --policy pd.toml
    Check(CheckArguments),
    /// Put model, task and policy into a device image.
    ///
    /// Example: hambo export m.hambo --task task.toml --policy pd.toml -o image.hmb
    Export(ExportArguments),
    /// Learn a controller from a log alone: the best worst case inside the
    /// model's uncertainty.
    ///
    /// Example: hambo improve task.toml --data log.csv -o better.onnx
    Improve(ImproveArguments),
    /// Look at model files.
    #[command(subcommand)]
    Model(ModelCommand),
    /// Mean, epistemic and aleatoric standard deviation for the rows of a file.
    ///
    /// Example: hambo predict m.hambo --data log.csv -o predictions.csv
    Predict(PredictArguments),
    /// Task files: a first one from a log, or one held against a log.
    #[command(subcommand)]
    Task(TaskCommand),
    /// One self-contained page about a check: the verdict and what it rests on.
    ///
    /// Example: hambo check task.toml --model m.hambo --policy pd.toml --save run.json;
    /// hambo report run.json -o report.html
    Report(ReportArguments),
    /// Speed as ratios to PyTorch and SciPy, measured in the same run.
    ///
    /// Example: hambo bench --threads 1,2
    Bench {
        /// The Python that has the packages of benches/requirements.txt.
        #[arg(long, default_value = "python3")]
        python: PathBuf,
        /// Numbers of threads, for us and for the peers alike.
        #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
        threads: Vec<usize>,
        /// Runs of each side.
        #[arg(long, default_value_t = 21)]
        rounds: usize,
        /// One JSON object instead of the table.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Subcommand)]
enum ModelCommand {
    /// Sizes, training, hyperparameters, theory constants and calibration.
    ///
    /// Example: hambo model info m.hambo
    Info(ModelInfoArguments),
}

/// Exit code for bad usage and bad input.
const BAD_INPUT: u8 = 2;
/// Exit code after Ctrl-C, as shells know it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let mut out = io::stdout().lock();
    let code = run(Arguments::parse().command, &mut out);
    match code.and_then(|code| Ok(out.flush().map(|()| code)?)) {
        Ok(code) => ExitCode::from(code),
        Err(Error::Interrupted) => {
            eprintln!("hambo: interrupted; nothing was overwritten. Networks go on with --resume");
            ExitCode::from(INTERRUPTED)
        }
        Err(error) => {
            eprintln!("hambo: {error}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Runs a subcommand; returns the exit code.
fn run(command: Command, out: &mut impl Write) -> Result<u8, Error> {
    match command {
        Command::Check(arguments) => return check::run(&arguments, out),
        Command::Data(command) => data::run(&command, out)?,
        Command::Task(command) => return task::run(&command, out),
        Command::Demo {
            firmware,
            output,
            seed,
        } => {
            let options = DemoOptions {
                output,
                firmware,
                seed,
            };
            demo::run(&options, out)?;
        }
        Command::Env(command) => environment::run(&command, out)?,
        Command::Export(arguments) => export::run(&arguments, out)?,
        Command::Fit(arguments) => fit::run(&arguments, out)?,
        Command::Improve(arguments) => improve::run(&arguments, out)?,
        Command::Model(ModelCommand::Info(arguments)) => model_info::run(&arguments, out)?,
        Command::Predict(arguments) => predict::run(&arguments, out)?,
        Command::Report(arguments) => report::run(&arguments, out)?,
        Command::Bench {
            python,
            threads,
            rounds,
            json,
        } => {
            let options = BenchOptions {
                python,
                threads,
                rounds,
            };
            let rows = bench::run(&options)?;
            let text = if json {
                bench::json(&rows)
            } else {
                bench::table(&rows)
            };
            writeln!(out, "{}", text.trim_end())?;
        }
    }
    Ok(0)
}
