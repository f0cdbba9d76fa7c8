//! The log's side of a learned reward: the reward as the difference of one more
//! state (`formats/task/learned_reward.rs` says why).

use super::{DataError, Log, LogError, Table, Transition};

/// The log with the return so far as its last state. It counts from 0 in
/// every row, not in every episode: models see the difference alone, and
/// (c + r) − c would lose digits of r.
///
/// ```
/// use hambo_data::{Log, Transition, with_return_so_far};
///
/// let mut log = Log::new(1, 1);
/// log.push(Transition { state: &[1.0], action: &[0.5], next_state: &[1.5], reward: -0.25, episode: 0 })?;
/// let log = with_return_so_far(&log)?;
/// let row = log.rows().next().ok_or("a row")?;
/// assert_eq!((row.state, row.next_state), (&[1.0, 0.0][..], &[1.5, -0.25][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// None for a log that [`Log::push`] took.
pub fn with_return_so_far(log: &Log) -> Result<Log, LogError> {
    let mut longer = Log::new(log.state_dimension() + 1, log.action_dimension());
    let (mut state, mut next_state) = (Vec::new(), Vec::new());
    for row in log.rows() {
        state.clear();
        state.extend_from_slice(row.state);
        state.push(0.0);
        next_state.clear();
        next_state.extend_from_slice(row.next_state);
        next_state.push(row.reward);
        longer.push(Transition {
            state: &state,
            next_state: &next_state,
            ..row
        })?;
    }
    longer.set_origin(log.origin().clone());
    Ok(longer)
}

/// Refuses a table without rewards.
pub(super) fn require_rewards(table: &Table) -> Result<(), DataError> {
    if table.rewards.is_some() {
        return Ok(());
    }
    Err(DataError::Whole {
        file: table.file.display().to_string(),
        problem: "there are no rewards in it, and the task says `reward.learned = true`".to_owned(),
        help: "add a column `reward` (arrays: `rewards`), or write the reward as `reward.expr`",
    })
}
