//! A few rows of the log that a model was trained on.

use serde::{Deserialize, Serialize};

use hambo_data::Log;

/// This number of rows says how large a task's numbers are; more would only make the file larger.
const MOST_ROWS: usize = 256;

/// Rows of a log, evenly spaced over it. A check without a log fits the widths of the task's
/// comparisons to them; they enter no estimate.
///
/// ```
/// use hambo_data::{Log, Transition};
/// use hambo_learn::model_file::LogSample;
///
/// let mut log = Log::new(1, 1);
/// for number in 0..1000 {
///     let state = [number as f32];
///     log.push(Transition { state: &state, action: &[0.0], next_state: &state, reward: 0.0, episode: 0 })?;
/// }
/// let sample = LogSample::of(&log);
/// let first: Vec<f32> = sample.rows().map(|(state, ..)| state[0]).collect();
/// assert_eq!((first.len(), first[0], first[128], first[255]), (256, 0.0, 500.0, 997.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogSample {
    rows: Vec<SampledRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SampledRow {
    state: Vec<f32>,
    action: Vec<f32>,
    next_state: Vec<f32>,
}

impl LogSample {
    /// At most 256 rows of a log; all of a smaller one.
    #[must_use]
    pub fn of(log: &Log) -> Self {
        let kept = log.len().min(MOST_ROWS);
        // Row i of the log is the first of its stretch if i · kept / len is a new number.
        let stretch = |row: usize| row * kept / log.len().max(1);
        let first = |row: usize| row == 0 || stretch(row) != stretch(row - 1);
        let rows = log.rows().enumerate().filter(|(row, _)| first(*row));
        let rows = rows.map(|(_, row)| SampledRow {
            state: row.state.to_vec(),
            action: row.action.to_vec(),
            next_state: row.next_state.to_vec(),
        });
        Self {
            rows: rows.collect(),
        }
    }

    /// State, action and next state of every row.
    pub fn rows(&self) -> impl Iterator<Item = (&[f32], &[f32], &[f32])> {
        let rows = self.rows.iter();
        rows.map(|row| {
            let SampledRow {
                state,
                action,
                next_state,
            } = row;
            (state.as_slice(), action.as_slice(), next_state.as_slice())
        })
    }
}
