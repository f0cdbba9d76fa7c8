//! Whether the log covers where the task starts.

use hambo_core::check::FEWEST_STARTS;
use hambo_task::task::{Initial, TaskFile};

use super::reviewer::Reviewer;
use crate::draft::range;
use crate::log::distinct_states;

/// Standard deviations from the mean of a Gaussian start that are no longer chance.
const FAR: f32 = 5.0;

impl Reviewer<'_> {
    pub(super) fn starts(&mut self) {
        let task = self.task;
        let log = self.log;
        if let Initial::Data { always } = task.initial {
            let count = distinct_states(log.first_rows().map(|(_, row)| row.state.as_slice()));
            let text = format!("has {count} different first states in the log");
            if count < FEWEST_STARTS && !always {
                let text = format!("{text}, and a check needs {FEWEST_STARTS}");
                let help = "log more episodes, or say that the robot always starts there: initial.always = true";
                self.warning("initial", text, help);
            } else {
                self.note("initial", text);
            }
        }
        // How far a first state is from where the task starts.
        let off = |index: usize, x: f32| {
            let at = |numbers: &[f32]| numbers.get(index).copied().unwrap_or(f32::NAN);
            let inside = match &task.initial {
                Initial::Data { .. } => x,
                Initial::Point(value) => at(value),
                Initial::Uniform { low, high } | Initial::Worst { low, high } => {
                    x.max(at(low)).min(at(high))
                }
                Initial::Gaussian { mean, std } => {
                    let reach = FAR * at(std);
                    x.max(at(mean) - reach).min(at(mean) + reach)
                }
            };
            (x - inside).abs()
        };
        for (index, name) in task.state_names.iter().enumerate() {
            let column = log.rows.iter().filter_map(|row| row.state.get(index));
            let Some((least, most)) = range(column.copied()) else {
                continue;
            };
            let room = (most - least) * 1e-3;
            let outside = log.first_rows().filter(|(_, row)| {
                let x = row.state.get(index);
                x.is_some_and(|x| off(index, near_start(task, index, *x)) > room)
            });
            let (count, all) = (outside.count(), log.episodes());
            if count > 0 {
                let text = format!(
                    "is narrower than the log: {count} of {all} episodes start outside it, by \
                     {name}; that is good practice"
                );
                self.note("initial", text);
            }
            let ends = match &task.initial {
                Initial::Uniform { low, high } | Initial::Worst { low, high } => {
                    low.get(index).zip(high.get(index))
                }
                Initial::Point(value) => value.get(index).zip(value.get(index)),
                Initial::Gaussian { mean, .. } => mean.get(index).zip(mean.get(index)),
                Initial::Data { .. } => None,
            };
            let inside = |x: &f32| match task.wraps.get(index) {
                Some(Some(wrap)) => wrap.inside(*x),
                _ => *x,
            };
            let ends = ends.map(|(low, high)| (inside(low), inside(high)));
            let logged = |x: f32| x >= least - room && x <= most + room;
            if let Some((low, high)) = ends.filter(|(low, high)| !(logged(*low) && logged(*high))) {
                let text = format!(
                    "starts {name} at {low} to {high}, where the log ({least} to {most}) has no data"
                );
                let help =
                    "log from there too, or start where the log is: a check outside it abstains";
                self.problem("initial", text, help, Vec::new());
            }
        }
    }
}

/// A first state of the log, moved by whole periods to where the task starts.
pub(crate) fn near_start(task: &TaskFile, index: usize, x: f32) -> f32 {
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
