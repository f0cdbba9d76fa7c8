//! The core's check and search over all processor cores, and where a search begins.

mod ahead;
pub mod findings;
mod groups;
pub mod logged_starts;
mod neighbours;
pub mod parallel;
pub mod restarts;
mod start_slope;
pub mod worst_start;

pub(crate) use groups::rows_needed;
