//! States that wrap, as the task says or as the log looks.

use hambo_task::task::Wrap;

use super::rows::LoggedRows;
use super::steps::at;
use crate::inspect::{WrapHint, wrap_hints};

impl LoggedRows {
    /// With states that wrap inside their intervals, as a check sees them.
    pub(crate) fn wrapped(mut self, wraps: &[Option<Wrap>]) -> Self {
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
    pub(crate) fn wrap_hints(&self, wraps: &[Option<Wrap>]) -> Vec<WrapHint> {
        wrap_hints(&self.states, wraps, |column| {
            self.steps()
                .filter_map(move |step| Some((at(step.state, column)?, at(step.next, column)?)))
        })
    }
}
