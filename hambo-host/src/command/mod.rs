//! The subcommands: what they take, and what they print.

mod board;
mod case;
pub mod check;
pub mod environment;
pub mod export;
pub mod fit;
pub mod model_info;
pub mod predict;
mod progress;
mod table;
pub mod task;
