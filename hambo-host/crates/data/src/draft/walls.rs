//! Where states stop: walls, ends of travel, saturations. Their values pile up at an extreme, and
//! at some a velocity becomes 0. A line of `[known]` each, which corrects what a model says.

use std::collections::BTreeMap;

use hambo_core::task::MAX_KNOWN;
use hambo_task::task::known_line;

use super::circles::Circle;
use super::known::Known;
use super::rows::LoggedRows;
use crate::inspect::WrapHint;

/// Fewer rows at an extreme show nothing.
const FEWEST_ROWS: usize = 5;
/// No other value comes so often that it is more than one part in this number of the extreme's.
const TIMES: usize = 5;
/// A state with fewer values is a flag, a gear or a counter.
const FEWEST_VALUES: usize = 20;
/// A velocity that stops at a wall is 0 elsewhere in at most this share of the rows.
const ELSEWHERE: f64 = 0.1;

/// A state that is corrected.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stop {
    name: String,
    /// Its next value, as a task writes it.
    expression: String,
    /// The finding in words.
    seen: String,
}

impl Stop {
    /// The finding in words.
    pub(super) fn seen(&self) -> &str {
        &self.seen
    }

    /// The line of the task file.
    pub(super) fn line(&self) -> String {
        known_line(&self.name, &self.expression)
    }
}

/// A value that a state does not pass.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wall {
    at: f32,
    rows: usize,
}

/// Below and above.
type Walls = [Option<Wall>; 2];

impl LoggedRows {
    /// States that stop, except those that wrap, are on circles or follow exactly.
    pub(super) fn stops(
        &self,
        wraps: &[WrapHint],
        circles: &[Circle],
        known: &[Known],
    ) -> Vec<Stop> {
        let left = |state: usize, name: &String| {
            !wraps.iter().any(|hint| hint.name == *name)
                && !circles.iter().any(|circle| circle.columns.contains(&state))
                && !known.iter().any(|one| one.name == *name)
        };
        let states = self.states.iter().enumerate();
        let walls: Vec<Walls> = states
            .map(|(state, name)| {
                if left(state, name) {
                    self.walls_of(state)
                } else {
                    [None; 2]
                }
            })
            .collect();
        // None waits for a state that waits.
        let mut waits: Vec<Option<(usize, Walls)>> = vec![None; walls.len()];
        for (state, name) in self.states.iter().enumerate() {
            let waited_for = waits.iter().flatten().any(|(place, _)| *place == state);
            if waited_for || !left(state, name) {
                continue;
            }
            let others = walls.iter().enumerate().filter(|(place, _)| {
                let free = waits.get(*place).is_some_and(Option::is_none);
                free && *place != state
            });
            let mut at = others.filter_map(|(place, walls)| {
                let walls = self.stops_at(state, place, walls);
                walls.iter().flatten().next()?;
                Some((place, walls))
            });
            let found = at.next();
            if let Some(own) = waits.get_mut(state) {
                *own = found;
            }
        }
        let mut found = Vec::new();
        for (state, name) in self.states.iter().enumerate() {
            let own = walls.get(state).copied().unwrap_or_default();
            found.extend(self.stop(name, own, waits.get(state).copied().flatten()));
        }
        found.truncate(MAX_KNOWN.saturating_sub(known.len()));
        found
    }

    /// The extremes at which the next values of a state pile up.
    fn walls_of(&self, state: usize) -> Walls {
        let mut counts: BTreeMap<u32, (f32, usize)> = BTreeMap::new();
        for value in self.steps().filter_map(|step| step.next.get(state)) {
            // So that 0 and -0 are one.
            let value = value + 0.0;
            counts.entry(value.to_bits()).or_insert((value, 0)).1 += 1;
        }
        let mut values: Vec<(f32, usize)> = counts.into_values().collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [first, between @ .., last] = values.as_slice() else {
            return [None; 2];
        };
        // A velocity is 0 wherever it rests.
        let moving = between.iter().filter(|(value, _)| *value != 0.0);
        let usual = moving.map(|(_, rows)| *rows).max().unwrap_or(0);
        let piles = |(at, rows): (f32, usize)| {
            let many = rows >= FEWEST_ROWS.max(TIMES * usual) && between.len() >= FEWEST_VALUES;
            many.then_some(Wall { at, rows })
        };
        [piles(*first), piles(*last)]
    }

    /// Those of another state's walls at which this one is 0 in every row; none if it often is
    /// elsewhere.
    fn stops_at(&self, state: usize, place: usize, walls: &Walls) -> Walls {
        let zeros_at = |wall: &Wall| {
            let there = self
                .steps()
                .filter(|step| step.next.get(place) == Some(&wall.at));
            let mut own = there.map(|step| step.next.get(state));
            own.all(|own| own == Some(&0.0))
        };
        let stops = walls.map(|wall| wall.filter(zeros_at));
        let rows: usize = stops.iter().flatten().map(|wall| wall.rows).sum();
        let zeros = self
            .steps()
            .filter(|step| step.next.get(state) == Some(&0.0));
        let elsewhere = zeros.count().saturating_sub(rows);
        if elsewhere as f64 <= ELSEWHERE * self.steps().count() as f64 {
            stops
        } else {
            [None; 2]
        }
    }

