//! A log whose states wrap: every state in its interval, or every next state beside the state that
//! it follows.

use std::borrow::Cow;

use hambo_task::task::Wrap;

use super::rows::Log;

/// The log as the task sees it: states and next states inside their intervals, whatever turn of the
/// robot they were logged in.
///
/// ```
/// use hambo_data::{Log, Transition, wrapped};
/// use hambo_task::task::Wrap;
///
/// let mut log = Log::new(1, 1);
/// log.push(Transition { state: &[190.0], action: &[0.0], next_state: &[200.0], reward: 0.0, episode: 0 })?;
/// let degrees = Wrap { low: -180.0, period: 360.0 };
/// let log = wrapped(&log, &[Some(degrees)]);
/// let row = log.rows().next().ok_or("a row")?;
/// assert_eq!((row.state, row.next_state), (&[-170.0][..], &[-160.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn wrapped<'a>(log: &'a Log, wraps: &[Option<Wrap>]) -> Cow<'a, Log> {
    moved(log, wraps, |wrap, _, next| wrap.inside(next))
}

/// The log with states inside their intervals, and every next state less than half a period from
/// its state: differences are taken the short way round.
#[must_use]
pub fn next_to_states<'a>(log: &'a Log, wraps: &[Option<Wrap>]) -> Cow<'a, Log> {
    moved(log, wraps, |wrap, state, next| wrap.next_to(next, state))
}

/// States inside their intervals, and next states where `place` puts them, given the state and the
/// next state.
fn moved<'a>(
    log: &'a Log,
    wraps: &[Option<Wrap>],
    place: impl Fn(Wrap, f32, f32) -> f32,
) -> Cow<'a, Log> {
    if wraps.iter().all(Option::is_none) {
        return Cow::Borrowed(log);
    }
    let moved = log.with_states(log.state_dimension(), |_, state, next_state| {
        for ((state, next), wrap) in state.iter_mut().zip(next_state).zip(wraps) {
            if let Some(wrap) = wrap {
                *state = wrap.inside(*state);
                *next = place(*wrap, *state, *next);
            }
        }
    });
    // Finite numbers stay finite.
    moved.map_or(Cow::Borrowed(log), Cow::Owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::super::rows::Transition;
    use super::*;

    #[test]
    fn differences_are_taken_the_short_way_round() {
        let mut log = Log::new(2, 1);
        for (state, next) in [(3.0, -3.0), (-3.0, 3.0), (0.1, 0.2), (9.0, 9.5)] {
            let row = Transition {
                state: &[state, state],
                action: &[0.0],
                next_state: &[next, next],
                reward: 1.0,
                episode: 0,
            };
            log.push(row).unwrap();
        }
        let wraps = [Some(Wrap::RADIANS), None];
        let moved = next_to_states(&log, &wraps);
        let turn = std::f32::consts::TAU;
        let wanted = [turn - 6.0, 6.0 - turn, 0.1, 0.5];
        for ((row, logged), wanted) in moved.rows().zip(log.rows()).zip(wanted) {
            let difference = row.next_state[0] - row.state[0];
            assert!((difference - wanted).abs() < 1e-5, "{difference} {wanted}");
            assert!(row.state[0].abs() <= std::f32::consts::PI);
            // The other state is left alone.
            assert_eq!(
                [row.state[1], row.next_state[1]],
                [logged.state[1], logged.next_state[1]]
            );
        }
        let inside = wrapped(&log, &wraps);
        let last = inside.rows().nth(3).unwrap();
        assert!((last.next_state[0] - (9.5 - 2.0 * turn)).abs() < 1e-5);
        // A log without such states is not copied.
        assert!(matches!(wrapped(&log, &[None, None]), Cow::Borrowed(_)));
    }
}
