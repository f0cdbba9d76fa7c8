//! What the controller's learner takes from the log itself.

use crate::reinforcement::LoggedStep;
use hambo_data::{Log, Transition};
use hambo_task::task::TaskFile;

/// The log's actions in [−1, 1].
pub(super) struct LoggedRows<'l> {
    log: &'l Log,
    actions: Vec<Vec<f32>>,
}

impl<'l> LoggedRows<'l> {
    pub(super) fn of(log: &'l Log, task: &TaskFile) -> Self {
        let one = |row: Transition<'_>| {
            let limits = task.action_low.iter().zip(&task.action_high);
            let parts = row.action.iter().zip(limits);
            parts
                .map(|(a, (low, high))| 2.0 * (a - low) / (high - low) - 1.0)
                .collect()
        };
        let actions = log.rows().map(one).collect();
        Self { log, actions }
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = LoggedStep<'_>> {
        let rows = self.log.rows().zip(&self.actions);
        rows.map(|(row, action)| LoggedStep {
            state: row.state,
            action,
            next_state: row.next_state,
            reward: row.reward,
        })
    }
}

/// Rewards of about one learn well.
pub(super) fn reward_scale(log: &Log) -> f32 {
    let (mut sum, mut count) = (0.0_f64, 0.0_f64);
    for row in log.rows() {
        sum += f64::from(row.reward.abs());
        count += 1.0;
    }
    let usual = (sum / count) as f32;
    if usual > 0.0 && usual.is_finite() {
        1.0 / usual
    } else {
        1.0
    }
}
