//! `hambo sweep`: many fits and checks as cells, on this machine, on Ray or on Slurm.

mod cell;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use hambo_base::Error;
use hambo_console::line::Line;
use hambo_console::number::{at_least_one, whole};
use hambo_sweep::engine::{Ended, Engine, Job, LocalOptions, RayOptions, SlurmOptions};
use hambo_sweep::folder::SweepFolder;
use hambo_sweep::gather::gather;
use hambo_sweep::keep::forget_parts;
use hambo_sweep::plan::Sweep;

use self::cell::InProcess;
use crate::exit_code::BAD_INPUT;
use crate::words;

/// What `hambo sweep` takes.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct SweepArguments {
    #[command(subcommand)]
    command: Option<SweepCommand>,
    /// The plan (TOML): task, data, policies, and what to vary.
    #[arg(required = true)]
    plan: Option<PathBuf>,
    /// The sweep's folder, for models, rows, table and page; the next call goes on where this one
    /// ended [default: the plan's name with .sweep].
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Who works the cells off.
    #[arg(long, value_enum, default_value = "local")]
    engine: EngineName,
    /// Processors of a cell.
    #[arg(long, default_value_t = 1, value_parser = at_least_one::<usize>)]
    cpus: usize,
    /// Show what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    ray: RayArguments,
    #[command(flatten)]
    slurm: SlurmArguments,
}

#[derive(Args)]
#[command(next_help_heading = "Ray")]
struct RayArguments {
    /// A cluster that runs: HOST:PORT, ray://HOST:PORT or auto; without it one is started here.
    #[arg(long)]
    address: Option<String>,
    /// The Python that has Ray.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
}

#[derive(Args)]
#[command(next_help_heading = "Slurm")]
struct SlurmArguments {
    /// An option of sbatch, such as --sbatch=--partition=long; may be given several times.
    #[arg(long, allow_hyphen_values = true, value_name = "OPTION")]
    sbatch: Vec<String>,
    /// Cells of a task of an array job, one after the other.
    #[arg(long, default_value_t = 1, value_parser = at_least_one::<usize>)]
    per_task: usize,
    /// Submit, and do not wait; the same call later waits, and submits what was lost.
    #[arg(long)]
    no_wait: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Processes on this machine, as many as --threads.
    Local,
    /// Tasks on Ray.
    Ray,
    /// Array jobs of Slurm.
    Slurm,
}

#[derive(Subcommand)]
enum SweepCommand {
    /// One table (Parquet, CSV) and one page of all rows.
    ///
    /// Exit code 0: every cell is there and none failed; 2: otherwise.
    ///
    /// Example: hambo sweep gather plan.sweep
    Gather(GatherArguments),
    /// Work off single cells, as every engine does.
    ///
    /// Example: hambo sweep cell plan.sweep 0 1 2
    Cell(CellArguments),
}

#[derive(Args)]
struct GatherArguments {
    /// The sweep's folder.
    folder: PathBuf,
    /// One JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct CellArguments {
    /// The sweep's folder.
    folder: PathBuf,
    /// Numbers of cells.
    #[arg(required = true, value_parser = whole::<usize>)]
    cells: Vec<usize>,
}

/// Runs a sweep, one of its cells, or gathers its rows; returns the exit code.
///
/// # Errors
/// If the plan or a file of it is bad, or an engine does not answer; what is there stays.
pub fn run(arguments: &SweepArguments, out: &mut impl Write) -> Result<u8, Error> {
    match (&arguments.command, &arguments.plan) {
        (Some(SweepCommand::Gather(arguments)), _) => gathered(arguments, out),
        (Some(SweepCommand::Cell(arguments)), _) => {
            let folder = SweepFolder::open(&arguments.folder)?;
            for cell in &arguments.cells {
                hambo_sweep::work::work(&folder, *cell, &InProcess)?;
            }
            Ok(0)
        }
        (None, Some(plan)) => arguments.sweep(plan, out),
        (None, None) => Ok(0),
    }
}

impl SweepArguments {
    fn sweep(&self, plan: &Path, out: &mut impl Write) -> Result<u8, Error> {
        self.ensure_options()?;
        let sweep = Sweep::read(plan, &InProcess)?;
        let counts = sweep.counts();
        writeln!(
            out,
            "{} cells: {} fits ({} models × {} log sizes × {} seeds), {} checks ({} controllers × {} horizons each)",
            counts.cells(),
            counts.fits(),
            counts.models,
            counts.sizes,
            counts.seeds,
            counts.checks(),
            counts.policies,
            counts.horizons
        )?;
        if self.dry_run {
            return Ok(0);
        }
        out.flush()?;
        let root = self.root(plan);
        let folder = SweepFolder::make(&root, sweep)?;
        let done = || folder.done();
        let job = Job {
            name: &folder.sweep().name,
            program: self.program(&folder)?,
            stages: counts.stages().into(),
            done: &done,
            folder: folder.root(),
            cpus: self.cpus,
        };
        let mut line = Line::begin_with_pulse();
        let ended = self.engine().run(&job, &mut line);
        line.finish();
        let ended = ended?;
        if ended.left.is_empty() {
            forget_parts(folder.root());
        }
        tell(&ended, counts.cells(), &root, out)
    }

