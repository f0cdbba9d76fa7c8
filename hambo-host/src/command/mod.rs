//! The subcommands: what they take, and what they print.

mod board;
mod case;
pub mod check;
pub mod data;
pub mod environment;
pub mod export;
pub mod fit;
pub mod global;
pub mod improve;
mod line;
pub mod manual;
pub mod model_info;
pub mod predict;
mod progress;
pub mod report;
pub mod settings;
mod table;
pub mod task;
mod train;

use clap::builder::RangedU64ValueParser;

/// Takes whole numbers from 1.
pub fn at_least_one() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}
