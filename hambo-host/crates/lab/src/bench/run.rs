//! Runs the contests, ours and the peer in turn.

use super::contest::Contest;
use super::peer::BenchError;
use super::peer::Peer;
use super::table::BenchRow;
use super::{cholesky, rollout, soft_actor_critic, training_step};
use hambo_base::Error;
use rayon::ThreadPoolBuilder;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

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

/// Threads of a peer may look for more work a while before they sleep; we
/// start after that.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// Every contest: what is done, in plain words, and how it is set up.
pub(super) const CONTESTS: [(&str, SetUp); 5] = [
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

pub(super) type SetUp = fn() -> Result<Contest, Error>;

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

pub(super) fn compete(
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
