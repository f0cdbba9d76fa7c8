//! Array jobs of Slurm, in chunks below the cluster's limit: written, submitted, watched, and
//! what a node has lost submitted again.

mod cluster;
mod script;

use std::path::Path;
use std::time::Duration;

use hambo_base::Error;
use hambo_base::observer::Observer;

use self::cluster::Cluster;
use self::script::{Array, job_name};
use super::told::{Told, report};
use super::{Ended, Job};

/// How often what is left is submitted again: Slurm itself requeues what a lost node ran.
const ROUNDS: usize = 3;
/// How often the queue is asked, at first and later.
const LOOK: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];
/// How often the observer is asked whether to go on.
const MOMENT: Duration = Duration::from_millis(200);

/// How Slurm is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmOptions {
    /// Options of sbatch.
    pub sbatch: Vec<String>,
    /// Cells of an array's task, one after the other.
    pub per_task: usize,
    /// Whether to wait for the end.
    pub wait: bool,
}

pub(super) fn run(
    options: &SlurmOptions,
    job: &Job<'_>,
    observer: &mut dyn Observer,
) -> Result<Ended, Error> {
    let folder = job.own_folder("slurm")?;
    let name = job_name(job.name, &folder);
    let cluster = Cluster::ask(&name)?;
    let all: usize = job.stages.iter().map(ExactSizeIterator::len).sum();
    for _ in 0..ROUNDS {
        // What an earlier call has submitted goes on, and is not submitted twice.
        let mut running = cluster.running()?;
        if running.is_empty() {
            if job.left()?.is_empty() {
                break;
            }
            running = submit(options, job, &cluster, (&name, &folder))?;
        }
        if !options.wait {
            return Ok(Ended {
                submitted: running,
                ..Ended::default()
            });
        }
        wait(&cluster, || {
            let left = job.left()?.len();
            report(observer, all - left, all)
        })?;
    }
    Ok(Ended {
        problems: problems(job, &folder)?,
        ..Ended::default()
    })
}

/// Writes and submits what is left; a stage waits for the jobs of the one before it.
fn submit(
    options: &SlurmOptions,
    job: &Job<'_>,
    cluster: &Cluster<'_>,
    (name, folder): (&str, &Path),
) -> Result<Vec<String>, Error> {
    let mut submitted: Vec<String> = Vec::new();
    let mut before: Vec<String> = Vec::new();
    for (stage, cells) in job.left_by_stage()?.iter().enumerate() {
        let tasks: Vec<&[usize]> = cells.chunks(options.per_task.max(1)).collect();
        let mut of_stage = Vec::new();
        for (chunk, tasks) in tasks.chunks(cluster.most_tasks()).enumerate() {
            let array = Array {
                name,
                program: job.words()?,
                cpus: job.cpus,
                tasks,
                options: &options.sbatch,
                after: &before,
            };
            let script = array.write(folder, &format!("stage-{stage}-chunk-{chunk}"))?;
            match cluster.submit(&script) {
                Ok(id) => of_stage.push(id),
                // A queue that is full takes the rest when these have ended.
                Err(_) if !submitted.is_empty() || !of_stage.is_empty() => {
                    submitted.extend(of_stage);
                    return Ok(submitted);
                }
                Err(error) => return Err(error),
            }
        }
        submitted.extend(of_stage.iter().cloned());
        before = of_stage;
    }
    Ok(submitted)
}

/// Until no job of ours is left in the queue.
fn wait(cluster: &Cluster<'_>, mut look: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    let [mut pause, longest] = LOOK;
    while !cluster.running()?.is_empty() {
        look()?;
        let mut slept = Duration::ZERO;
        while slept < pause {
            std::thread::sleep(MOMENT);
            slept += MOMENT;
            if slept.as_millis().is_multiple_of(1000) {
                look()?;
            }
        }
        pause = longest.min(pause * 2);
    }
    look()
}

/// What tasks said that ended without their results, under the first cell of each.
fn problems(job: &Job<'_>, folder: &Path) -> Result<Vec<(usize, String)>, Error> {
    let left = job.left()?;
    let mut told = Told::default();
    for entry in std::fs::read_dir(folder.join("errors"))
        .into_iter()
        .flatten()
    {
        let path = entry?.path();
        let cell = path.file_stem().and_then(|stem| stem.to_str());
        let Some(cell) = cell.and_then(|cell| cell.parse().ok()) else {
            continue;
        };
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if left.contains(&cell) && !text.trim().is_empty() {
            told.add(cell, &text);
        }
    }
    if let (true, Some(cell)) = (told.problems.is_empty(), left.first()) {
        told.add(
            *cell,
            "Slurm ended its task without a word: see sacct, or the log of slurmctld",
        );
    }
    told.problems.sort_unstable();
    Ok(told.problems)
}
