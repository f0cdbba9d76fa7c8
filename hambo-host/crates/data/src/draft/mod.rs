//! From a log to a first task file: names, limits, states that wrap, pairs on a circle, next
//! states that follow exactly, and states that stop.

mod circles;
mod known;
mod known_fit;
mod known_form;
mod rows;
mod steps;
mod text;
mod walls;
mod wraps;

#[cfg(test)]
mod circles_tests;
#[cfg(test)]
mod known_tests;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;

pub use rows::{LoggedRow, LoggedRows};
#[cfg(test)]
pub(crate) use simulated::{File, LOG};
pub(crate) use steps::range;
pub use text::{DraftOptions, DraftReward, draft, draft_with};
