//! `hambo task`: a first task file from a log, and a task held against a log.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use hambo_base::Error;
use hambo_base::files::write_whole;
use hambo_data::{LoggedRows, draft, review};
use hambo_task::task::TaskFile;

/// What `hambo task` does.
#[derive(Subcommand)]
pub enum TaskCommand {
    /// Write a first task file from a log: names, ranges, starts and horizon; the reward
    /// is left to you.
    ///
    /// Example: hambo task new --from run1.csv run2.csv -o task.toml
    New(NewArguments),
    /// Hold a task against a log: rewards, limits, terminations and starts. Exit code 0:
    /// they agree; 1: they do not.
    ///
    /// Example: hambo task check task.toml --data log.csv
    Check(TaskCheckArguments),
}

/// What `hambo task new` takes.
#[derive(Args)]
pub struct NewArguments {
    /// The log: CSV, NPZ, HDF5 (D4RL or Minari) or Parquet; several files count as one.
    /// In a table a state `x` has a column `next.x`, and every other column is an action;
    /// arrays have no names and get s0, s1, …, a0, a1, …
    #[arg(long, required = true, num_args = 1..)]
    from: Vec<PathBuf>,
    /// Names of the actions, where no `next.NAME` tells them apart, or for arrays.
    #[arg(long, value_delimiter = ',')]
    actions: Vec<String>,
    /// The task's name; without it that of the first log.
    #[arg(long)]
    name: Option<String>,
    /// The file to write; without it the text is printed.
    #[arg(short, long)]
    output: Option<PathBuf>,
}

/// What `hambo task check` takes.
#[derive(Args)]
pub struct TaskCheckArguments {
    /// The task file.
    task: PathBuf,
    /// The log: CSV or Parquet with the task's names, NPZ or HDF5 in the task's order;
    /// several files count as one, and no episode runs across.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// One JSON object instead of the text.
    #[arg(long)]
    json: bool,
}

/// Runs a subcommand; returns the exit code.
///
/// # Errors
/// If an input is bad.
pub fn run(command: &TaskCommand, out: &mut impl Write) -> Result<u8, Error> {
    match command {
        TaskCommand::New(arguments) => new(arguments, out),
        TaskCommand::Check(arguments) => check(arguments, out),
    }
}

fn new(arguments: &NewArguments, out: &mut impl Write) -> Result<u8, Error> {
    if let Some(path) = arguments.output.as_ref().filter(|path| path.exists()) {
        return Err(Error::Usage(format!(
            "{} is there already\nhelp: choose another file; a task is never overwritten",
            path.display()
        )));
    }
    let log = LoggedRows::discover(&arguments.from, &arguments.actions)?;
    let stem = arguments.from.first().and_then(|path| path.file_stem());
    let stem = stem.unwrap_or_default().to_string_lossy();
    let text = draft(&log, arguments.name.as_deref().unwrap_or(&stem));
    match &arguments.output {
        Some(path) => {
            write_whole(path, text.as_bytes())?;
            writeln!(out, "saved {}; fill in its reward", path.display())?;
        }
        None => write!(out, "{text}")?,
    }
    Ok(0)
}

fn check(arguments: &TaskCheckArguments, out: &mut impl Write) -> Result<u8, Error> {
    let task = TaskFile::read(&arguments.task)?;
    let log = LoggedRows::read(&arguments.data, &task.names())?;
    let review = review(&task, &log)?;
    if arguments.json {
        let object = serde_json::json!({
            "task": arguments.task,
            "data": arguments.data,
            "rows": review.rows,
            "episodes": review.episodes,
            "ok": review.ok,
            "findings": review.findings,
        });
        writeln!(out, "{object}")?;
    } else {
        write!(out, "{}", review.text())?;
    }
    Ok(u8::from(!review.ok))
}
