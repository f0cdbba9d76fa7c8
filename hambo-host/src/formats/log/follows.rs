//! Which rows of a log are steps of one trajectory.

use super::LogPart;
use crate::formats::task::Wrap;

/// Whether a row is the step after the one before it: of the same episode, from the state
/// that the other led to.
#[must_use]
pub fn follows(rows: &LogPart, wraps: &[Option<Wrap>]) -> Vec<bool> {
    let mut last: Option<(u32, u32, &[f32])> = None;
    let pairs = rows.log.rows().zip(&rows.groups);
    pairs
        .map(|(row, group)| {
            let now = (row.episode, *group, row.next_state);
            last.replace(now).is_some_and(|(episode, before, next)| {
                let mut pairs = next.iter().zip(row.state).enumerate();
                let goes_on = pairs.all(|(j, (next, state))| {
                    let next = match wraps.get(j) {
                        // Which turn it is on does not count.
                        Some(Some(wrap)) => wrap.next_to(*next, *state),
                        _ => *next,
                    };
                    (next - state).abs() <= 1e-4 * (1.0 + state.abs())
                });
                episode == row.episode && before == *group && goes_on
            })
        })
        .collect()
}
