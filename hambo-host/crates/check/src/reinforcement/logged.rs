//! Steps of the true system that were logged, to learn from beside those of the problem.

use super::error::ReinforcementError;
use super::options::{InputUnits, LearningOptions, Value};
use super::replay::{Batch, Columns, Replay, Transition};
use hambo_base::random::Random;

/// One logged step of the true system, in the problem's units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoggedStep<'a> {
    /// What the learner would have seen.
    pub state: &'a [f32],
    /// In [−1, 1].
    pub action: &'a [f32],
    /// What it would have seen next.
    pub next_state: &'a [f32],
    /// As the problem pays.
    pub reward: f32,
}

/// All logged steps, and how many of them are in a batch.
pub(super) struct Logged {
    rows: Replay,
    in_a_batch: usize,
}

impl Logged {
    pub(super) fn new<'r>(
        steps: impl Iterator<Item = LoggedStep<'r>>,
        share: f32,
        columns: Columns,
        learning: &LearningOptions,
        units: &InputUnits,
    ) -> Result<Self, ReinforcementError> {
        if let Value::Finite { .. } = learning.value {
            return Err(ReinforcementError::Option {
                name: "value",
                must_be: "without an end, to learn from a log",
            });
        }
        let mut rows = Replay::new(columns, usize::MAX);
        let (mut observation, mut after) = (Vec::new(), Vec::new());
        for step in steps {
            let found = (step.state.len(), step.next_state.len(), step.action.len());
            if found != (columns.observation, columns.observation, columns.action) {
                return Err(ReinforcementError::Size {
                    what: "logged state and action",
                    found: step.state.len() + step.action.len(),
                    needed: format!("{} + {} numbers", columns.observation, columns.action),
                });
            }
            for (to, from) in [
                (&mut observation, step.state),
                (&mut after, step.next_state),
            ] {
                to.clear();
                to.extend_from_slice(from);
                units.apply(to);
            }
            rows.push(&Transition {
                observation: &observation,
                action: step.action,
                next: &after,
                reward: learning.reward_scale * step.reward,
                time: 0.0,
                bootstrap: 1.0,
            });
        }
        let in_a_batch = (share.clamp(0.0, 1.0) * learning.batch as f32).round() as usize;
        Ok(Self { rows, in_a_batch })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    /// Fills a batch with logged steps alone.
    pub(super) fn draw(&self, random: &mut Random, batch: &mut Batch) {
        self.rows.draw(random, batch);
    }

    /// Fills a batch with the problem's steps, and its last part with logged ones.
    pub(super) fn draw_beside(&self, others: &Replay, random: &mut Random, batch: &mut Batch) {
        batch.clear();
        others.draw_more(random, batch.rows - self.in_a_batch, batch);
        self.rows.draw_more(random, self.in_a_batch, batch);
        batch.logged = self.in_a_batch;
    }
}
