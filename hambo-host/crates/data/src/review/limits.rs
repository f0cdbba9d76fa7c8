//! Whether the log keeps to the task's limits and horizon, wraps where the task says so, and
//! explores.

use super::reviewer::{Evidence, Reviewer};
use crate::draft::LoggedRow;
use crate::inspect::{StateAction, WrapHint, explorations_of, wrap_line};

/// How far beyond a limit a number may be, as a part of the range: rounding.
const LIMIT_TOLERANCE: f32 = 1e-5;

impl Reviewer<'_> {
    /// Jumps of an angle that the task does not call one.
    pub(super) fn wraps(&mut self, hints: &[WrapHint]) {
        let task = self.task;
        let line = wrap_line(&task.state_names, &task.wraps, hints);
        for hint in hints {
            let text = format!("does not name a state that seems to wrap: {}", hint.seen());
            let help = format!("if it is an angle, write into [state]: {line}");
            self.warning("state.wrap", text, &help);
        }
    }

    pub(super) fn limits(&mut self) {
        let task = self.task;
        let infinite = |sign: f32| vec![sign * f32::INFINITY; task.state_names.len()];
        let low = task.state_low.clone().unwrap_or(infinite(-1.0));
        let high = task.state_high.clone().unwrap_or(infinite(1.0));
        self.within("state", &task.state_names, (&low, &high), |row| {
            [Some(row.state.as_slice()), row.next_state.as_deref()]
        });
        let limits = (task.action_low.as_slice(), task.action_high.as_slice());
        self.within("action", &task.action_names, limits, |row| {
            [Some(row.action.as_slice()), None]
        });
    }

    fn within(
        &mut self,
        part: &str,
        names: &[String],
        (low, high): (&[f32], &[f32]),
        vectors: impl Fn(&LoggedRow) -> [Option<&[f32]>; 2],
    ) {
        let log = self.log;
        for (index, (name, (low, high))) in names.iter().zip(low.iter().zip(high)).enumerate() {
            let room = (high - low).min(1e30) * LIMIT_TOLERANCE;
            let rows = log.rows.iter().enumerate();
            let worst: Vec<Evidence> = rows
                .filter_map(|(number, row)| {
                    let values = vectors(row).into_iter().flatten();
                    let beyond = values.filter_map(|vector| {
                        let x = *vector.get(index)?;
                        let limit = x.clamp(*low, *high);
                        Some(((x - limit).abs(), x, limit))
                    });
                    let (gap, logged, task) = beyond.max_by(|a, b| a.0.total_cmp(&b.0))?;
                    (gap > room).then_some(Evidence {
                        gap,
                        row: number,
                        logged,
                        task,
                    })
                })
                .collect();
            if !worst.is_empty() {
                let count = worst.len();
                let text = format!("of {name} are {low} to {high}: {count} rows are beyond them");
                let help = "widen the limits to what the robot can do, or mend the log";
                self.problem(&format!("{part}.low, {part}.high"), text, help, worst);
            }
        }
    }

    pub(super) fn horizon(&mut self) {
        let longest = self.log.episode_lengths().into_iter().max().unwrap_or(0);
        let horizon = self.task.horizon;
        if usize::try_from(horizon).is_ok_and(|horizon| horizon > longest) {
            let text = format!("is {horizon}, and the longest episode has {longest} steps");
            self.note("horizon", text);
        }
    }

    /// Whether states decide the actions.
    pub(super) fn exploration(&mut self) {
        let rows = self.log.rows.iter();
        let rows = rows.map(|row| StateAction::new(&row.state, &row.action));
        let found = explorations_of(rows.collect());
        for (name, found) in self.log.actions.iter().zip(found) {
            if let Some(text) = found.and_then(|found| found.warning(name)) {
                self.note("action", text);
            }
        }
    }
}
