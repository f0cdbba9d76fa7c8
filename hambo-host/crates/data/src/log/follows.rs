//! Which rows of a log are steps of one trajectory.

use hambo_task::task::Wrap;

use super::split::LogPart;

/// Whether a row is the step after the one before it: of the same episode, from the state that the
/// other led to. A return so far, which counts from 0 in every row, does not tell.
#[must_use]
pub fn follows(rows: &LogPart, wraps: &[Option<Wrap>]) -> Vec<bool> {
    let mut last: Option<(u32, u32, &[f32])> = None;
    let carried = rows.log.carried_states();
    let pairs = rows.log.rows().zip(&rows.groups);
    pairs
        .map(|(row, group)| {
            let now = (row.episode, *group, row.next_state);
            last.replace(now).is_some_and(|(episode, before, next)| {
                let own = row.state.get(..carried).unwrap_or_default();
                let goes_on = goes_on(next, own, wraps);
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::super::learned_reward::with_return_so_far;
    use super::super::rows::{Log, Transition};
    use super::*;

    /// Windows of rows are needed to see errors that stay, of a learned reward as well.
    #[test]
    fn rows_with_a_return_so_far_follow_each_other() {
        let mut log = Log::new(1, 1);
        for step in 0..6_u8 {
            let x = f32::from(step % 3);
            log.push(Transition {
                state: &[x],
                action: &[0.0],
                next_state: &[x + 1.0],
                reward: -0.5,
                episode: u32::from(step / 3),
            })
            .unwrap();
        }
        let wanted = [false, true, true, false, true, true];
        let longer = with_return_so_far(&log).unwrap();
        assert!(longer.counts_anew() && !log.counts_anew());
        for log in [&log, &longer] {
            assert_eq!(follows(&LogPart::whole(log), &[]), wanted);
        }
        // Also in a part of the log.
        let part = LogPart::whole(&longer).divide(0.5, 1).1;
        assert_eq!(follows(&part, &[]), wanted[..3]);
    }
}
