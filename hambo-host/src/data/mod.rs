//! Logged transitions: the table in memory, its split, and the files it comes
//! from.

mod csv_file;
mod error;
mod log;
mod split;

pub use csv_file::read_csv;
pub use error::DataError;
pub use log::{Log, LogError, Transition};
pub use split::{MINIMUM_EPISODES, Split};
