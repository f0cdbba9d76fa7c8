//! States that wrap, as the task says or as the log looks.

use super::rows::LoggedRows;
use crate::{WrapHint, wrap_hint};
use hambo_task::task::{Initial, TaskFile, Wrap};

impl LoggedRows {
    /// With states that wrap inside their intervals, as a check sees them.
    pub(super) fn wrapped(mut self, wraps: &[Option<Wrap>]) -> Self {
        for row in &mut self.rows {
            for states in [Some(&mut row.state), row.next_state.as_mut()] {
                for (x, wrap) in states.into_iter().flatten().zip(wraps) {
                    *x = wrap.map_or(*x, |wrap| wrap.inside(*x));
                }
            }
        }
        self
    }

    /// States that seem to wrap, and of which `wraps` does not say so.
    pub(super) fn wrap_hints(&self, wraps: &[Option<Wrap>]) -> Vec<WrapHint> {
        let columns = self.states.iter().enumerate();
        let unsaid = columns.filter(|(column, _)| !matches!(wraps.get(*column), Some(Some(_))));
        let hints = unsaid.filter_map(|(column, name)| {
            wrap_hint(name, || {
                self.rows.iter().filter_map(move |row| {
                    let next = row.next_state.as_ref()?;
                    let [state, next] = [&row.state, next].map(|states| states.get(column));
                    Some((f64::from(*state?), f64::from(*next?)))
                })
            })
        });
        hints.collect()
    }
}

/// A first state of the log, moved by whole periods to where the task starts.
pub(super) fn near_start(task: &TaskFile, index: usize, x: f32) -> f32 {
    let Some(Some(wrap)) = task.wraps.get(index) else {
        return x;
    };
    let at = |numbers: &[f32]| numbers.get(index).copied();
    let middle = match &task.initial {
        Initial::Point(value) => at(value),
        Initial::Gaussian { mean, .. } => at(mean),
        Initial::Uniform { low, high } | Initial::Worst { low, high } => {
            at(low).zip(at(high)).map(|(a, b)| 0.5 * (a + b))
        }
        Initial::Data { .. } => None,
    };
    middle.map_or(x, |middle| wrap.next_to(x, middle))
}
