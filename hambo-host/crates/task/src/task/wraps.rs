//! `[state] wrap`: states that come back after a period, such as angles.
//!
//! | what | where |
//! |---|---|
//! | the key, and moving one number by whole periods | here |
//! | a log's states, moved into the interval as it is read | `hambo-data`, `log/wrapped.rs` |
//! | differences and residuals of a fit, taken the short way round | `learn/fit` |
//! | rollouts and first states, moved into the interval | `hambo_core::task` |
//! | a log that jumps by a period without a word in the task | `hambo-data`, `inspect/wrap_hint.rs` |

use std::f32::consts::{PI, TAU};

use hambo_core::task::wrap;
use serde::{Deserialize, Serialize};

use super::checker::Checker;
use super::error::TaskError;

/// How much narrower than the interval limits may be, as a part of the period: 3.1416 is
/// meant as pi.
const LIMIT_TOLERANCE: f32 = 1e-3;
const KEY: &str = "state.wrap";

/// The interval [low, low + period) of a state that wraps.
///
/// ```
/// use hambo_task::task::Wrap;
/// let degrees = Wrap { low: -180.0, period: 360.0 };
/// assert_eq!(degrees.inside(190.0), -170.0);
/// // From 170 it is 20 degrees to −170, and not −340.
/// assert_eq!(degrees.next_to(-170.0, 170.0), 190.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wrap {
    /// The lower end.
    pub low: f32,
    /// Its length.
    pub period: f32,
}

impl Wrap {
    /// An angle in radians, from −pi to pi.
    pub const RADIANS: Self = Self {
        low: -PI,
        period: TAU,
    };

    /// `x` moved by whole periods into the interval, as the core does.
    #[must_use]
    pub fn inside(self, x: f32) -> f32 {
        wrap(x, self.low, self.period)
    }

    /// `x` moved by whole periods to less than half a period from `other`.
    #[must_use]
    pub fn next_to(self, x: f32, other: f32) -> f32 {
        let periods = ((x - other) / self.period + 0.5).floor();
        // Not a bit changes where nothing is to be moved.
        if periods == 0.0 {
            x
        } else {
            x - periods * self.period
        }
    }

    /// As an entry of `wrap = [...]`.
    #[must_use]
    pub fn entry(self, name: &str) -> String {
        let Self { low, period } = self;
        let mut parts = Vec::new();
        if period != TAU {
            parts.push(format!("period = {period}"));
        }
        if low != -0.5 * period {
            parts.push(format!("low = {low}"));
        }
        if parts.is_empty() {
            return format!("\"{name}\"");
        }
        format!("{{ name = \"{name}\", {} }}", parts.join(", "))
    }
}

impl Checker<'_> {
    /// One entry per state, from a list of names and tables.
    pub(super) fn wraps(
        &self,
        raw: Option<Vec<toml::Value>>,
        names: &[String],
        limits: [&Option<Vec<f32>>; 2],
    ) -> Result<Vec<Option<Wrap>>, TaskError> {
        let mut wraps = vec![None; names.len()];
        for (index, value) in raw.unwrap_or_default().into_iter().enumerate() {
            let part = format!("{KEY}[{index}]");
            let (name, found) = self.wrap(&part, value)?;
            let Some(place) = names.iter().position(|other| *other == name) else {
                let problem = format!("has `{}`, which is no state", name.escape_debug());
                let help = format!("name one of {}", names.join(", "));
                return self.fail_at(&part, KEY, problem, help);
            };
            self.ensure_limits(&part, &name, found, limits.map(|limit| at(limit, place)))?;
            match wraps.get_mut(place) {
                Some(wrap @ None) => *wrap = Some(found),
                _ => {
                    let problem = format!("has `{name}` a second time");
                    return self.fail_at(&part, KEY, problem, "name every state once");
                }
            }
        }
        Ok(wraps)
    }

    /// A name alone, or with its period and its lower end.
    fn wrap(&self, part: &str, value: toml::Value) -> Result<(String, Wrap), TaskError> {
        let help =
            "write for example [\"theta\"], or [{ name = \"theta\", period = 360, low = 0 }]";
        let table = match value {
            toml::Value::String(name) => return Ok((name, Wrap::RADIANS)),
            toml::Value::Table(table) => table,
            other => {
                let problem = format!("has {other}, which is no name");
                return self.fail_at(part, KEY, problem, help);
            }
        };
        let known = ["name", "period", "low"];
        if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
            let problem = format!("has the key `{}`", key.escape_debug());
            return self.fail_at(part, KEY, problem, help);
        }
        let number = |key: &str| match table.get(key) {
            None => Ok(None),
            Some(toml::Value::Float(number)) => Ok(Some(*number as f32)),
            Some(toml::Value::Integer(number)) => Ok(Some(*number as f32)),
            Some(other) => {
                let problem = format!("has the {key} {other}");
                self.fail_at(part, KEY, problem, "give a number")
            }
        };
        let Some(toml::Value::String(name)) = table.get("name") else {
            return self.fail_at(part, KEY, "has an entry without a name", help);
        };
        let period = number("period")?.unwrap_or(TAU);
        if !(period > 0.0 && period.is_finite()) {
            let problem = format!("gives {name} the period {period}");
            let help = "give a positive number, for example 360; without one it is 2 pi";
            return self.fail_at(part, KEY, problem, help);
        }
        let low = number("low")?.unwrap_or(-0.5 * period);
        let high = low + period;
        if !(low.is_finite() && high.is_finite() && high > low) {
            let problem = format!("keeps {name} in {low} to {high}");
            let help = "give a lower end like 0; without one it is minus half the period";
            return self.fail_at(part, KEY, problem, help);
        }
        Ok((name.clone(), Wrap { low, period }))
    }

    /// Ensures that the limits are not narrower than the interval: they would stop a state that
    /// shall wrap.
    fn ensure_limits(
        &self,
        part: &str,
        name: &str,
        wrap: Wrap,
        [low, high]: [Option<f32>; 2],
    ) -> Result<(), TaskError> {
        let (low, high) = (
            low.unwrap_or(f32::NEG_INFINITY),
            high.unwrap_or(f32::INFINITY),
        );
        let room = LIMIT_TOLERANCE * wrap.period;
        let end = wrap.low + wrap.period;
        if low <= wrap.low + room && high >= end - room {
            return Ok(());
        }
        let problem = format!(
            "keeps {name} in {} to {end}, and its limits {low} to {high} are narrower",
            wrap.low
        );
        let help = format!("give {name} the limits -inf and inf, or do not wrap it");
        self.fail_at(part, KEY, problem, help)
    }
}

