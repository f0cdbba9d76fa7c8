//! The keys of the file, and the checks on their values.

use serde::Deserialize;

use hambo_core::constraint::{Constraint, ConstraintKind};
use hambo_core::task::Method;

use super::constraint::KINDS;
use super::known::Known;
use super::learned_reward::add_to_task;
use super::locate::{in_file, key as place_of_key, syntax};
use super::{Initial, MAX_CONSTRAINTS, NamedConstraint, Reward, TaskError, TaskFile};
use crate::formats::expression::{
    Compiler, ExpressionError, FUNCTIONS, Names, RESERVED, is_identifier,
};

/// The file as it is written. Missing keys are found by [`Checker`], for better errors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: Option<String>,
    horizon: Option<f64>,
    delta: Option<f32>,
    discount: Option<f32>,
    threshold: Option<f32>,
    time_step: Option<f64>,
    state: Option<RawStates>,
    action: Option<RawActions>,
    reward: Option<RawReward>,
    termination: Option<RawExpression>,
    power_off: Option<RawExpression>,
    #[serde(default)]
    constraint: Vec<RawConstraint>,
    known: Option<toml::Table>,
    model: Option<RawModel>,
    initial: Option<RawInitial>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStates {
    names: Option<Vec<String>>,
    low: Option<Vec<f32>>,
    high: Option<Vec<f32>>,
    wrap: Option<Vec<toml::Value>>,
    circle: Option<Vec<Vec<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel {
    inputs: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawActions {
    names: Option<Vec<String>>,
    low: Option<Vec<f32>>,
    high: Option<Vec<f32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReward {
    expr: Option<String>,
    learned: Option<bool>,
    low: Option<f32>,
    high: Option<f32>,
    return_low: Option<f32>,
    return_high: Option<f32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExpression {
    pub(super) expr: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConstraint {
    name: Option<String>,
    expr: Option<String>,
    kind: Option<String>,
    probability: Option<f32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawInitial {
    kind: Option<String>,
    value: Option<Vec<f32>>,
    low: Option<Vec<f32>>,
    high: Option<Vec<f32>>,
    mean: Option<Vec<f32>>,
    std: Option<Vec<f32>>,
    always: Option<bool>,
}

/// The time between two actions in whole microseconds; a file has it in seconds.
fn time_step(check: &Checker<'_>, seconds: Option<f64>) -> Result<Option<u32>, TaskError> {
    let Some(seconds) = seconds else {
        return Ok(None);
    };
    let microseconds = (seconds * 1e6).round();
    let whole = (seconds * 1e6 - microseconds).abs() < 1e-3;
    if !(whole && microseconds >= 1.0 && microseconds <= f64::from(u32::MAX)) {
        let help = "give seconds above 0, to the microsecond, for example time_step = 0.05";
        return check.fail("time_step", format!("is {seconds}"), help);
    }
    Ok(Some(microseconds as u32))
}

/// `other_horizon` stands for the file's own, in expressions too.
pub(super) fn parse(
    text: &str,
    origin: &str,
    other_horizon: Option<u32>,
) -> Result<TaskFile, TaskError> {
    let raw: Raw = toml::from_str(text).map_err(|problem| syntax(text, origin, &problem))?;
    let check = Checker { origin, text };

    let name = check.present("name", raw.name, "write for example name = \"pendulum\"")?;
    let horizon = check.present("horizon", raw.horizon, "write for example horizon = 200")?;
    if !(horizon >= 1.0 && horizon <= f64::from(u32::MAX) && horizon.fract() == 0.0) {
        let problem = format!("is {horizon}, not a number of steps");
        return check.fail("horizon", problem, "give a whole number, at least 1");
    }
    let horizon = other_horizon.unwrap_or(horizon as u32);
    let delta = raw.delta.unwrap_or(0.05);
    if !(delta > 0.0 && delta < 1.0) {
        let help = "give a number between 0 and 1; 0.05 means 95 % confidence";
        return check.fail("delta", format!("is {delta}"), help);
    }
    let discount = raw.discount.unwrap_or(1.0);
    if !(discount > 0.0 && discount <= 1.0) {
        let help = "give a number above 0 and at most 1; 1 means no discount";
        return check.fail("discount", format!("is {discount}"), help);
    }
    if let Some(threshold) = raw.threshold.filter(|threshold| !threshold.is_finite()) {
        let help = "give a finite number, or leave it out to only report";
        return check.fail("threshold", format!("is {threshold}"), help);
    }

    let state = check.present("state", raw.state, "add [state] with names = [...]")?;
    let state_names = check.names("state.names", state.names, &[])?;
    let states = state_names.len();
    let state_low = check.limits("state.low", state.low, states, false)?;
    let state_high = check.limits("state.high", state.high, states, false)?;
    if let (Some(low), Some(high)) = (&state_low, &state_high) {
        check.below("state.low", low, high, &state_names)?;
    }
    let wraps = check.wraps(state.wrap, &state_names, [&state_low, &state_high])?;

    let limits = [&state_low, &state_high];
    let circles = check.circles(state.circle, &state_names, &wraps, limits)?;
    let written = check.written_states(raw.known, &state_names)?;

    let help = "add [action] with names, low and high";
    let action = check.present("action", raw.action, help)?;
    let action_names = check.names("action.names", action.names, &state_names)?;
    let actions = action_names.len();
    let action_low = check.limits("action.low", action.low, actions, true)?;
    let action_high = check.limits("action.high", action.high, actions, true)?;
    let help = "give one number per action; the policy's output is clipped to it";
    let action_low = check.present("action.low", action_low, help)?;
    let action_high = check.present("action.high", action_high, help)?;
    check.below("action.low", &action_low, &action_high, &action_names)?;

    let help = "add [initial] with kind = \"point\", \"uniform\", \"gaussian\", \"worst\" or \
                \"data\"";
    let initial = check.present("initial", raw.initial, help)?;
    let names = Names {
        state: &state_names,
        action: &action_names,
        horizon,
    };
    let mut compiler = Compiler::new(names);
    let inputs = raw.model.and_then(|model| model.inputs);
    let known = check.known(names, inputs, written, circles, &mut compiler)?;
    let Known {
        physics,
        features,
        lines: known,
        memory,
    } = known;
    let logged = state_names.len() - memory.len();
    let mut initial = check.initial(initial, &state_names[..logged])?;
    start_memory(&mut initial, &memory);
    let help = "add [reward] with expr = \"...\", for example \"-abs(x)\"";
    let reward = check.present("reward", raw.reward, help)?;
    let reward_bounds = match (reward.low, reward.high) {
        (None, None) => None,
        (Some(low), Some(high)) if low.is_finite() && high.is_finite() && low <= high => {
            Some([low, high])
        }
        (low, high) => {
            let shown = |bound: Option<f32>| bound.map_or("missing".to_owned(), |x| x.to_string());
            let problem = format!(
                "has the bounds low: {} and high: {}",
                shown(low),
                shown(high)
            );
            let help = "give both, finite and in order, or neither";
            let first = if low.is_some() {
                "reward.low"
            } else {
                "reward.high"
            };
            return check.fail_at(first, "reward", problem, help);
        }
    };
    let return_bounds = check.return_bounds(&reward)?;
    let learned = reward.learned.unwrap_or(false);
    let reward = match (learned, reward.expr) {
        (true, Some(_)) => {
            let problem = "is true, and there is a `reward.expr` as well";
            let help = "remove one of them: a reward is learned from the log or computed";
            return check.fail("reward.learned", problem, help);
        }
        // Its expression is added to the finished task.
        (true, None) => 0,
        (false, expression) => {
            let expression = check.present("reward.expr", expression, help)?;
            check.compiled("reward.expr", compiler.add(&expression))?
        }
    };
    let termination = match raw.termination {
        Some(termination) => {
            let key = "termination.expr";
            let help = "write for example expr = \"abs(x) > 3\", or leave [termination] out";
            let expression = check.present(key, termination.expr, help)?;
            Some(check.compiled(key, compiler.add_condition(&expression))?)
        }
        None => None,
    };
    let power_off = match raw.power_off {
        Some(power_off) => Some(check.power_off(power_off, &mut compiler)?),
        None => None,
    };
    let constraints = check.constraints(raw.constraint, &mut compiler)?;

    let mut task = TaskFile {
        name,
        horizon,
        delta,
        discount,
        threshold: raw.threshold,
        time_step: time_step(&check, raw.time_step)?,
        ops: compiler.finish(),
        state_names,
        state_low,
        state_high,
        wraps,
        physics,
        features,
        known,
        memory,
        action_names,
        action_low,
        action_high,
        initial,
        reward: Reward::Computed(reward),
        reward_bounds,
        refused_by_host: false,
        return_bounds,
        method: Method::default(),
        termination,
        power_off,
        constraints,
    };
    if learned && let Err(error) = add_to_task(&mut task) {
        let help = "shorten the other expressions";
        return check.fail("reward.learned", format!("finds no room: {error}"), help);
    }
    Ok(task)
}

/// Every start with the initial values of the states that the log does not have.
fn start_memory(initial: &mut Initial, memory: &[f32]) {
    match initial {
        Initial::Point(value) => value.extend(memory),
        Initial::Uniform { low, high } | Initial::Worst { low, high } => {
            low.extend(memory);
            high.extend(memory);
        }
        Initial::Gaussian { mean, std } => {
            mean.extend(memory);
            std.extend(memory.iter().map(|_| 0.0));
        }
        // The log's rows have them.
        Initial::Data { .. } => {}
    }
}

/// The checks, with the file's name and text for their errors.
pub(super) struct Checker<'a> {
    origin: &'a str,
    text: &'a str,
}

impl Checker<'_> {
    pub(super) fn fail<T>(
        &self,
        key: &str,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<T, TaskError> {
        self.fail_at(key, key, problem, help)
    }

    /// Likewise, where what is wrong is only a part of the key's value, like `state.low[1]`.
    pub(super) fn fail_at<T>(
        &self,
        part: &str,
        key: &str,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<T, TaskError> {
        Err(TaskError::Key {
            origin: self.origin.to_owned(),
            key: key.to_owned(),
            problem: problem.into(),
            place: place_of_key(self.text, part).map(Box::new),
            help: help.into(),
        })
    }

    pub(super) fn present<T>(
        &self,
        key: &str,
        value: Option<T>,
        help: &str,
    ) -> Result<T, TaskError> {
        match value {
            Some(value) => Ok(value),
            None => self.fail(key, "is missing", help),
        }
    }

    pub(super) fn compiled(
        &self,
        key: &str,
        slot: Result<u16, ExpressionError>,
    ) -> Result<u16, TaskError> {
        slot.map_err(|problem| TaskError::Expression {
            origin: self.origin.to_owned(),
            key: key.to_owned(),
            problem: Box::new(in_file(self.text, key, problem)),
        })
    }

    /// Names that expressions can use, all different, also from `taken`.
    fn names(
        &self,
        key: &str,
        names: Option<Vec<String>>,
        taken: &[String],
    ) -> Result<Vec<String>, TaskError> {
        let names = self.present(key, names, "list the names, for example [\"x\", \"v\"]")?;
        if names.is_empty() {
            return self.fail(key, "is empty", "give at least one name");
        }
        if names.len() > usize::from(u16::MAX) {
            let problem = format!("has {} names", names.len());
            return self.fail(key, problem, format!("give at most {}", u16::MAX));
        }
        let mut seen: std::collections::HashSet<&str> = taken.iter().map(String::as_str).collect();
        for (index, name) in names.iter().enumerate() {
            let part = format!("{key}[{index}]");
            if !is_identifier(name) {
                let problem = format!("has `{}`, which is not a name", name.escape_debug());
                let help = "use letters, digits and _, a letter first";
                return self.fail_at(&part, key, problem, help);
            }
            if FUNCTIONS.contains(&name.as_str()) || RESERVED.contains(&name.as_str()) {
                let problem = format!("has `{name}`, which means something in expressions");
                let help = format!("rename it, for example `{name}_1`");
                return self.fail_at(&part, key, problem, help);
            }
            if !seen.insert(name) {
                let problem = format!("has `{name}`, which is there already");
                let help = "give every state and action a name of its own";
                return self.fail_at(&part, key, problem, help);
            }
        }
        Ok(names)
    }

    /// One number per name if there are any; never NaN, and finite where asked for.
    fn limits(
        &self,
        key: &str,
        values: Option<Vec<f32>>,
        length: usize,
        finite: bool,
    ) -> Result<Option<Vec<f32>>, TaskError> {
        let Some(values) = values else {
            return Ok(None);
        };
        if values.len() != length {
            let problem = format!("has length {}, not {length}", values.len());
            return self.fail(key, problem, "give one number per name");
        }
        let bad = |value: &f32| value.is_nan() || (finite && value.is_infinite());
        if let Some((index, value)) = values.iter().enumerate().find(|(_, value)| bad(value)) {
            let part = format!("{key}[{index}]");
            return self.fail_at(&part, key, format!("has {value}"), "give finite numbers");
        }
        Ok(Some(values))
    }

    fn below(
        &self,
        key: &str,
        low: &[f32],
        high: &[f32],
        names: &[String],
    ) -> Result<(), TaskError> {
        for (index, ((low, high), name)) in low.iter().zip(high).zip(names).enumerate() {
            if low >= high {
                let problem = format!("of {name} is {low}, and its high is {high}");
                let part = format!("{key}[{index}]");
                return self.fail_at(&part, key, problem, "make low less than high");
            }
        }
        Ok(())
    }

    /// Bounds of the whole return; the lower one may stand alone.
    fn return_bounds(&self, reward: &RawReward) -> Result<Option<[f32; 2]>, TaskError> {
        let high = match (reward.return_low, reward.return_high) {
            (None, None) => return Ok(None),
            (None, Some(_)) => {
                let help =
                    "give `return_low` too: without it the bound on the return gains nothing";
                return self.fail("reward.return_high", "stands without a `return_low`", help);
            }
            (Some(_), high) => high.unwrap_or(f32::INFINITY),
        };
        let low = reward.return_low.unwrap_or(f32::NAN);
        if !low.is_finite() {
            let help = "give the least return that an episode can have, a finite number";
            return self.fail("reward.return_low", format!("is {low}"), help);
        }
        if !(low < high && (reward.return_high.is_none() || high.is_finite())) {
            let problem = format!("is {high}, and `return_low` is {low}");
            let help = "give a finite number above `return_low`, or leave it out";
            return self.fail("reward.return_high", problem, help);
        }
        Ok(Some([low, high]))
    }

    fn initial(&self, raw: RawInitial, names: &[String]) -> Result<Initial, TaskError> {
        let kinds = "choose \"point\" (value), \"uniform\" (low, high), \
                     \"gaussian\" (mean, std), \"worst\" (low, high) or \"data\"";
        let kind = self.present("initial.kind", raw.kind, kinds)?;
        let wanted: &[&str] = match kind.as_str() {
            "point" => &["value"],
            "uniform" | "worst" => &["low", "high"],
            "gaussian" => &["mean", "std"],
            "data" => &[],
            _ => {
                let problem = format!("is \"{}\"", kind.escape_debug());
                return self.fail("initial.kind", problem, kinds);
            }
        };
        let help = format!("with kind = \"{kind}\" give one finite number per state");
        let take = |field: &str, values: Option<Vec<f32>>| {
            let key = format!("initial.{field}");
            match (wanted.contains(&field), values) {
                (true, values) => {
                    let values = self.limits(&key, values, names.len(), true)?;
                    self.present(&key, values, &help)
                }
                (false, None) => Ok(Vec::new()),
                (false, Some(_)) => {
                    let problem = format!("does not belong to kind = \"{kind}\"");
                    self.fail(&key, problem, "remove it, or change the kind")
                }
            }
        };
        if raw.always.is_some() && kind != "data" {
            let problem = format!("does not belong to kind = \"{kind}\"");
            let help = "remove it, or start from kind = \"data\"";
            return self.fail("initial.always", problem, help);
        }
        let value = take("value", raw.value)?;
        let low = take("low", raw.low)?;
        let high = take("high", raw.high)?;
        let mean = take("mean", raw.mean)?;
        let std = take("std", raw.std)?;
        // A state may start at one value only, so low may equal high and std may be 0.
        for (index, ((low, high), name)) in low.iter().zip(&high).zip(names).enumerate() {
            if low > high {
                let problem = format!("of {name} is {low}, and its high is {high}");
                let part = format!("initial.low[{index}]");
                return self.fail_at(&part, "initial.low", problem, "make low at most high");
            }
        }
        if let Some((index, std)) = std.iter().enumerate().find(|(_, std)| **std < 0.0) {
            let part = format!("initial.std[{index}]");
            return self.fail_at(&part, "initial.std", format!("has {std}"), "give 0 or more");
        }
        Ok(match kind.as_str() {
            "point" => Initial::Point(value),
            "uniform" => Initial::Uniform { low, high },
            "worst" => Initial::Worst { low, high },
            "gaussian" => Initial::Gaussian { mean, std },
            _ => Initial::Data {
                always: raw.always.unwrap_or(false),
            },
        })
    }

    fn constraints(
        &self,
        raw: Vec<RawConstraint>,
        compiler: &mut Compiler<'_>,
    ) -> Result<Vec<NamedConstraint>, TaskError> {
        if raw.len() > MAX_CONSTRAINTS {
            let problem = format!("is there {} times", raw.len());
            let help = format!("give at most {MAX_CONSTRAINTS}; min(a, b) joins two");
            // The first that is too many.
            let part = format!("constraint[{MAX_CONSTRAINTS}]");
            return self.fail_at(&part, "constraint", problem, help);
        }
        let mut constraints: Vec<NamedConstraint> = Vec::new();
        for (index, constraint) in raw.into_iter().enumerate() {
            let key = format!("constraint[{index}].name");
            let name = self.present(&key, constraint.name, "name every constraint")?;
            if name.trim().is_empty() {
                return self.fail(&key, "is empty", "name every constraint");
            }
            if constraints.iter().any(|other| other.name == name) {
                let problem = format!("is `{name}` a second time");
                return self.fail(&key, problem, "give every constraint a name of its own");
            }
            let key = format!("constraint[{index}].expr");
            let help =
                "write for example expr = \"abs(x) <= 7\", or \"7 - abs(x)\", which must be >= 0";
            let expression = self.present(&key, constraint.expr, help)?;
            let slot = self.compiled(&key, compiler.add_margin(&expression))?;
            let kind = self.constraint_kind(index, constraint.kind)?;
            let probability = constraint.probability;
            if let Some(share) = probability.filter(|share| !(*share > 0.0 && *share < 1.0)) {
                let key = format!("constraint[{index}].probability");
                let help = "give the share of trajectories that must keep it, such as 0.99, \
                            or leave it out";
                return self.fail(&key, format!("is {share}, not between 0 and 1"), help);
            }
            let constraint = Constraint {
                slot,
                kind,
                probability,
            };
            constraints.push(NamedConstraint { name, constraint });
        }
        Ok(constraints)
    }

    fn constraint_kind(
        &self,
        index: usize,
        word: Option<String>,
    ) -> Result<ConstraintKind, TaskError> {
        let Some(word) = word else {
            return Ok(ConstraintKind::Mean);
        };
        let known = KINDS.iter().find(|(name, _)| *name == word);
        match known {
            Some((_, kind)) => Ok(*kind),
            None => {
                let key = format!("constraint[{index}].kind");
                let problem = format!("is \"{}\"", word.escape_debug());
                let help = "choose \"mean\" (on average over the steps), \"always\" (at every \
                            step), \"finally\" (at the last) or \"eventually\" (at one or more)";
                self.fail(&key, problem, help)
            }
        }
    }
}
