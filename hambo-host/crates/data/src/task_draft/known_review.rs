//! What a task says of its dynamics, held against a log.

use super::finding::WorstRow;
use super::review::Reviewer;
use crate::{KnownResidual, Log, Transition, circle_residuals, known_residuals};
use hambo_base::Error;

impl Reviewer<'_> {
    /// Known states and circles.
    pub(super) fn known(&mut self) -> Result<(), Error> {
        let view = self.task.model_view();
        let mut log = Log::new(view.states, view.actions);
        let mut numbers = Vec::new();
        for (number, row) in self.log.rows.iter().enumerate() {
            let Some(next_state) = &row.next_state else {
                continue;
            };
            log.push(Transition {
                state: &row.state,
                action: &row.action,
                next_state,
                reward: 0.0,
                episode: row.episode as u32,
            })?;
            numbers.push(number);
        }
        let name = |found: &KnownResidual| self.task.state_names.get(found.state).cloned();
        let (known, circles) = (known_residuals(&view, &log)?, circle_residuals(&view, &log));
        let known: Vec<(String, KnownResidual)> = known
            .into_iter()
            .map(|found| (name(&found).unwrap_or_default(), found))
            .collect();
        let circles: Vec<(String, KnownResidual)> = circles
            .into_iter()
            .map(|found| (name(&found).unwrap_or_default(), found))
            .collect();
        let worst = |found: &KnownResidual| WorstRow {
            row: numbers.get(found.row).copied().unwrap_or_default(),
            place: String::new(),
            logged: found.logged,
            task: found.computed,
        };
        let rows = log.len();
        for (name, found) in &known {
            let key = format!("known.{name}");
            let share = format!("{:.1e} of its standard deviation", found.share);
            if found.too_large {
                let text = format!("disagrees with the log by up to {share}; 1e-4 may be rounding");
                let help = "correct the expression, or leave the state to the model";
                self.problem(&key, text, help, vec![(0.0, worst(found))]);
            } else {
                self.note(&key, format!("holds in all {rows} rows, to {share}"));
            }
        }
        for (name, found) in &circles {
            let (key, far) = ("state.circle", format!("{:.1e}", found.share));
            if found.too_large {
                let text = format!("of {name} is up to {far} off the unit circle in the log");
                let help = "take the pair out, or correct the log";
                self.problem(key, text, help, vec![(0.0, worst(found))]);
            } else {
                self.note(key, format!("of {name} holds in all {rows} rows, to {far}"));
            }
        }
        Ok(())
    }
}
