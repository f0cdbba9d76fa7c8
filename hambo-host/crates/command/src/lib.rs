//! The `hambo` command: what its subcommands take, and what they print.
//!
//! Goes in: the command line. Comes out: text or JSON, and an exit code. May
//! use: every district; no other district uses this one.

mod allocation;
mod asked;
mod backtest;
mod board;
mod bundle;
pub mod call;
mod case;
mod check;
mod data;
mod device;
mod device_effort;
mod exit_code;
mod export;
mod fit;
mod floor;
mod global;
mod improve;
mod inputs;
mod key;
mod manual;
mod model_info;
mod monitor;
mod predict;
mod rank;
mod report;
mod settings;
mod sweep;
mod table;
mod task;
mod words;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use self::backtest::BacktestArguments;
use self::bundle::BundleCommand;
use self::check::CheckArguments;
use self::data::DataCommand;
use self::device::DeviceCommand;
use self::exit_code::{BAD_INPUT, NOT_READ};
use self::export::ExportArguments;
use self::fit::FitArguments;
use self::floor::FloorArguments;
use self::global::GlobalArguments;
use self::improve::ImproveArguments;
use self::key::KeyCommand;
use self::manual::{CompletionsArguments, ManArguments};
use self::model_info::ModelInfoArguments;
use self::monitor::MonitorArguments;
use self::predict::PredictArguments;
use self::rank::RankArguments;
use self::report::ReportArguments;
use self::settings::Settings;
use self::sweep::SweepArguments;
use self::task::TaskCommand;
use anstyle::{AnsiColor, Style};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use hambo_base::Error;
use hambo_console::INTERRUPTED;
use hambo_console::number::{at_least_one, whole, with_negative_numbers};
use hambo_lab::bench::{self, BenchOptions};
use hambo_lab::demo::{self, DemoOptions};
use hambo_lab::environment_command::{self, EnvironmentCommand};
use hambo_lab::reproduce::{self, ReproduceArguments};

/// Know, before a controller drives a robot, how badly it could go.
///
/// Example: hambo demo --output demo-output
#[derive(Parser)]
#[command(name = "hambo", version, after_long_help = settings::HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: GlobalArguments,
}

