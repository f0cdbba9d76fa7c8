//! Smoothing widths of the comparisons, from the log.

use hambo_core::task::expression::{Comparison, Inputs};

use super::bounds::{action_limits, state_limits, step_numbers};
use super::task_file::TaskFile;
use crate::expression::interval::bounds::Interval;
use crate::expression::interval::tape::{InputIntervals, tape_intervals};
use hambo_base::one_lane::one_lane;

/// A row of a log: state, action and next state.
pub type Row<'a> = (&'a [f32], &'a [f32], &'a [f32]);

impl TaskFile {
    /// Sets the width of every comparison to the mean of |right - left| over the rows
    /// (state, action, next state) of a log.
    ///
    /// The widths guide the adversary's search only; no reported number depends on them.
    /// Where that mean is 0 or there is none, the width is half the range that right - left
    /// can have: over the box around the rows, or else over the task's limits. Without any of
    /// these the comparison keeps its width.
    pub fn fit_smoothing<'a>(&mut self, rows: impl IntoIterator<Item = Row<'a>>) {
        let Ok(program) = self.program() else {
            return;
        };
        let mut distances = vec![(0.0_f64, 0_u64); program.len()];
        let mut values = vec![[0.0_f32]; program.len()];
        let mut logged = LoggedBox::default();
        // Where in its episode a row was is not said: any step may be.
        for (step, row) in (0..self.horizon).cycle().zip(rows) {
            logged.add(row);
            let (state, action, next) = row;
            let inputs = Inputs {
                state: one_lane(state),
                action: one_lane(action),
                next: one_lane(next),
                step: step as f32,
            };
            program.evaluate(Comparison::Exact, inputs, &mut values);
            for ((sum, count), op) in distances.iter_mut().zip(program.ops()) {
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
        let (states, actions) = (state_limits(self), action_limits(self));
        let boxes = [
            tape_intervals(&self.ops, logged.intervals(step_numbers(self))),
            tape_intervals(
                &self.ops,
                InputIntervals {
                    state: &states,
                    action: &actions,
                    next: &states,
                    step: step_numbers(self),
                },
            ),
        ];
        for (op, (sum, count)) in self.ops.iter_mut().zip(distances) {
            let Some(sides) = op.comparison_sides() else {
                continue;
            };
            let mean = sum / count as f64;
            let ranges = boxes.iter().filter_map(|slots| half_range(slots, sides));
            let width = [mean].into_iter().chain(ranges).map(|width| width as f32);
            let width = { width }.find(|width| width.is_finite() && *width > 0.0);
            if let Some(width) = width {
                *op = op.with_comparison_width(width);
            }
        }
    }
}

/// Half the range of the difference of two slots.
fn half_range(slots: &[Interval], (left, right): (u16, u16)) -> Option<f64> {
    let at = |slot: u16| slots.get(usize::from(slot)).copied();
    Some(0.5 * at(right)?.minus(at(left)?).width())
}

/// The box around the rows of a log.
#[derive(Default)]
struct LoggedBox {
    state: Vec<Interval>,
    action: Vec<Interval>,
    next: Vec<Interval>,
}

impl LoggedBox {
    fn add(&mut self, (state, action, next): Row<'_>) {
        for (intervals, numbers) in [
            (&mut self.state, state),
            (&mut self.action, action),
            (&mut self.next, next),
        ] {
            if intervals.is_empty() {
                intervals.extend(numbers.iter().copied().map(Interval::point));
            }
            for (interval, number) in intervals.iter_mut().zip(numbers) {
                *interval = interval.hull(Interval::point(*number));
            }
        }
    }

    fn intervals(&self, step: Interval) -> InputIntervals<'_> {
        InputIntervals {
            state: &self.state,
            action: &self.action,
            next: &self.next,
            step,
        }
    }
}
