//! One contest: the work that both sides can do.

use std::time::Duration;

use hambo_base::Error;
use rayon::ThreadPool;

/// Work that both sides can do.
pub(super) struct Contest {
    /// Whose code the peer runs.
    pub(super) peer: &'static str,
    /// The peer's program.
    pub(super) script: &'static str,
    /// The sizes that it is told after the number of threads.
    pub(super) sizes: Vec<usize>,
    /// The most of the peer's time that we may take, if there is a limit.
    pub(super) limit: Option<f64>,
    /// Our side on as many threads as the pool has; measures itself.
    pub(super) ours: Box<Ours>,
}

pub(super) type Ours = dyn FnMut(&ThreadPool) -> Result<Duration, Error>;
