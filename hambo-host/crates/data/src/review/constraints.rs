//! How the log keeps the task's constraints.

use hambo_core::task::{Constraint, ConstraintKind};
use hambo_task::task::NamedConstraint;

use super::reviewer::Reviewer;

impl Reviewer<'_> {
    pub(super) fn constraints(&mut self) {
        for NamedConstraint { name, constraint } in &self.task.constraints {
            let rows = self.log.rows.iter();
            let values = rows.filter_map(|row| self.value(constraint.slot, row));
            let values: Vec<f64> = values.map(f64::from).collect();
            let count = values.len().max(1) as f64;
            let mean = values.iter().sum::<f64>() / count;
            let below = values.iter().filter(|value| **value < 0.0).count();
            let mut text = format!("is {mean:.6} on average over the log, below 0 in {below} rows");
            if *constraint != Constraint::mean(constraint.slot) {
                let (kept, episodes) = self.episodes_that_keep(constraint);
                text.push_str(&format!(", kept by {kept} of {episodes} episodes"));
            }
            let key = format!("constraint {name}");
            self.note(&key, text);
            let reads_next = self.reads_next(constraint.slot);
            if constraint.kind == ConstraintKind::Finally && reads_next == Some(false) {
                let text = "reads the state before the last step, not the one after it";
                let help = "write next.NAME for the state that a trajectory ends in";
                self.warning(&key, text.to_owned(), help);
            }
        }
    }

    /// The count of the log's episodes that keep a constraint, and the count of all.
    fn episodes_that_keep(&self, constraint: &Constraint) -> (usize, usize) {
        let mut episodes: Vec<(f32, usize)> = Vec::new();
        let mut last = None;
        for row in &self.log.rows {
            let Some(margin) = self.value(constraint.slot, row) else {
                continue;
            };
            if last.replace(row.episode) != Some(row.episode) {
                episodes.push((constraint.kind.of_no_step(), 0));
            }
            if let Some((number, steps)) = episodes.last_mut() {
                *number = constraint.kind.joined(*number, margin);
                *steps += 1;
            }
        }
        let mean = |(number, steps): &(f32, usize)| match constraint.kind {
            ConstraintKind::Mean => *number / *steps as f32,
            _ => *number,
        };
        let kept = episodes.iter().filter(|episode| mean(episode) >= 0.0);
        (kept.count(), episodes.len())
    }
}
