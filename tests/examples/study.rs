//! Works off a study, or says what its rows say; for `cargo xtask study`.
//!
//! `cargo run --release -p hambo-tests --example study -- coverage --summary`

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use hambo_base::observer::{Observer, Progress};
use hambo_base::study::Study;
use hambo_base::study::run::{Plan, run, summary};
use hambo_sweep::engine::{Engine, LocalOptions, RayOptions, SlurmOptions};
use hambo_sweep::plan::sha256;
use hambo_sweep::study::StudyJob;
use hambo_tests::study::{named, release};

const USAGE: &str = "\
Usage: study NAME [--cells N] [--every N] [--minutes M] [--threads N] [--summary]
       study NAME --engine local|ray|slurm [--cells N] [--every N] [--threads N]
                  [--address A] [--python P] [--sbatch OPTION]

  NAME         coverage, focused, broken, backtest, known, monitor, glitches, drive_flips, stop_in_reply, unplugged,
               sampling, bundle_flips, flash_changes, startup_skips or signature_skips; the rows go to studies/NAME.csv
  --cells N    only the first N cells
  --every N    only cells whose number N divides: a part that is like the whole
  --minutes M  begin no cell after M minutes; the next call goes on
  --threads N  cells side by side; without it as many as there are cores
  --summary    count and draw what the file holds
  --engine E   each cell a process of its own: on this machine, as a task on Ray (--address of a
               cluster, --python that has Ray) or in array jobs of Slurm (--sbatch, several times)";

/// Beyond this number of cells, progress is printed about this number of times.
const MANY: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let study: &dyn Study = words.next().as_deref().and_then(named).ok_or(USAGE)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut plan = Plan {
        cells: None,
        every: 1,
        time: None,
        threads: cores,
    };
    let mut summarise = false;
    let mut engine = EngineWords::default();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(USAGE);
        match word.as_str() {
            "--cells" => plan.cells = Some(value()?.parse()?),
            "--every" => plan.every = value()?.parse()?,
            "--minutes" => {
                plan.time = Some(Duration::from_secs_f64(60.0 * value()?.parse::<f64>()?));
            }
            "--threads" => plan.threads = value()?.parse()?,
            "--summary" => summarise = true,
            "--engine" => engine.name = Some(value()?),
            "--address" => engine.address = Some(value()?),
            "--python" => engine.python = Some(value()?),
            "--sbatch" => engine.sbatch.push(value()?),
            // What an engine calls.
            "--work" => {
                let (scratch, cell) = (value()?, value()?);
                let worked = hambo_sweep::study::work(study, Path::new(&scratch), cell.parse()?);
                release();
                return Ok(worked?);
            }
            _ => return Err(USAGE.into()),
        }
    }
    let folder = Path::new("studies");
    if summarise {
        println!("{}", summary(study, folder)?.text);
        return Ok(());
    }
    if let Some(name) = &engine.name {
        if plan.time.is_some() {
            return Err("--minutes is not for engines: give --cells or --every".into());
        }
        return on_engine(study, folder, &plan, &engine.engine(name, plan.threads)?);
    }
    let ran = run(study, folder, &plan, &|done, of| {
        if of < MANY || done % (of / MANY) == 0 {
            eprintln!("{}: {done} of {of} cells", study.name());
        }
        ControlFlow::Continue(())
    });
    release();
    Ok(ran?)
}

/// What the command line says of an engine.
#[derive(Default)]
struct EngineWords {
    name: Option<String>,
    address: Option<String>,
    python: Option<String>,
    sbatch: Vec<String>,
}

impl EngineWords {
    fn engine(&self, name: &str, workers: usize) -> Result<Engine, &'static str> {
        Ok(match name {
            "local" => Engine::Local(LocalOptions { workers }),
            "ray" => Engine::Ray(RayOptions {
                address: self.address.clone(),
                python: self.python.as_deref().unwrap_or("python3").into(),
                workers,
            }),
            "slurm" => Engine::Slurm(SlurmOptions {
                sbatch: self.sbatch.clone(),
                per_task: 1,
                wait: true,
            }),
            _ => return Err(USAGE),
        })
    }
}

/// Says now and then how many cells have ended.
struct Lines {
    name: &'static str,
    said: usize,
}

impl Observer for Lines {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        let (done, of) = (progress.done, progress.planned);
        if done != self.said && (of < MANY || done.is_multiple_of(of / MANY)) {
            self.said = done;
            eprintln!("{}: {done} of {of} cells", self.name);
        }
        ControlFlow::Continue(())
    }
}

/// Works off a study's cells by an engine. What a cell needs follows from this program alone, so
/// rows that are not added yet lie under its hash.
fn on_engine(
    study: &'static dyn Study,
    folder: &Path,
    plan: &Plan,
    engine: &Engine,
) -> Result<(), Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let hash = sha256(&std::fs::read(&program)?);
    let scratch = format!("target/studies/{}-{}", study.name(), &hash[..8]);
    std::fs::create_dir_all(&scratch)?;
    let scratch = Path::new(&scratch).canonicalize()?;
    let mut words = vec![program.into_os_string(), study.name().into()];
    words.extend(["--work".into(), scratch.clone().into_os_string()]);
    let job = StudyJob {
        study,
        folder,
        scratch: &scratch,
        program: words,
    };
    let mut lines = Lines {
        name: study.name(),
        said: usize::MAX,
    };
    let ended = hambo_sweep::study::run(&job, plan, engine, &mut lines)?;
    for (cell, problem) in &ended.problems {
        eprintln!("cell {cell}: {problem}");
    }
    if ended.left.is_empty() {
        return Ok(());
    }
    Err(format!("{} cells are left: the same call goes on", ended.left.len()).into())
}
