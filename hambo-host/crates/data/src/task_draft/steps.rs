//! The rows of a log that have a next state.

use super::rows::LoggedRows;

/// From s and a to s′.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) state: &'a [f32],
    pub(super) action: &'a [f32],
    pub(super) next: &'a [f32],
}

impl LoggedRows {
    pub(super) fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        self.rows.iter().filter_map(|row| {
            Some(Step {
                state: &row.state,
                action: &row.action,
                next: row.next_state.as_deref()?,
            })
        })
    }
}

/// One number of several.
pub(super) fn at(numbers: &[f32], column: usize) -> Option<f64> {
    numbers.get(column).copied().map(f64::from)
}

/// The standard deviation of some numbers, over their count; 0 without any.
pub(super) fn spread(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for x in numbers {
        count += 1.0;
        let from_old = x - mean;
        mean += from_old / count;
        squares += from_old * (x - mean);
    }
    if count > 0.0 {
        (squares / count).sqrt()
    } else {
        0.0
    }
}
