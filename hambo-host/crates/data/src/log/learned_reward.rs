//! The log's side of a learned reward: the reward as the difference of one more state. The task's
//! side says why.

use super::rows::Log;
use crate::error::{DataError, LogError};
use crate::table::Table;

/// The log with the return so far as its last state. It counts from 0 in every row, not in every
/// episode: models see the difference alone, and (c + r) − c would lose digits of r.
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
    let mut longer = log.with_states(log.state_dimension() + 1, |row, state, next_state| {
        state.push(0.0);
        next_state.push(row.reward);
    })?;
    longer.set_counting_anew();
    Ok(longer)
}

/// Refuses a table without rewards.
pub(crate) fn ensure_rewards(table: &Table) -> Result<(), DataError> {
    if table.rewards.is_some() {
        return Ok(());
    }
    Err(DataError::whole(
        &table.file,
        "there are no rewards in it, and the task says `reward.learned = true`",
        "add a column `reward` (arrays: `rewards`), or write the reward as `reward.expr`",
    ))
}
