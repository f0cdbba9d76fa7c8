//! Columns that jump by about a whole turn from row to row, as an angle does that wraps. Learnt as
//! they stand, the jumps become dynamics.

use std::f64::consts::TAU;

use hambo_task::task::Wrap;

use crate::log::Log;
use crate::table::Table;

/// Turns that are looked for: radians and degrees.
const PERIODS: [f64; 2] = [TAU, 360.0];
/// A step is a jump if it is this close to a period, as a part of it.
const NEAR: f64 = 0.2;
/// All other steps, but for this share, are shorter than half a period.
const OTHERS: f64 = 0.01;
/// The most jumps, as a share of all steps: a state that always jumps is no angle.
const MOST_JUMPS: f64 = 0.3;
const FEWEST_JUMPS: usize = 2;
/// How much wider than a period the values may lie, as a part of it: noise of the sensor.
const ROOM: f64 = 0.02;

/// A column that seems to wrap.
#[derive(Clone, Debug, PartialEq)]
pub struct WrapHint {
    pub name: String,
    /// The interval that it seems to keep to.
    pub wrap: Wrap,
    /// Steps that jump by about a period.
    pub jumps: usize,
    /// All steps.
    pub steps: usize,
}

impl WrapHint {
    /// The jumps in words.
    #[must_use]
    pub fn seen(&self) -> String {
        let period = if self.wrap.period > 100.0 {
            "360"
        } else {
            "2 pi"
        };
        format!(
            "`{}` jumps by about {period} in {} of {} steps, as an angle does that wraps",
            self.name, self.jumps, self.steps
        )
    }
}

/// The line of the task file that says what wraps: what it says already (`wraps`, of the states
/// `names`) and what was found.
#[must_use]
pub fn wrap_line(names: &[String], wraps: &[Option<Wrap>], hints: &[WrapHint]) -> String {
    let said = names.iter().zip(wraps);
    let said = said.filter_map(|(name, wrap)| Some((name, (*wrap)?)));
    let found = hints.iter().map(|hint| (&hint.name, hint.wrap));
    let entries: Vec<String> = said
        .chain(found)
        .map(|(name, wrap)| wrap.entry(name))
        .collect();
    format!("wrap = [{}]", entries.join(", "))
}

impl Table {
    /// States that seem to wrap, and of which `wraps` does not say so.
    pub(crate) fn wrap_hints(&self, wraps: &[Option<Wrap>]) -> Vec<WrapHint> {
        wrap_hints(&self.names.states, wraps, |column| {
            (0..self.rows()).filter_map(move |row| {
                let (next_states, next) = self.next_of(row)?;
                Some((self.states.at(row, column), next_states.at(next, column)))
            })
        })
    }
}

impl Log {
    /// States of these names that seem to wrap, and of which `wraps` does not say so.
    #[must_use]
    pub fn wrap_hints(&self, names: &[String], wraps: &[Option<Wrap>]) -> Vec<WrapHint> {
        wrap_hints(names, wraps, |column| {
            self.rows().filter_map(move |row| {
                let (state, next) = (row.state.get(column)?, row.next_state.get(column)?);
                Some((f64::from(*state), f64::from(*next)))
            })
        })
    }
}

/// States that seem to wrap, and of which `wraps` does not say so; `steps` gives the steps of a
/// column from s to s′.
pub(crate) fn wrap_hints<I: Iterator<Item = (f64, f64)>>(
    names: &[String],
    wraps: &[Option<Wrap>],
    steps: impl Fn(usize) -> I,
) -> Vec<WrapHint> {
    let columns = names.iter().enumerate();
    let unsaid = columns.filter(|(column, _)| !matches!(wraps.get(*column), Some(Some(_))));
    let hints = unsaid.filter_map(|(column, name)| wrap_hint(name, || steps(column)));
    hints.collect()
}

