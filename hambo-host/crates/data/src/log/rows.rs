//! A log: rows of state, action, reward, next state and the episode they belong to.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use hambo_base::files::write_whole;

use crate::error::LogError;
use crate::table::Origin;

/// Logged transitions, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    state_dimension: usize,
    action_dimension: usize,
    states: Vec<f32>,
    actions: Vec<f32>,
    next_states: Vec<f32>,
    rewards: Vec<f32>,
    episodes: Vec<u32>,
    /// Whether the last state counts from 0 in every row: the return so far.
    counts_anew: bool,
    origin: Origin,
}

/// One row of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition<'a> {
    /// s.
    pub state: &'a [f32],
    /// a, as executed.
    pub action: &'a [f32],
    /// s′.
    pub next_state: &'a [f32],
    /// r.
    pub reward: f32,
    /// The episode's number.
    pub episode: u32,
}

impl Log {
    /// An empty log.
    #[must_use]
    pub fn new(state_dimension: usize, action_dimension: usize) -> Self {
        Self {
            state_dimension,
            action_dimension,
            states: Vec::new(),
            actions: Vec::new(),
            next_states: Vec::new(),
            rewards: Vec::new(),
            episodes: Vec::new(),
            counts_anew: false,
            origin: Origin::default(),
        }
    }

    /// A log without rows, for rows of this one.
    pub(super) fn emptied(&self) -> Self {
        Self {
            counts_anew: self.counts_anew,
            ..Self::new(self.state_dimension, self.action_dimension)
        }
    }

    /// Says that the last state counts from 0 in every row.
    pub(super) fn set_counting_anew(&mut self) {
        self.counts_anew = true;
    }

    /// Whether the last state counts from 0 in every row: it has no path over several.
    #[must_use]
    pub fn counts_anew(&self) -> bool {
        self.counts_anew
    }

    /// States that a row takes over from the one before it.
    pub(super) fn carried_states(&self) -> usize {
        self.state_dimension - usize::from(self.counts_anew)
    }

    /// Notes where the rows come from.
    pub(super) fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
    }

    /// The log with states of another dimension or with other values: `change` gets each row, and
    /// copies of its s and s′.
    pub(super) fn with_states(
        &self,
        dimension: usize,
        mut change: impl FnMut(Transition<'_>, &mut Vec<f32>, &mut Vec<f32>),
    ) -> Result<Self, LogError> {
        let mut changed = Self::new(dimension, self.action_dimension);
        let (mut state, mut next_state) = (Vec::new(), Vec::new());
        for row in self.rows() {
            state.clear();
            state.extend_from_slice(row.state);
            next_state.clear();
            next_state.extend_from_slice(row.next_state);
            change(row, &mut state, &mut next_state);
            changed.push(Transition {
                state: &state,
                next_state: &next_state,
                ..row
            })?;
        }
        changed.counts_anew = self.counts_anew;
        changed.origin = self.origin.clone();
        Ok(changed)
    }

    /// File and line of a row, or its number from 1.
    #[must_use]
    pub fn place(&self, row: usize) -> String {
        self.origin.place(row)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If its size differs or a number is not finite; the log stays as it was.
    pub fn push(&mut self, transition: Transition<'_>) -> Result<(), LogError> {
        let row = self.len();
        let parts = [
            ("state", transition.state, self.state_dimension),
            ("action", transition.action, self.action_dimension),
            ("next state", transition.next_state, self.state_dimension),
            ("reward", &[transition.reward], 1),
        ];
        for (part, numbers, expected) in parts {
            let found = numbers.len();
            if found != expected {
                return Err(LogError::Dimension {
                    row,
                    part,
                    found,
                    expected,
                });
            }
            if numbers.iter().any(|x| !x.is_finite()) {
                return Err(LogError::NotFinite { row, part });
            }
        }
        self.states.extend(transition.state);
        self.actions.extend(transition.action);
        self.next_states.extend(transition.next_state);
        self.rewards.push(transition.reward);
        self.episodes.push(transition.episode);
        Ok(())
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rewards.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rewards.is_empty()
    }

    /// ds.
    #[must_use]
    pub fn state_dimension(&self) -> usize {
        self.state_dimension
    }

    /// da.
    #[must_use]
    pub fn action_dimension(&self) -> usize {
        self.action_dimension
    }

    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = Transition<'_>> + Clone {
        let states = self.states.chunks_exact(self.state_dimension);
        let actions = self.actions.chunks_exact(self.action_dimension);
        let next_states = self.next_states.chunks_exact(self.state_dimension);
        let ends = self.rewards.iter().zip(&self.episodes);
        states.zip(actions).zip(next_states).zip(ends).map(
            |(((state, action), next_state), (reward, episode))| Transition {
                state,
                action,
                next_state,
                reward: *reward,
                episode: *episode,
            },
        )
    }

    /// The header of a CSV file: states, actions, `next.NAME`, reward and episode.
    #[must_use]
    pub fn csv_header(&self, states: &[String], actions: &[String]) -> String {
        let mut names: Vec<String> = states.iter().chain(actions).cloned().collect();
        names.extend(states.iter().map(|name| format!("next.{name}")));
        names.extend(["reward".to_owned(), "episode".to_owned()]);
        names.join(",")
    }

    /// The lines under that header.
    pub fn csv_rows(&self) -> impl Iterator<Item = String> {
        self.rows().map(|row| {
            let mut line = String::new();
            for x in row.state.iter().chain(row.action).chain(row.next_state) {
                let _ = write!(line, "{x},");
            }
            let _ = write!(line, "{},{}", row.reward, row.episode);
            line
        })
    }

    /// Writes a CSV file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_csv(&self, path: &Path, states: &[String], actions: &[String]) -> io::Result<()> {
        let mut text = self.csv_header(states, actions);
        text.push('\n');
        for row in self.csv_rows() {
            text.push_str(&row);
            text.push('\n');
        }
        write_whole(path, text.as_bytes())
    }

    /// The bytes that name this log: every number in order.
    pub fn bytes(&self) -> Vec<u8> {
        self.rows()
            .flat_map(|row| {
                let numbers = row.state.iter().chain(row.action).chain(row.next_state);
                let mut bytes: Vec<u8> = numbers.flat_map(|x| x.to_le_bytes()).collect();
                bytes.extend(row.reward.to_le_bytes());
                bytes.extend(row.episode.to_le_bytes());
                bytes
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Log {
        let mut log = Log::new(1, 1);
        for episode in 0..10 {
            for step in 0..4 {
                let row = Transition {
                    state: &[step as f32],
                    action: &[1.0],
                    next_state: &[step as f32 + 1.0],
                    reward: 0.0,
                    episode,
                };
                assert_eq!(log.push(row), Ok(()));
            }
        }
        log
    }

    #[test]
    fn refuses_bad_rows_and_keeps_the_rest() {
        let mut log = log();
        let good = Transition {
            state: &[0.0],
            action: &[0.0],
            next_state: &[0.0],
            reward: 0.0,
            episode: 0,
        };
        let long = Transition {
            action: &[0.0, 1.0],
            ..good
        };
        let nan = Transition {
            next_state: &[f32::NAN],
            ..good
        };
        assert!(matches!(
            log.push(long),
            Err(LogError::Dimension {
                row: 40,
                part: "action",
                ..
            })
        ));
        assert_eq!(
            log.push(nan),
            Err(LogError::NotFinite {
                row: 40,
                part: "next state"
            })
        );
        assert_eq!(log.len(), 40);
    }
}
