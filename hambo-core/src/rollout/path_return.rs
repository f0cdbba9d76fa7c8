//! The return of a path that is given instead of simulated: logged rows, by the
//! task's own reward and termination.

use crate::task::Task;
use crate::task::expression::{Comparison, Inputs};

/// Discounted rewards so far.
///
/// ```
/// use hambo_core::task::expression::Inputs;
/// use hambo_core::rollout::PathReturn;
/// let image = hambo_core::example::image()?;
/// let mut values = [[0.0]; 64];
/// let mut path = PathReturn::default();
/// let (state, action, next) = ([[0.5]], [[0.0]], [[0.25]]);
/// let step = Inputs { state: &state, action: &action, next: &next, step: 0.0 };
/// assert!(path.step(image.task(), step, &mut values));
/// assert!(path.value.is_finite());
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathReturn {
    /// Their sum.
    pub value: f32,
    /// Of the next one.
    weight: f32,
}

impl Default for PathReturn {
    fn default() -> Self {
        Self {
            value: 0.0,
            weight: 1.0,
        }
    }
}

impl PathReturn {
    /// Adds a step. `values` has room for the task's program. Returns whether the
    /// path goes on: false once the task terminates.
    pub fn step(
        &mut self,
        task: &Task<'_>,
        inputs: Inputs<'_, 1>,
        values: &mut [[f32; 1]],
    ) -> bool {
        task.program.evaluate(Comparison::Exact, inputs, values);
        let value = |slot: u16| values.get(usize::from(slot)).map_or(f32::NAN, |row| row[0]);
        self.value += self.weight * value(task.reward);
        self.weight *= task.discount;
        task.termination.is_none_or(|slot| value(slot) == 0.0)
    }
}
