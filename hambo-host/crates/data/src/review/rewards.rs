//! Whether the task's reward and termination are the logged ones.

use super::reviewer::{Evidence, Reviewer};
use crate::draft::range;

/// How far a computed reward may be from the logged one, absolute and relative.
const REWARD_TOLERANCE: (f32, f32) = (1e-4, 1e-3);

impl Reviewer<'_> {
    pub(super) fn rewards(&mut self) {
        if self.task.learns_reward() {
            return self.learned_rewards();
        }
        let mut worst = Vec::new();
        let mut compared = 0;
        for (index, row) in self.log.rows.iter().enumerate() {
            let Some((logged, value)) = row.reward.zip(self.value(self.task.reward.slot(), row))
            else {
                continue;
            };
            compared += 1;
            let gap = (logged - value).abs();
            // NaN is worst.
            let gap = if gap.is_nan() { f32::INFINITY } else { gap };
            let allowed = REWARD_TOLERANCE.0 + REWARD_TOLERANCE.1 * logged.abs();
            if gap > allowed {
                worst.push(Evidence {
                    gap,
                    row: index,
                    logged,
                    task: value,
                });
            }
        }
        if compared == 0 {
            return self.note(
                "reward.expr",
                "was not compared: the log has no rewards".to_owned(),
            );
        }
        if worst.is_empty() {
            let text = format!("gives the logged reward in all {compared} rows");
            return self.note("reward.expr", text);
        }
        let count = worst.len();
        let text = format!("gives another reward than the log in {count} of {compared} rows");
        let help = "correct the expression; is the log's reward of s, a or next.s, and unscaled?";
        self.problem("reward.expr", text, help, worst);
    }

    /// A learned reward is the log's by its nature; it has to be there.
    fn learned_rewards(&mut self) {
        let key = "reward.learned";
        let rewards = self.log.rows.iter().filter_map(|row| row.reward);
        let Some((least, most)) = range(rewards) else {
            let help = "log the reward of each step, or write it as `reward.expr`";
            let text = "is true, and the log has no rewards".to_owned();
            return self.problem(key, text, help, Vec::new());
        };
        let text = format!("is true: the model learns the logged reward, {least} to {most}");
        self.note(key, text);
    }

    pub(super) fn terminations(&mut self) {
        let has_terminals = self.log.rows.iter().any(|row| row.terminal.is_some());
        let ends = self.log.terminals();
        let Some(slot) = self.task.termination else {
            if ends > 0 {
                let text = format!("is missing, and the log has {ends} terminals");
                let help = "add [termination] with what makes the robot stop; a model that goes \
                            on after a fall counts rewards that nobody gets";
                self.problem("termination", text, help, Vec::new());
            }
            return;
        };
        let (mut stops, mut goes_on) = (Vec::new(), Vec::new());
        for (index, row) in self.log.rows.iter().enumerate() {
            let Some(value) = self.value(slot, row) else {
                continue;
            };
            let task_stops = value >= 0.5;
            let logged = row.terminal.unwrap_or(false);
            let evidence = |logged: bool| Evidence {
                gap: 0.0,
                row: index,
                logged: f32::from(u8::from(logged)),
                task: value,
            };
            // Without a column of terminals only what goes on is known not to be one.
            if task_stops && (if has_terminals { !logged } else { row.goes_on }) {
                stops.push(evidence(false));
            }
            if !task_stops && logged {
                goes_on.push(evidence(true));
            }
        }
        let key = "termination.expr";
        if !stops.is_empty() {
            let text = format!("stops in {} rows after which the log goes on", stops.len());
            self.problem(key, text, "narrow the condition", stops);
        }
        if !goes_on.is_empty() {
            let text = format!(
                "does not stop in {} of {ends} logged terminals",
                goes_on.len()
            );
            self.problem(key, text, "widen the condition", goes_on);
        }
    }
}
