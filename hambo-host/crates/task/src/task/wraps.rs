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
