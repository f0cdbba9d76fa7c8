//! Which rows of a log are steps of one trajectory.

use hambo_task::task::Wrap;

use super::split::LogPart;

/// Whether a row is the step after the one before it: of the same episode, from the state that the
/// other led to.
#[must_use]
pub fn follows(rows: &LogPart, wraps: &[Option<Wrap>]) -> Vec<bool> {
    let mut last: Option<(u32, u32, &[f32])> = None;
    let pairs = rows.log.rows().zip(&rows.groups);
    pairs
        .map(|(row, group)| {
            let now = (row.episode, *group, row.next_state);
            last.replace(now).is_some_and(|(episode, before, next)| {
                let goes_on = goes_on(next, row.state, wraps);
                episode == row.episode && before == *group && goes_on
            })
        })
        .collect()
}

/// Whether a state is the one that was reached, but for rounding and whole periods. What only one
/// of them has does not count.
pub(crate) fn goes_on(reached: &[f32], state: &[f32], wraps: &[Option<Wrap>]) -> bool {
    let mut pairs = reached.iter().zip(state).enumerate();
    pairs.all(|(j, (reached, state))| {
        let reached = match wraps.get(j) {
            // Which turn it is on does not count.
            Some(Some(wrap)) => wrap.next_to(*reached, *state),
            _ => *reached,
        };
        (reached - state).abs() <= 1e-4 * (1.0 + state.abs())
    })
}
