//! What `hambo` shows and reads on a terminal: a line of progress, Ctrl-C, the time that is left,
//! numbers of the command line.
//!
//! Stands on `hambo-base`.

mod estimate;
pub mod line;
pub mod number;
mod pulse;
pub mod terminal;

/// Exit code after Ctrl-C, as shells know it.
pub const INTERRUPTED: u8 = 130;
