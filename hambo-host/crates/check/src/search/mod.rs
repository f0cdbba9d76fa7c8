//! The core's check and search over all processor cores, and where a search begins.

pub mod findings;
mod neighbours;
pub mod parallel;
pub mod restarts;
pub mod worst_start;