#[derive(Subcommand)]
enum Command {
    /// The whole story, from the log to the device.
    ///
    /// PointSafety: log, fit, check pi_1.1 and pi_1.6 on the host and on the device, study and picture.
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
        #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
        seed: u64,
    },
    /// Built-in systems: logs of them, and true returns.
    ///
    /// Example: hambo env list
    #[command(subcommand)]
    Env(EnvironmentCommand),
    /// Look at logs and convert them.
    ///
    /// Example: hambo data info log.csv
    #[command(subcommand)]
    Data(DataCommand),
    /// Learn a dynamics model with calibrated uncertainty from a log.
    ///
    /// Example: hambo fit task.toml --data log.csv --model gp -o m.hambo
    Fit(Box<FitArguments>),
    /// The verdict on a controller: a lower bound on its return and on each
    /// constraint.
    ///
    /// Exit code 0: deploy, or no threshold; 1: reject; 3: abstain, also
    /// without a threshold.
    ///
    /// Example: hambo check task.toml --model m.hambo --policy pd.toml
    Check(CheckArguments),
    /// Which of several controllers to try first.
    ///
    /// And which not at all. One model, one log, one table: the verdict, the
    /// lower bounds of `hambo check` by several adversaries, what the mean
    /// model expects, and one short reason each. The bounds share delta, so
    /// that all hold together.
    ///
    /// The order of two controllers is settled where the lower bound of one
    /// lies above every estimate of the other's return, that of the mean model
    /// among them. A place like `2 to 4` is not settled.
    ///
    /// Exit code 0: the first deploys, or there is no threshold; 1: all that
    /// can be judged are rejected; 3: all abstain.
    ///
    /// Example: hambo rank task.toml --data log.csv --policies controllers
    Rank(Box<RankArguments>),
    /// Hold a model against a log over several steps.
    ///
    /// Do the logged paths stay where adversary and noise can lead?
    /// Exit code 0: passed; 1: failed; 3: too few episodes.
    ///
    /// Example: hambo backtest task.toml --model m.hambo --data log.csv
    Backtest(BacktestArguments),
    /// What the monitor on the robot would have done over a log.
    ///
    /// A robot that is as the model says is stopped with a probability of at most alpha.
    /// Exit code 0: no episode was stopped; 1: some were.
    ///
    /// Example: hambo monitor task.toml --model m.hambo --data log.csv
    Monitor(MonitorArguments),
    /// Many fits and checks: here, on Ray, on Slurm.
    ///
    /// Controllers × models × seeds × log sizes × horizons as cells, each one command line: a cell
    /// that is done is skipped, and one that is lost is worked off by the next call. The same table
    /// to the bit, whoever works it off.
    ///
    /// Exit code 0: every cell has its row (hambo sweep gather says which failed); 2: some have none.
    ///
    /// Example: hambo sweep plan.toml --engine local
    Sweep(Box<SweepArguments>),
    /// Put model, task and policy into a device image.
    ///
    /// Example: hambo export m.hambo --task task.toml --policy pd.toml -o image.hmb
    Export(ExportArguments),
    /// What a robot asks of every bundle.
    ///
    /// A bundle that asks for less than its robot does is refused, whatever it says of itself.
    ///
    /// Example: hambo floor task.toml --model m.hambo --data log.csv -o robot.floor
    Floor(FloorArguments),
    /// Keys that sign bundles and floors.
    ///
    /// One signs controllers' bundles, another the robot's floor.
    ///
    /// Example: hambo key new controllers
    #[command(subcommand)]
    Key(KeyCommand),
    /// Who signed a bundle or a floor.
    ///
    /// Example: hambo bundle verify image.hmb --key controllers.pub
    #[command(subcommand)]
    Bundle(BundleCommand),
    /// The firmware under QEMU.
    ///
    /// Example: hambo device drive image.hmb --env pendulum --firmware hambo-gate
    #[command(subcommand)]
    Device(DeviceCommand),
    /// Learn a controller from a log alone: the best worst case.
    ///
    /// The worst case is that of an adversary inside the model's uncertainty.
    ///
    /// Example: hambo improve task.toml --data log.csv -o better.onnx
    Improve(ImproveArguments),
    /// Look at model files.
    ///
    /// Example: hambo model info m.hambo
    #[command(subcommand)]
    Model(ModelCommand),
    /// Mean and standard deviations for the rows of a file.
    ///
    /// The epistemic and the aleatoric one.
    ///
    /// Example: hambo predict m.hambo --data log.csv -o predictions.csv
    Predict(PredictArguments),
    /// A first task file from a log, or one held against a log.
    ///
    /// Example: hambo task check task.toml --data log.csv
    #[command(subcommand)]
    Task(TaskCommand),
    /// One page about a check: the verdict and what it rests on.
    ///
    /// It needs no other file. The run comes from `hambo check … --save run.json`.
    ///
    /// Example: hambo report run.json -o report.html
    Report(ReportArguments),
    /// The paper's figures and table beside the true returns.
    ///
    /// Logs, models and checks of its systems.
    ///
    /// Example: hambo reproduce fig2 --quick
    Reproduce(ReproduceArguments),
    /// Speed as ratios to PyTorch and SciPy in the same run.
    ///
    /// Example: hambo bench --threads 1,2 --only rollouts
    Bench {
        /// Only the contests whose names hold these words.
        #[arg(long)]
        only: Option<String>,
        /// The Python that has the packages of benches/requirements.txt.
        #[arg(long, default_value = "python3")]
        python: PathBuf,
        /// Numbers of threads, for us and for the peers alike.
        #[arg(long, value_delimiter = ',', default_values_t = [1, 2],
            value_parser = at_least_one::<usize>)]
        threads: Vec<usize>,
        /// Runs of each side.
        #[arg(long, default_value_t = 21, value_parser = at_least_one::<usize>)]
        rounds: usize,
        /// One JSON object instead of the table.
        #[arg(long)]
        json: bool,
    },
    /// Completions for a shell.
    ///
    /// Example: hambo completions bash
    Completions(CompletionsArguments),
    /// A manual page for every subcommand.
    ///
    /// Example: hambo man -o man1
    Man(ManArguments),
}

#[derive(Subcommand)]
enum ModelCommand {
    /// Sizes, training, hyperparameters, theory constants and calibration.
    ///
    /// Example: hambo model info m.hambo
    Info(ModelInfoArguments),
}

/// How `hambo:` before an error looks on a terminal.
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(main_of(std::env::args_os().collect()))
}

