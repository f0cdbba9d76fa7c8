//! A task compared with a log.
//!
//! A check is only as good as its task: a reward that is not the logged one, or limits that the
//! robot breaks every day, make a bound on something else. [`review`] finds where the two disagree.

mod compare;
mod constraints;
mod dynamics;
mod finding;
mod limits;
mod reviewer;
mod rewards;
mod starts;

#[cfg(test)]
mod tests;

pub use compare::review;
pub use finding::{Finding, Review, WorstRow};
