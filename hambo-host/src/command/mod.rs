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
pub mod number;
pub mod predict;
mod progress;
pub mod report;
pub mod settings;
mod table;
pub mod task;
mod train;
