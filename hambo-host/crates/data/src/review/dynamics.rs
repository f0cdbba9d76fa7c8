//! Whether the log agrees with what the task says of its dynamics: known states and circles.

use hambo_base::Error;

use super::reviewer::{Evidence, Reviewer};
use crate::inspect::{KnownResidual, circle_residuals, known_residuals};
use crate::log::{Log, Transition};

impl Reviewer<'_> {
    pub(super) fn dynamics(&mut self) -> Result<(), Error> {
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
        let task = self.task;
        let name = |found: &KnownResidual| task.state_names.get(found.state).map_or("", |x| x);
        let evidence = |found: &KnownResidual| {
            vec![Evidence {
                gap: 0.0,
                row: numbers.get(found.row).copied().unwrap_or_default(),
                logged: found.logged,
                task: found.computed,
            }]
        };
        let rows = log.len();
        for found in &known_residuals(&view, &log)? {
            let key = format!("known.{}", name(found));
            let share = format!("{:.1e} of its standard deviation", found.share);
            if found.too_large {
                let text = format!("disagrees with the log by up to {share}; 1e-4 may be rounding");
                let help = "correct the expression, or leave the state to the model";
                self.problem(&key, text, help, evidence(found));
            } else {
                self.note(&key, format!("holds in all {rows} rows, to {share}"));
            }
        }
        for found in &circle_residuals(&view, &log) {
            let (key, name) = ("state.circle", name(found));
            let far = format!("{:.1e}", found.share);
            if found.too_large {
                let text = format!("of {name} is up to {far} off the unit circle in the log");
                let help = "take the pair out, or correct the log";
                self.problem(key, text, help, evidence(found));
            } else {
                self.note(key, format!("of {name} holds in all {rows} rows, to {far}"));
            }
        }
        Ok(())
    }
}
