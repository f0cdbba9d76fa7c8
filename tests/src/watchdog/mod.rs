//! The gate on a board with a watchdog, driving a point, with a debugger that starves or breaks
//! it and an observer of the output-enable line.

mod board;
mod qmp;

pub use board::{Board, Contents, Heard, Moment, StopInReply};
pub use qmp::Qmp;
