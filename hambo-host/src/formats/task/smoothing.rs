//! Smoothing widths of the comparisons, from the log.

use hambo_core::expression::{Comparison, Inputs};

use super::TaskFile;
use crate::foundation::one_lane::one_lane;

impl TaskFile {
    /// Sets the width of every comparison to the mean of |right - left| over the rows
    /// (state, action, next state) of a log.
    ///
    /// The widths guide the adversary's search only; no reported number depends on them.
    /// A comparison keeps its width where that mean is 0 or there is none.
    pub fn fit_smoothing<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (&'a [f32], &'a [f32], &'a [f32])>,
    ) {
        let Ok(program) = self.program() else {
            return;
        };
        let mut sums = vec![(0.0_f64, 0_u64); program.len()];
        let mut values = vec![[0.0_f32]; program.len()];
        for (state, action, next) in rows {
            let inputs = Inputs {
                state: one_lane(state),
                action: one_lane(action),
                next: one_lane(next),
            };
            program.evaluate(Comparison::Exact, inputs, &mut values);
            for ((sum, count), op) in sums.iter_mut().zip(program.ops()) {
                let Some((left, right)) = op.comparison_sides() else {
                    continue;
                };
                let at = |slot: u16| values.get(usize::from(slot)).map_or(f32::NAN, |row| row[0]);
                let distance = (f64::from(at(right)) - f64::from(at(left))).abs();
                if distance.is_finite() {
                    *sum += distance;
                    *count += 1;
                }
            }
        }
        for (op, (sum, count)) in self.ops.iter_mut().zip(sums) {
            let mean = (sum / count as f64) as f32;
            if mean.is_finite() && mean > 0.0 {
                *op = op.with_comparison_width(mean);
            }
        }
    }
}
