//! The rows of a log that have a next state, and numbers of a row.

use super::rows::LoggedRows;

/// From s and a to s′.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) state: &'a [f32],
    pub(super) action: &'a [f32],
    pub(super) next: &'a [f32],
}

impl LoggedRows {
    pub(super) fn steps(&self) -> impl Iterator<Item = Step<'_>> + Clone {
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

/// Least and largest of some numbers; `None` without any.
pub(crate) fn range(numbers: impl IntoIterator<Item = f32>) -> Option<(f32, f32)> {
    let numbers = numbers.into_iter();
    numbers.fold(None, |range, x| {
        let (low, high) = range.unwrap_or((x, x));
        Some((low.min(x), high.max(x)))
    })
}