    /// What is said of a state with its own walls, and with those of another at which it is 0.
    fn stop(&self, name: &str, own: Walls, other: Option<(usize, Walls)>) -> Option<Stop> {
        let rows = self.steps().count();
        let mut seen = Vec::new();
        let [low, high] = own;
        for (wall, way) in [(low, "below"), (high, "above")] {
            if let Some(Wall { at, rows: there }) = wall {
                seen.push(format!("{at} in {there} of {rows} rows, and never {way}"));
            }
        }
        let learned = format!("learned.{name}");
        let mut expression = match (low, high) {
            (Some(low), Some(high)) => format!("clamp({learned}, {}, {})", low.at, high.at),
            (Some(low), None) => format!("max({learned}, {})", low.at),
            (None, Some(high)) => format!("min({learned}, {})", high.at),
            (None, None) => learned,
        };
        if let Some((place, [low, high])) = other {
            let at = self.states.get(place)?;
            let below = low.map(|wall| format!("next.{at} <= {}", wall.at));
            let above = high.map(|wall| format!("next.{at} >= {}", wall.at));
            let there: Vec<String> = below.into_iter().chain(above).collect();
            expression = format!("if({}, 0, {expression})", there.join(" || "));
            seen.push(format!("0 wherever {}", there.join(" or ")));
        }
        (!seen.is_empty()).then(|| Stop {
            name: name.to_owned(),
            expression,
            seen: format!("`{name}` is {}", seen.join("; ")),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use hambo_task::task::TaskFile;

    use super::super::simulated::{Noise, log, without_starts};
    use super::super::text::draft;
    use super::*;
    use crate::inspect::{Told, known_residuals};
    use crate::log::{Log, Transition};

    fn lines(log: &LoggedRows) -> Vec<String> {
        let (wraps, circles) = (log.wrap_hints(&[]), log.circles());
        let known = log.known(&wraps, &circles);
        let stops = log.stops(&wraps, &circles, &known);
        stops.iter().map(Stop::line).collect()
    }

    /// A car in a valley, of Gymnasium's MountainCar: it stops at -1.2, its speed at 0.07.
    fn valley() -> LoggedRows {
        let car = log("x v", |s, u, noise| {
            let force = if u > 0.0 { 1.0 } else { -1.0 } + 0.1 * noise.next();
            let v = s[1] + 0.015 * force - 0.0025 * (3.0 * s[0]).cos();
            let v = v.clamp(-0.07, 0.07);
            let x = (s[0] + v).clamp(-1.2, 0.6);
            vec![x, if x <= -1.2 { 0.0 } else { v }]
        });
        without_starts(car)
    }

    #[test]
    fn a_wall_a_stop_and_a_saturation_are_one_line_each() {
        let found = lines(&valley());
        let x = "x = \"clamp(learned.x, -1.2, 0.6)\"";
        let v = "v = \"if(next.x <= -1.2, 0, clamp(learned.v, -0.07, 0.07))\"";
        assert_eq!(found, [x, v]);
        // The draft is a task that its own log agrees with.
        let log = valley();
        let text = draft(&log, "valley").replace("# expr = \"\"", "expr = \"-x^2\"");
        let task = TaskFile::parse(&text, "valley.toml").unwrap();
        let view = task.model_view();
        assert_eq!(view.moved, [0, 1]);
        let mut rows = Log::new(2, 1);
        for row in &log.rows {
            rows.push(Transition {
                state: &row.state,
                action: &row.action,
                next_state: row.next_state.as_deref().unwrap(),
                reward: 0.0,
                episode: row.episode as u32,
            })
            .unwrap();
        }
        let residuals = known_residuals(&view, &rows).unwrap();
        assert!(residuals.iter().all(|one| !one.too_large), "{residuals:?}");
        let told = Told::of(&rows, &view);
        let wall = rows
            .rows()
            .position(|row| row.next_state[0] <= -1.2)
            .unwrap();
        assert!(!told.tells(wall, 0) && !told.tells(wall, 1));
        assert!(text.contains("and never below"), "{text}");
    }

    #[test]
    fn no_wall_is_seen_where_there_is_none() {
        // A walk; gears, flags and counters; a sensor of a few steps.
        let walk = log("x v", |s, u, noise| {
            vec![s[0] + s[1], 0.9 * s[1] + u + noise.next()]
        });
        assert!(lines(&without_starts(walk)).is_empty());
        let steps = log("gear flag count tick", |s, u, noise| {
            let gear = (2.0 * noise.next()).round();
            let tick = (20.0 * u).round() / 20.0;
            vec![gear, f32::from(u > 0.9), s[2].floor() + 1.0, tick]
        });
        assert!(lines(&without_starts(steps)).is_empty());
        // At rest most of the time, and not at an extreme.
        let rest = log("x", |_, u, noise| {
            vec![if u > 0.5 { noise.next() } else { 0.0 }]
        });
        assert!(lines(&without_starts(rest)).is_empty());
    }

    /// A velocity that bounces is not 0 at the wall.
    #[test]
    fn a_bounce_is_left_to_the_model() {
        let ball = log("x v", |s, u, noise| {
            let v = s[1] + 0.1 * u - 0.05 + 0.01 * noise.next();
            let x = s[0] + 0.1 * v;
            if x < -1.0 {
                vec![-1.0, -0.8 * v]
            } else {
                vec![x, v]
            }
        });
        let found = lines(&without_starts(ball));
        assert!(
            found.iter().all(|line| line.starts_with("x = ")),
            "{found:?}"
        );
    }

    #[test]
    fn a_pump_that_is_never_negative_stops_at_0() {
        let mut noise = Noise(4);
        let mut pump = log("flow", |s, u, _| vec![(0.8 * s[0] + 0.5 * u).max(0.0)]);
        for row in &mut pump.rows {
            row.action = vec![noise.next()];
        }
        assert_eq!(
            lines(&without_starts(pump)),
            ["flow = \"max(learned.flow, 0)\""]
        );
    }
}