fn at(limits: &Option<Vec<f32>>, place: usize) -> Option<f32> {
    limits.as_ref()?.get(place).copied()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::task::task_file::TaskFile;

    fn parse(state: &str) -> Result<TaskFile, String> {
        let text = format!(
            "name = 'arm'\nhorizon = 5\n[state]\nnames = ['theta', 'omega']\n{state}\n\
             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = '-theta^2'\n\
             [initial]\nkind = 'point'\nvalue = [0, 0]\n"
        );
        TaskFile::parse(&text, "arm.toml").map_err(|error| error.to_string())
    }

    #[test]
    fn names_periods_and_lower_ends() {
        let wraps = |state: &str| parse(state).unwrap().wraps;
        let wrap = |low, period| Some(Wrap { low, period });
        assert_eq!(wraps(""), [None, None]);
        assert_eq!(wraps("wrap = ['theta']"), [Some(Wrap::RADIANS), None]);
        let both = "wrap = [{ name = 'omega', period = 360 }, { name = 'theta', low = 0 }]";
        assert_eq!(wraps(both), [wrap(0.0, TAU), wrap(-180.0, 360.0)]);
        let given = "wrap = [{ name = 'theta', period = 2.5, low = 0.5 }]";
        assert_eq!(wraps(given), [wrap(0.5, 2.5), None]);
        // Limits around the interval are good, rounded ones too.
        assert!(parse("wrap = ['theta']\nlow = [-3.1416, -1]\nhigh = [3.1415, 1]").is_ok());
    }

    #[test]
    fn entries_are_read_as_they_are_written() {
        for (low, period) in [(-PI, TAU), (0.0, TAU), (-180.0, 360.0), (0.5, 2.5)] {
            let wrap = Wrap { low, period };
            let task = parse(&format!("wrap = [{}]", wrap.entry("theta"))).unwrap();
            assert_eq!(task.wraps, [Some(wrap), None]);
        }
        assert_eq!(Wrap::RADIANS.entry("theta"), "\"theta\"");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (state, words) in [
            ("wrap = ['thta']", "`thta`, which is no state"),
            ("wrap = ['u']", "name one of theta, omega"),
            ("wrap = [3]", "has 3, which is no name"),
            ("wrap = ['theta', 'theta']", "`theta` a second time"),
            ("wrap = [{ period = 360 }]", "an entry without a name"),
            (
                "wrap = [{ name = 'theta', periods = 2 }]",
                "the key `periods`",
            ),
            ("wrap = [{ name = 'theta', period = 0 }]", "the period 0"),
            ("wrap = [{ name = 'theta', period = -6 }]", "the period -6"),
            (
                "wrap = [{ name = 'theta', period = inf }]",
                "the period inf",
            ),
            (
                "wrap = [{ name = 'theta', period = 'x' }]",
                "the period \"x\"",
            ),
            ("wrap = [{ name = 'theta', low = 1e30 }]", "in 1000"),
            (
                "wrap = ['theta']\nlow = [-1, -9]\nhigh = [1, 9]",
                "its limits -1 to 1 are narrower",
            ),
            (
                "wrap = ['theta']\nlow = [0, -9]\nhigh = [7, 9]",
                "its limits 0 to 7 are narrower",
            ),
        ] {
            let error = parse(state).unwrap_err();
            assert!(error.contains(words), "{state}: {error}");
            assert!(error.contains("`state.wrap`"), "{error}");
        }
    }

    #[test]
    fn a_number_is_moved_by_whole_periods_only() {
        let wrap = Wrap::RADIANS;
        for other in [-3.0, 0.0, 3.1] {
            for x in [-9.0, -3.1, 0.2, 3.13, 12.0] {
                let moved = wrap.next_to(x, other);
                assert!((moved - other).abs() <= PI + 1e-5, "{x} {other}: {moved}");
                let periods = (moved - x) / TAU;
                assert!((periods - periods.round()).abs() < 1e-6);
            }
        }
        assert_eq!(wrap.next_to(0.2, 0.1).to_bits(), 0.2_f32.to_bits());
    }
}
