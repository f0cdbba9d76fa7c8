//! The subcommands: what they take, and what they print.

pub mod fit;
pub mod model_info;
mod progress;
mod table;