/// Runs a command line, the program's name first; returns the exit code. Sets up the whole
/// process, as a program's `main` does: threads, traces and Ctrl-C.
#[must_use]
pub fn main_of(words: Vec<OsString>) -> u8 {
    words::keep(&words);
    // Colours are for terminals, and not with NO_COLOR; else they are taken out.
    let mut out = Output {
        to: anstream::stdout().lock(),
        reader_has_gone: false,
    };
    let settings = Settings::find(&words);
    let command = match &settings {
        Ok(settings) => settings.apply(Arguments::command()),
        Err(_) => Arguments::command(),
    };
    // Help and bad usage end the program here, even where the settings are bad.
    let arguments = match parsed(command, words) {
        Ok(arguments) => arguments,
        Err(problem) => {
            // Nobody may be left to be told.
            let _ = problem.print();
            return u8::try_from(problem.exit_code()).unwrap_or(BAD_INPUT);
        }
    };
    let started = settings.and_then(|_| arguments.global.start());
    let code = started.and_then(|()| run(arguments.command, &mut out));
    match code.and_then(|code| Ok(out.flush().map(|()| code)?)) {
        Ok(code) => code,
        Err(Error::Interrupted) => {
            anstream::eprintln!(
                "{ERROR}hambo:{ERROR:#} interrupted; nothing was overwritten. Networks go on with --resume"
            );
            INTERRUPTED
        }
        // Nobody is left to tell.
        Err(_) if out.reader_has_gone => NOT_READ,
        Err(error) => {
            anstream::eprintln!("{ERROR}hambo:{ERROR:#} {error}");
            BAD_INPUT
        }
    }
}

/// What a command line asks for.
fn parsed(command: clap::Command, words: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let matches = with_negative_numbers(command).try_get_matches_from(words)?;
    Arguments::from_arg_matches(&matches)
}

/// Where a command writes to; notices when nobody reads on.
struct Output<W> {
    to: W,
    reader_has_gone: bool,
}

impl<W> Output<W> {
    fn look<T>(&mut self, written: io::Result<T>) -> io::Result<T> {
        let gone = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        self.reader_has_gone |= written.as_ref().is_err_and(gone);
        written
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes);
        self.look(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.to.flush();
        self.look(written)
    }
}

/// Runs a subcommand; returns the exit code.
fn run(command: Command, out: &mut impl Write) -> Result<u8, Error> {
    match command {
        Command::Backtest(arguments) => return backtest::run(&arguments, out),
        Command::Bundle(command) => return bundle::run(&command, out),
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
        Command::Device(command) => return device::run(&command, out),
        Command::Env(command) => environment_command::run(&command, out)?,
        Command::Export(arguments) => export::run(&arguments, out)?,
        Command::Floor(arguments) => floor::run(&arguments, out)?,
        Command::Key(command) => key::run(&command, out)?,
        Command::Fit(arguments) => fit::run(&arguments, out)?,
        Command::Improve(arguments) => improve::run(&arguments, out)?,
        Command::Model(ModelCommand::Info(arguments)) => model_info::run(&arguments, out)?,
        Command::Monitor(arguments) => return monitor::run(&arguments, out),
        Command::Predict(arguments) => predict::run(&arguments, out)?,
        Command::Rank(arguments) => return rank::run(&arguments, out),
        Command::Sweep(arguments) => return sweep::run(&arguments, out),
        Command::Report(arguments) => report::run(&arguments, out)?,
        Command::Reproduce(arguments) => reproduce::run(&arguments, out)?,
        Command::Bench {
            only,
            python,
            threads,
            rounds,
            json,
        } => {
            let options = BenchOptions {
                only,
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
        Command::Completions(arguments) => {
            manual::completions(&arguments, Arguments::command(), out)?;
        }
        Command::Man(arguments) => manual::man(&arguments, Arguments::command(), out)?,
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its path, and its help as a user reads it.
    fn helps(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
        let path = format!("{path} {}", command.get_name());
        let about = command.get_long_about().or_else(|| command.get_about());
        found.push((
            path.clone(),
            about.map(ToString::to_string).unwrap_or_default(),
        ));
        for subcommand in command.get_subcommands() {
            helps(subcommand, &path, found);
        }
    }

    #[test]
    fn every_help_has_an_example_that_parses() {
        Arguments::command().debug_assert();
        let mut found = Vec::new();
        helps(&Arguments::command(), "", &mut found);
        assert!(found.len() > 20, "{}", found.len());
        for (path, help) in found {
            let example = help.lines().find_map(|line| line.strip_prefix("Example: "));
            let example = example.unwrap_or_else(|| panic!("`{path}` has no example: {help}"));
            assert!(example.starts_with(path.trim()), "`{path}`: {example}");
            let parsed = Arguments::command().try_get_matches_from(example.split(' '));
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
        }
    }
}
