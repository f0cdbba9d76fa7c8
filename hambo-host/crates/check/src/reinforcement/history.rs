//! Rounds done so far, and the weights with the best evaluation.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::episodes::EVALUATION;
use super::options::Rounds;
use hambo_base::observer::Progress;

/// What one round did.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundReport {
    /// Rounds done, this one included.
    pub round: usize,
    /// The most there will be.
    pub rounds: usize,
    /// The most steps there will be, where they are counted.
    pub most_steps: Option<u64>,
    /// Steps in the problem so far, evaluations apart.
    pub steps: u64,
    /// Mean return of the round's episodes, with exploration.
    pub training_return: f64,
    /// Mean return without exploration, where it was asked for.
    pub evaluation_return: Option<f64>,
    /// Mean squared error of the critics over the round.
    pub critic_loss: f64,
    /// The temperature (soft actor-critic) or the share of random choices (DQN).
    pub exploration: f32,
}

impl RoundReport {
    /// The round as progress of whoever learns.
    #[must_use]
    pub fn progress(&self, who: &str) -> Progress {
        let found = self.evaluation_return.unwrap_or(self.training_return);
        let (done, planned) = match self.most_steps {
            Some(most) => (self.steps as usize, most as usize),
            None => (self.round, self.rounds),
        };
        Progress {
            done,
            planned,
            message: format!("{who}: return {found:.1} after {} steps", self.steps),
        }
    }
}

/// Counters, and the weights with the best evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct History {
    pub(super) round: usize,
    /// Episodes begun, evaluations apart: the number of the next.
    pub(super) episodes: u32,
    pub(super) steps: u64,
    best_return: f64,
    best: Vec<f32>,
    /// Evaluations since the best.
    stale: usize,
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            round: 0,
            episodes: 0,
            steps: 0,
            best_return: f64::NEG_INFINITY,
            best: Vec::new(),
            stale: 0,
        }
    }

    /// Whether no further round of episodes of `horizon` steps follows.
    pub(super) fn is_over(&self, rounds: &Rounds, horizon: usize) -> bool {
        let round = (rounds.episodes as u64).saturating_mul(horizon as u64);
        let longest = self.steps.saturating_add(round);
        let beyond = rounds.most_steps.is_some_and(|most| longest > most);
        beyond || self.round >= rounds.rounds || self.stale >= rounds.patience
    }

    pub(super) fn is_sound(&self, parameters: usize) -> bool {
        let whole = self.best.is_empty() || self.best.len() == parameters;
        whole && self.best.iter().all(|number| number.is_finite())
    }

    /// The numbers of the next episodes.
    pub(super) fn begin(&mut self, episodes: usize) -> Range<u32> {
        let first = self.episodes;
        // Evaluations start there.
        let end = u64::from(first).saturating_add(episodes as u64);
        self.episodes = end.min(u64::from(EVALUATION)) as u32;
        first..self.episodes
    }

    /// Notes an evaluation, and keeps the weights if they are the best.
    pub(super) fn note(&mut self, found: f64, parameters: &[f32]) {
        if found > self.best_return {
            self.best_return = found;
            self.best.clear();
            self.best.extend_from_slice(parameters);
            self.stale = 0;
        } else {
            self.stale += 1;
        }
    }

    /// The weights to keep, of which `last` are the latest.
    pub(super) fn best<'a>(&'a self, last: &'a [f32]) -> &'a [f32] {
        if self.best.is_empty() {
            last
        } else {
            &self.best
        }
    }
}

pub(super) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_where_asked() {
        let rounds = Rounds {
            episodes: 2,
            most_steps: Some(30),
            ..Rounds::default()
        };
        let mut history = History::new();
        history.steps = 20;
        assert!(!history.is_over(&rounds, 5));
        history.steps = 21;
        assert!(history.is_over(&rounds, 5));
    }

    #[test]
    fn keeps_the_best_and_stops_after_patience() {
        let rounds = Rounds {
            rounds: 9,
            patience: 2,
            ..Rounds::default()
        };
        let mut history = History::new();
        assert_eq!(history.best(&[7.0]), [7.0]);
        for (found, over) in [(1.0, false), (3.0, false), (2.0, false), (f64::NAN, true)] {
            history.note(found, &[found as f32]);
            assert_eq!(history.is_over(&rounds, 5), over);
        }
        assert_eq!(history.best(&[7.0]), [3.0]);
        history.stale = 0;
        history.round = 9;
        assert!(history.is_over(&rounds, 5));
    }
}
