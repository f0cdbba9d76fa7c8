//! Offline RL from a log alone: max over controllers of the min over
//! adversaries (section 5 of the paper).
//!
//! Two learners take turns on the hallucinated system, on short rollouts from
//! states of the log: soft actor-critic for the controller, and the
//! adversary's own learner against it. Now and then the controller is judged
//! as any other, on the task itself, by the core's check; the one with the
//! best lower bound is kept. One whose evidence is unfit or that breaks a
//! constraint loses against any that is sound, whatever its bound.
//!
//! Goes in: a task and a log. Comes out: a controller and its lower bound. May
//! use: `check` and below.

mod improvement;
mod log_rows;
mod options;

pub use improvement::{Candidate, ImproveState, Improved, improve};
pub use options::ImproveOptions;