    /// Flags that say something to an engine that is not asked.
    fn ensure_options(&self) -> Result<(), Error> {
        let slurm = !self.slurm.sbatch.is_empty() || self.slurm.no_wait || self.slurm.per_task > 1;
        let wrong = match self.engine {
            EngineName::Ray => slurm.then_some("--sbatch, --per-task and --no-wait are for slurm"),
            EngineName::Slurm => self.ray.address.is_some().then_some("--address is for ray"),
            EngineName::Local if self.ray.address.is_some() => Some("--address is for ray"),
            EngineName::Local => {
                slurm.then_some("--sbatch, --per-task and --no-wait are for slurm")
            }
        };
        match wrong {
            Some(text) => Err(Error::Usage(format!("{text}\nhelp: give --engine too"))),
            None => Ok(()),
        }
    }

    /// Where the sweep is.
    fn root(&self, plan: &Path) -> PathBuf {
        match &self.output {
            Some(path) => path.clone(),
            None => plan.with_extension("sweep"),
        }
    }

    fn engine(&self) -> Engine {
        let workers = (rayon::current_num_threads() / self.cpus).max(1);
        match self.engine {
            EngineName::Local => Engine::Local(LocalOptions { workers }),
            EngineName::Ray => Engine::Ray(RayOptions {
                address: self.ray.address.clone(),
                python: self.ray.python.clone(),
                workers,
            }),
            EngineName::Slurm => Engine::Slurm(SlurmOptions {
                sbatch: self.slurm.sbatch.clone(),
                per_task: self.slurm.per_task,
                wait: !self.slurm.no_wait,
            }),
        }
    }

    /// The command line of a cell, without its number.
    fn program(&self, folder: &SweepFolder) -> Result<Vec<OsString>, Error> {
        let mut program = own_program()?;
        let threads = format!("--threads={}", self.cpus);
        let words = ["sweep", "cell", "--quiet", &threads];
        program.extend(words.map(OsString::from));
        program.push(folder.root().into());
        Ok(program)
    }
}

/// How to start this program again: from the module for Python it is a script beside Python.
fn own_program() -> Result<Vec<OsString>, Error> {
    let this = std::env::current_exe()?;
    let is_python = this
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("python"));
    if !is_python {
        return Ok(vec![this.into_os_string()]);
    }
    let script = words::kept().next().map(PathBuf::from);
    Ok(
        match script.filter(|path| path.is_absolute() && path.is_file()) {
            Some(script) => vec![script.into_os_string()],
            None => {
                let words = ["-m", "hambo"].map(OsString::from);
                std::iter::once(this.into_os_string())
                    .chain(words)
                    .collect()
            }
        },
    )
}

/// Says how the cells ended; returns the exit code.
fn tell(ended: &Ended, cells: usize, root: &Path, out: &mut impl Write) -> Result<u8, Error> {
    if !ended.submitted.is_empty() {
        writeln!(
            out,
            "submitted: jobs {}; the same call without --no-wait waits for them",
            ended.submitted.join(", ")
        )?;
        return Ok(0);
    }
    for (cell, problem) in &ended.problems {
        writeln!(out, "cell {cell}: {problem}")?;
    }
    let done = cells - ended.left.len();
    writeln!(out, "{done} of {cells} cells are done")?;
    let root = root.display();
    if ended.left.is_empty() {
        writeln!(out, "table and page: hambo sweep gather {root}")?;
        return Ok(0);
    }
    writeln!(
        out,
        "the same call works off the other {}",
        ended.left.len()
    )?;
    Ok(BAD_INPUT)
}

fn gathered(arguments: &GatherArguments, out: &mut impl Write) -> Result<u8, Error> {
    let folder = SweepFolder::open(&arguments.folder)?;
    let gathered = gather(&folder)?;
    let code = match (gathered.missing, gathered.failed) {
        (0, 0) => 0,
        _ => BAD_INPUT,
    };
    if arguments.json {
        let object = serde_json::json!({
            "cells": gathered.cells,
            "fitted": gathered.fitted,
            "verdicts": gathered.verdicts,
            "failed": gathered.failed,
            "missing": gathered.missing,
            "files": gathered.files,
        });
        writeln!(out, "{object}")?;
        return Ok(code);
    }
    let checks: usize = gathered.verdicts.values().sum();
    let verdicts = gathered.verdicts.iter();
    let verdicts: Vec<String> = verdicts.map(|(word, n)| format!("{word} {n}")).collect();
    writeln!(
        out,
        "{} cells: {} models, {checks} checks ({}), {} failed, {} missing",
        gathered.cells,
        gathered.fitted,
        verdicts.join(", "),
        gathered.failed,
        gathered.missing
    )?;
    for file in &gathered.files {
        // As the folder was given: what is printed can be typed.
        let name = file.file_name().unwrap_or_default();
        writeln!(out, "saved {}", arguments.folder.join(name).display())?;
    }
    Ok(code)
}
