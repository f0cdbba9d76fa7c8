//! From a log to a first task file, and a task held against its log.
//!
//! A check is only as good as its task: a reward that is not the logged one, or limits
//! that the robot breaks every day, make a bound on something else. [`draft`] writes
//! what a log can say of a task, [`review`] finds where the two disagree.

mod circles;
mod draft;
mod finding;
mod known;
mod known_fit;
mod known_form;
mod known_review;
mod review;
mod rows;
mod steps;
mod wraps;

#[cfg(test)]
mod circles_tests;
#[cfg(test)]
mod known_tests;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;

pub use draft::draft;
pub use finding::{Finding, Review, WorstRow};
pub use review::review;
pub use rows::{LoggedRow, LoggedRows};

/// Least and largest of some numbers; `None` without any.
fn range(numbers: impl IntoIterator<Item = f32>) -> Option<(f32, f32)> {
    let numbers = numbers.into_iter();
    numbers.fold(None, |range, x| {
        let (low, high) = range.unwrap_or((x, x));
        Some((low.min(x), high.max(x)))
    })
}
