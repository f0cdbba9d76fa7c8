//! Speed, as ratios to peers that run in turn with us.
//!
//! Times on a machine that does other work mean little; the ratio of two
//! short runs, one right after the other, repeated, means more. So a peer is a
//! Python process that stays alive and runs when asked.

mod cholesky;
mod peer;
mod rollout;
mod soft_actor_critic;
mod table;
mod training_step;

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

pub use peer::BenchError;
use rayon::{ThreadPool, ThreadPoolBuilder};
pub use table::{BenchRow, json, table};

use hambo_base::Error;
use peer::Peer;

/// What is measured, and how often.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// Only contests whose names hold these words.
    pub only: Option<String>,
    /// The Python that has the peers' packages.
    pub python: PathBuf,
    /// Numbers of threads, for us and for the peer alike.
    pub threads: Vec<usize>,
    /// Runs of each side.
    pub rounds: usize,
}

/// Work that both sides can do.
struct Contest {
    /// Whose code the peer runs.
    peer: &'static str,
    /// The peer's program.
    script: &'static str,
    /// The sizes that it is told after the number of threads.
    sizes: Vec<usize>,
    /// The most of the peer's time that we may take, if there is a limit.
    limit: Option<f64>,
    /// Our side on as many threads as the pool has; measures itself.
    ours: Box<Ours>,
}

type Ours = dyn FnMut(&ThreadPool) -> Result<Duration, Error>;

/// Threads of a peer may look for more work a while before they sleep; we
/// start after that.
const PAUSE: Duration = Duration::from_millis(100);

/// Every contest: what is done, in plain words, and how it is set up.
const CONTESTS: [(&str, SetUp); 5] = [
    (
        "rollouts: 5 trained networks of 4 × 256, 1000 trajectories of 50 steps",
        rollout::trained,
    ),
    ("rollouts with random weights", rollout::random),
    (
        "training step: 5 networks of 4 × 256, batch 256",
        training_step::contest,
    ),
    (
        "soft actor-critic step: 2 × 256, batch 256",
        soft_actor_critic::contest,
    ),
    (
        "Cholesky factor of 2000 × 2000 numbers in f64",
        cholesky::contest,
    ),
];

type SetUp = fn() -> Result<Contest, Error>;

/// Runs the contests with every number of threads.
///
/// # Errors
/// If no contest has the wanted words in its name, or if Python, a package or one of
/// our sides fails.
pub fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, Error> {
    let mut rows = Vec::new();
    let wanted = |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only));
    for (name, set_up) in CONTESTS.into_iter().filter(|(name, _)| wanted(name)) {
        let mut contest = set_up()?;
        for threads in &options.threads {
            rows.push(compete(name, &mut contest, options, *threads)?);
        }
    }
    match &options.only {
        Some(only) if rows.is_empty() => Err(BenchError::NoContest {
            only: only.clone(),
            names: CONTESTS.iter().map(|(name, _)| *name).collect(),
        }
        .into()),
        _ => Ok(rows),
    }
}

fn compete(
    name: &'static str,
    contest: &mut Contest,
    options: &BenchOptions,
    threads: usize,
) -> Result<BenchRow, Error> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(BenchError::Threads)?;
    let mut peer = Peer::start(contest, &options.python, threads)?;
    let mut ours = || (contest.ours)(&pool);
    ours()?;
    let mut pairs = Vec::new();
    for _ in 0..options.rounds.max(1) {
        let theirs = peer.run()?;
        sleep(PAUSE);
        pairs.push((ours()?.as_secs_f64() * 1000.0, theirs));
    }
    Ok(BenchRow::new(
        name,
        contest.peer,
        threads,
        contest.limit,
        &pairs,
    ))
}
