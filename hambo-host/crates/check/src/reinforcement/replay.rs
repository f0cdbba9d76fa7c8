//! The newest transitions, to learn from again: a ring.

use serde::{Deserialize, Serialize};

use super::error::ReinforcementError;
use hambo_base::random::Random;

/// Where the parts of a transition lie in its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    pub(super) observation: usize,
    pub(super) action: usize,
}

impl Columns {
    /// Observation, action, next observation; then reward, time, bootstrap.
    fn width(self) -> usize {
        2 * self.observation + self.action + 3
    }
}

/// One transition, in the units that the networks see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition<'a> {
    pub(super) observation: &'a [f32],
    pub(super) action: &'a [f32],
    pub(super) next: &'a [f32],
    pub(super) reward: f32,
    /// Steps before it, as a part of the horizon.
    pub(super) time: f32,
    /// 1 where the next state has a value, 0 where all is over.
    pub(super) bootstrap: f32,
}

/// The newest transitions, up to a capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Replay {
    columns: Columns,
    capacity: usize,
    /// Rows written since the start.
    written: usize,
    rows: Vec<f32>,
}

impl Replay {
    pub(super) fn new(columns: Columns, capacity: usize) -> Self {
        Self {
            columns,
            capacity,
            written: 0,
            rows: Vec::new(),
        }
    }

    /// Transitions in the buffer.
    pub(super) fn len(&self) -> usize {
        self.written.min(self.capacity)
    }

    /// Whether it is what [`Self::new`] and [`Self::push`] can make.
    pub(super) fn is_sound(&self, columns: Columns, capacity: usize) -> bool {
        self.columns == columns
            && self.capacity == capacity
            && self.rows.len() == self.len().saturating_mul(columns.width())
            && self.rows.iter().all(|number| number.is_finite())
    }

    /// Refuses a problem of other sizes.
    pub(super) fn check(&self, columns: Columns) -> Result<(), ReinforcementError> {
        if self.columns == columns {
            return Ok(());
        }
        Err(ReinforcementError::Size {
            what: "observation and action",
            found: columns.observation + columns.action,
            needed: format!(
                "{} + {} numbers",
                self.columns.observation, self.columns.action
            ),
        })
    }

    /// Whether every action is one of `choices`.
    pub(super) fn actions_below(&self, choices: usize) -> bool {
        let mut rows = self.rows.chunks_exact(self.columns.width());
        rows.all(|row| (0.0..choices as f32).contains(&row[self.columns.observation]))
    }

    /// Adds a transition; the oldest makes place.
    pub(super) fn push(&mut self, transition: &Transition<'_>) {
        let tail = [transition.reward, transition.time, transition.bootstrap];
        let numbers = transition
            .observation
            .iter()
            .chain(transition.action)
            .chain(transition.next)
            .chain(&tail);
        if self.written < self.capacity {
            self.rows.extend(numbers);
        } else {
            let width = self.columns.width();
            let start = self.written % self.capacity * width;
            let row = &mut self.rows[start..start + width];
            row.iter_mut()
                .zip(numbers)
                .for_each(|(to, from)| *to = *from);
        }
        self.written += 1;
    }

    /// Fills a batch with transitions drawn with replacement.
    pub(super) fn draw(&self, random: &mut Random, batch: &mut Batch) {
        batch.clear();
        self.draw_more(random, batch.rows, batch);
    }

    /// Adds `rows` to a batch.
    pub(super) fn draw_more(&self, random: &mut Random, rows: usize, batch: &mut Batch) {
        let width = self.columns.width();
        let (seen, acted) = (self.columns.observation, self.columns.action);
        for _ in 0..rows {
            let row = random.index(self.len()) * width;
            let row = &self.rows[row..row + width];
            let (observation, rest) = row.split_at(seen);
            let (action, rest) = rest.split_at(acted);
            let (next, rest) = rest.split_at(seen);
            batch.observation.extend_from_slice(observation);
            batch.action.extend_from_slice(action);
            batch.next.extend_from_slice(next);
            batch.reward.push(rest[0]);
            batch.time.push(rest[1]);
            batch.bootstrap.push(rest[2]);
        }
    }
}

/// Transitions for one gradient step, column by column.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub(super) rows: usize,
    /// How many of them, the last ones, are logged.
    pub(super) logged: usize,
    pub(super) observation: Vec<f32>,
    pub(super) action: Vec<f32>,
    pub(super) next: Vec<f32>,
    pub(super) reward: Vec<f32>,
    pub(super) time: Vec<f32>,
    pub(super) bootstrap: Vec<f32>,
}

impl Batch {
    pub(super) fn new(rows: usize) -> Self {
        Self {
            rows,
            ..Self::default()
        }
    }

    pub(super) fn clear(&mut self) {
        let columns = [
            &mut self.observation,
            &mut self.action,
            &mut self.next,
            &mut self.reward,
            &mut self.time,
            &mut self.bootstrap,
        ];
        columns.into_iter().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: Columns = Columns {
        observation: 2,
        action: 1,
    };

    fn push(replay: &mut Replay, number: f32) {
        replay.push(&Transition {
            observation: &[number, 10.0 + number],
            action: &[20.0 + number],
            next: &[30.0 + number, 40.0 + number],
            reward: 50.0 + number,
            time: 60.0 + number,
            bootstrap: 70.0 + number,
        });
    }

    #[test]
    fn the_oldest_makes_place_and_rows_stay_whole() {
        let mut replay = Replay::new(COLUMNS, 3);
        for number in 0..5 {
            push(&mut replay, number as f32);
            assert_eq!(replay.len(), (number + 1).min(3));
        }
        assert!(replay.is_sound(COLUMNS, 3));
        assert!(!replay.is_sound(COLUMNS, 4));
        let mut batch = Batch::new(60);
        replay.draw(&mut Random::new(1, 1), &mut batch);
        let mut seen = [0; 5];
        for row in 0..60 {
            let number = batch.observation[2 * row];
            seen[number as usize] += 1;
            assert_eq!(batch.observation[2 * row + 1], 10.0 + number);
            assert_eq!(batch.action[row], 20.0 + number);
            assert_eq!(
                batch.next[2 * row..2 * row + 2],
                [30.0 + number, 40.0 + number]
            );
            assert_eq!(batch.reward[row], 50.0 + number);
            assert_eq!(batch.time[row], 60.0 + number);
            assert_eq!(batch.bootstrap[row], 70.0 + number);
        }
        assert_eq!(seen[..2], [0, 0]);
        assert!(seen[2..].iter().all(|count| *count > 5), "{seen:?}");
    }
}
