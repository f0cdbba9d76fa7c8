//! The other side: a Python process that runs once for each line it reads.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::contest::Contest;
use hambo_base::error::Explained;

/// What can go wrong with a peer.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// Nothing to measure.
    #[error("no contest has \"{only}\" in its name; there are:\n  {}", .names.join("\n  "))]
    NoContest {
        /// What was looked for.
        only: String,
        /// All of them.
        names: Vec<&'static str>,
    },
    /// No Python.
    #[error("{} does not start: {source}; name another with --python", .python.display())]
    Start {
        /// What was started.
        python: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It stopped, most likely for want of a package.
    #[error(
        "the {peer} side stopped (its message is above); if a package is missing: pip install -r benches/requirements.txt"
    )]
    Stopped {
        /// Whose code it runs.
        peer: &'static str,
    },
    /// Our side failed.
    #[error("our side's result is not finite; report this")]
    NotFinite,
    /// Threads of our own.
    #[error("no threads: {0}")]
    Threads(rayon::ThreadPoolBuildError),
}

impl Explained for BenchError {}

/// A running peer; it ends with its input.
pub(super) struct Peer {
    name: &'static str,
    process: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// Where the libraries below PyTorch and SciPy look for a number of threads.
const THREAD_VARIABLES: [&str; 3] = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"];

impl Peer {
    pub(super) fn start(
        contest: &Contest,
        python: &Path,
        threads: usize,
    ) -> Result<Self, BenchError> {
        let start_error = |source| BenchError::Start {
            python: python.to_owned(),
            source,
        };
        let numbers = std::iter::once(&threads).chain(&contest.sizes);
        let mut process = Command::new(python)
            .args(["-c", contest.script])
            .args(numbers.map(usize::to_string))
            .envs(THREAD_VARIABLES.map(|name| (name, threads.to_string())))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(start_error)?;
        let name = contest.peer;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (requests, answers) = pipes.ok_or(BenchError::Stopped { peer: name })?;
        let mut peer = Self {
            name,
            process,
            requests: Some(requests),
            answers: BufReader::new(answers),
        };
        // The first run shows that it works, and warms it up.
        peer.run()?;
        Ok(peer)
    }

    /// One run; its time in milliseconds, as the peer measured it.
    pub(super) fn run(&mut self) -> Result<f64, BenchError> {
        self.ask().ok_or(BenchError::Stopped { peer: self.name })
    }

    fn ask(&mut self) -> Option<f64> {
        let requests = self.requests.as_mut()?;
        requests.write_all(b"\n").ok()?;
        requests.flush().ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        line.trim().parse().ok()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.requests = None;
        let _ = self.process.wait();
    }
}