/// Whether a column jumps by a period, given its steps from s to s′.
fn wrap_hint<I: Iterator<Item = (f64, f64)>>(
    name: &str,
    steps: impl Fn() -> I,
) -> Option<WrapHint> {
    PERIODS.into_iter().find_map(|period| {
        let (mut jumps, mut long, mut count) = (0_usize, 0_usize, 0_usize);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for (state, next) in steps() {
            let length = (next - state).abs();
            count += 1;
            if (length - period).abs() <= NEAR * period {
                jumps += 1;
            } else if length >= 0.5 * period {
                long += 1;
            }
            least = least.min(state).min(next);
            most = most.max(state).max(next);
        }
        let others = count.saturating_sub(jumps);
        let wraps = jumps >= FEWEST_JUMPS
            && jumps as f64 <= MOST_JUMPS * count as f64
            && long as f64 <= OTHERS * others as f64
            && most - least <= (1.0 + ROOM) * period;
        wraps.then(|| WrapHint {
            name: name.to_owned(),
            wrap: interval(period, least, most),
            jumps,
            steps: count,
        })
    })
}

/// From minus half a period or from 0 on, as people count angles, or from the least value.
fn interval(period: f64, least: f64, most: f64) -> Wrap {
    let room = ROOM * period;
    let holds = |low: f64| least >= low - room && most <= low + period + room;
    let low = [-0.5 * period, 0.0].into_iter().find(|low| holds(*low));
    Wrap {
        low: low.unwrap_or(least) as f32,
        period: period as f32,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// An angle that turns by `step` from row to row, in [low, low + period).
    fn turning(step: f64, low: f64, period: f64) -> Vec<(f64, f64)> {
        let wrap = |x: f64| x - period * ((x - low) / period).floor();
        let rows =
            (0..500).map(|row| (wrap(step * f64::from(row)), wrap(step * f64::from(row + 1))));
        rows.collect()
    }

    fn hint(steps: &[(f64, f64)]) -> Option<WrapHint> {
        wrap_hint("theta", || steps.iter().copied())
    }

    #[test]
    fn turns_are_seen_in_radians_and_degrees() {
        for (step, low, period, entry) in [
            (0.1, -0.5 * TAU, TAU, "\"theta\""),
            (-0.3, 0.0, TAU, "{ name = \"theta\", low = 0 }"),
            (5.0, -180.0, 360.0, "{ name = \"theta\", period = 360 }"),
            (
                5.0,
                0.0,
                360.0,
                "{ name = \"theta\", period = 360, low = 0 }",
            ),
        ] {
            let found = hint(&turning(step, low, period)).unwrap();
            let line = wrap_line(&[], &[], std::slice::from_ref(&found));
            assert_eq!(line, format!("wrap = [{entry}]"));
            let turns = (500.0 * step.abs() / period).round();
            assert!((found.jumps as f64 - turns).abs() <= 1.0, "{}", found.jumps);
            assert_eq!(found.steps, 500);
        }
    }

    #[test]
    fn what_does_not_turn_is_left_alone() {
        // It walks, oscillates, is thrown about, or switches between two values.
        let walk: Vec<_> = (0..500)
            .map(|row| (f64::from(row), f64::from(row + 1)))
            .collect();
        let swing = |row: i32| 3.0 * (0.1 * f64::from(row)).sin();
        let swings: Vec<_> = (0..500).map(|row| (swing(row), swing(row + 1))).collect();
        let thrown = |row: i32| 6.2 * (f64::from(row) * 0.618_034).fract();
        let throws: Vec<_> = (0..500).map(|row| (thrown(row), thrown(row + 1))).collect();
        let switched = |row: i32| f64::from(row % 2) * 6.0;
        let switches: Vec<_> = (0..500)
            .map(|row| (switched(row), switched(row + 1)))
            .collect();
        // An angle that is counted on beyond a turn.
        let mut counted = turning(0.1, -0.5 * TAU, TAU);
        counted.push((8.0, 8.1));
        for steps in [walk, swings, throws, switches, counted] {
            assert_eq!(hint(&steps), None);
        }
    }

    #[test]
    fn the_line_keeps_what_the_task_says() {
        let found = hint(&turning(0.1, -0.5 * TAU, TAU)).unwrap();
        let names = ["x", "yaw"].map(str::to_owned);
        let yaw = Wrap {
            low: 0.0,
            period: 360.0,
        };
        let line = wrap_line(&names, &[None, Some(yaw)], &[found]);
        assert_eq!(
            line,
            "wrap = [{ name = \"yaw\", period = 360, low = 0 }, \"theta\"]"
        );
    }
}
