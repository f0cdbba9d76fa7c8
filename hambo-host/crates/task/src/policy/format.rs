//! The keys of the file, and the checks on their values against the task.
//!
//! | kind | keys |
//! |---|---|
//! | `linear` | `gain` (one row per action), `bias`: action = gain · state + bias |
//! | `constant` | `value` |
//! | `pd` | `position`, `velocity` (a state's name or index per action), `target`, `kp`, `kd`: kp · (target − position) − kd · velocity |
//! | `onnx` | `file`, and what the graph does not say itself: `observation_mean`, `observation_std`, `action_scale`, `action_offset`, `squash`, `head` |
//! | `waypoints` | `speed`, `legs` with `target` and, but for the last, `while` and `below` |
//!
//! `observes` lists what the controller sees instead of the task's states, in its order: names
//! of states, or functions of them such as `cos(theta)`. `std`, one per action, makes linear, constant and PD controllers Gaussian. Constant and PD controllers
//! become linear ones.

use std::path::Path;

use hambo_core::numeric::elementary::ln;
use hambo_core::policy::{Head, Leg, MAX_LEGS, MAX_SPACE, Spread, Waypoints};
use serde::Deserialize;
use toml::Value;

use super::error::PolicyError;
use super::host_policy::{ActionMap, HostPolicy, LinearPolicy};
use super::onnx::options::Chance;
use crate::task::task_file::TaskFile;
use hambo_base::network::Layer;

/// The file as it is written. Missing keys are found by [`Checker`], for better errors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    kind: Option<String>,
    observes: Option<Vec<String>>,
    gain: Option<Vec<Vec<f32>>>,
    bias: Option<Vec<f32>>,
    value: Option<Vec<f32>>,
    position: Option<Vec<Value>>,
    velocity: Option<Vec<Value>>,
    target: Option<Vec<f32>>,
    kp: Option<Vec<f32>>,
    kd: Option<Vec<f32>>,
    speed: Option<f32>,
    legs: Option<Vec<RawLeg>>,
    std: Option<Vec<f32>>,
    pub(super) file: Option<String>,
    pub(super) observation_mean: Option<Vec<f32>>,
    pub(super) observation_std: Option<Vec<f32>>,
    pub(super) action_scale: Option<Vec<f32>>,
    pub(super) action_offset: Option<Vec<f32>>,
    pub(super) squash: Option<bool>,
    pub(super) head: Option<Chance>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLeg {
    target: Option<Vec<f32>>,
    r#while: Option<Value>,
    below: Option<f32>,
}

const KINDS: &str = "choose \"linear\" (gain, bias), \"constant\" (value), \
                     \"pd\" (position, velocity, target, kp, kd), \"waypoints\" (speed, legs) \
                     or \"onnx\" (file)";

/// `folder` is where a file that the text names is looked for.
pub(super) fn parse(
    text: &str,
    origin: &str,
    folder: Option<&Path>,
    task: &TaskFile,
) -> Result<HostPolicy, PolicyError> {
    let mut raw: Raw = toml::from_str(text).map_err(|problem| PolicyError::Syntax {
        origin: origin.to_owned(),
        problem: Box::new(problem),
    })?;
    let check = Checker {
        origin,
        states: &task.state_names,
        actions: &task.action_names,
    };
    if let Some(observes) = raw.observes.take() {
        let seen = check.observations(&observes, task)?;
        let mut observed = task.clone();
        observed.state_names = observes;
        let policy = read(raw, origin, folder, &observed)?;
        return check.observing(policy, seen, task);
    }
    read(raw, origin, folder, task)
}

/// The controller for states of these names.
fn read(
    raw: Raw,
    origin: &str,
    folder: Option<&Path>,
    task: &TaskFile,
) -> Result<HostPolicy, PolicyError> {
    let check = Checker {
        origin,
        states: &task.state_names,
        actions: &task.action_names,
    };
    let kind = check.present("kind", raw.kind.as_deref(), KINDS)?;
    let wanted: &[&str] = match kind {
        "linear" => &["gain", "bias", "std"],
        "constant" => &["value", "std"],
        "pd" => &["position", "velocity", "target", "kp", "kd", "std"],
        "waypoints" => &["speed", "legs"],
        "onnx" => &[
            "file",
            "observation_mean",
            "observation_std",
            "action_scale",
            "action_offset",
            "squash",
            "head",
        ],
        _ => {
            let problem = format!("is \"{}\"", kind.escape_debug());
            return check.fail("kind", problem, KINDS);
        }
    };
    for (key, given) in [
        ("gain", raw.gain.is_some()),
        ("bias", raw.bias.is_some()),
        ("value", raw.value.is_some()),
        ("position", raw.position.is_some()),
        ("velocity", raw.velocity.is_some()),
        ("target", raw.target.is_some()),
        ("kp", raw.kp.is_some()),
        ("kd", raw.kd.is_some()),
        ("speed", raw.speed.is_some()),
        ("legs", raw.legs.is_some()),
        ("std", raw.std.is_some()),
        ("file", raw.file.is_some()),
        ("observation_mean", raw.observation_mean.is_some()),
        ("observation_std", raw.observation_std.is_some()),
        ("action_scale", raw.action_scale.is_some()),
        ("action_offset", raw.action_offset.is_some()),
        ("squash", raw.squash.is_some()),
        ("head", raw.head.is_some()),
    ] {
        if given && !wanted.contains(&key) {
            let problem = format!("does not belong to kind = \"{kind}\"");
            return check.fail(key, problem, "remove it, or change the kind");
        }
    }
    match kind {
        "linear" => check.linear(raw.gain, raw.bias, raw.std),
        "constant" => check.constant(raw.value, raw.std),
        "pd" => check.pd(raw),
        "onnx" => check.onnx(raw, folder, task),
        _ => check.waypoints(raw.speed, raw.legs),
    }
}

/// The checks, with the file's name for their errors and the task's names.
pub(super) struct Checker<'a> {
    origin: &'a str,
    pub(super) states: &'a [String],
    pub(super) actions: &'a [String],
}

impl Checker<'_> {
    pub(super) fn fail<T>(
        &self,
        key: &str,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<T, PolicyError> {
        Err(PolicyError::Key {
            origin: self.origin.to_owned(),
            key: key.to_owned(),
            problem: problem.into(),
            help: help.into(),
        })
    }

    pub(super) fn present<T>(
        &self,
        key: &str,
        value: Option<T>,
        help: &str,
    ) -> Result<T, PolicyError> {
        match value {
            Some(value) => Ok(value),
            None => self.fail(key, "is missing", help),
        }
    }

    /// One finite number for each of `names`.
    pub(super) fn numbers(
        &self,
        key: &str,
        values: Option<Vec<f32>>,
        what: &str,
        names: &[String],
    ) -> Result<Vec<f32>, PolicyError> {
        let help = format!("give one number per {what}: {}", names.join(", "));
        let values = self.present(key, values, &help)?;
        if values.len() != names.len() {
            let problem = format!("has length {}, not {}", values.len(), names.len());
            return self.fail(key, problem, help);
        }
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return self.fail(key, format!("has {value}"), "give finite numbers");
        }
        Ok(values)
    }

    fn per_action(&self, key: &str, values: Option<Vec<f32>>) -> Result<Vec<f32>, PolicyError> {
        self.numbers(key, values, "action", self.actions)
    }

    fn linear(
        &self,
        gain: Option<Vec<Vec<f32>>>,
        bias: Option<Vec<f32>>,
        std: Option<Vec<f32>>,
    ) -> Result<HostPolicy, PolicyError> {
        let help = format!(
            "give one row per action ({}), each with one number per state ({})",
            self.actions.join(", "),
            self.states.join(", ")
        );
        let gain = self.present("gain", gain, &help)?;
        if gain.len() != self.actions.len() {
            let problem = format!("has {} rows, not {}", gain.len(), self.actions.len());
            return self.fail("gain", problem, help);
        }
        let mut rows = Vec::new();
        for (index, row) in gain.into_iter().enumerate() {
            let key = format!("gain[{index}]");
            rows.push(self.numbers(&key, Some(row), "state", self.states)?);
        }
        let bias = self.per_action("bias", bias)?;
        self.feedback(&rows, bias, std)
    }

    fn constant(
        &self,
        value: Option<Vec<f32>>,
        std: Option<Vec<f32>>,
    ) -> Result<HostPolicy, PolicyError> {
        let value = self.per_action("value", value)?;
        let rows = vec![vec![0.0; self.states.len()]; self.actions.len()];
        self.feedback(&rows, value, std)
    }

    fn pd(&self, raw: Raw) -> Result<HostPolicy, PolicyError> {
        let position = self.state_per_action("position", raw.position)?;
        let velocity = self.state_per_action("velocity", raw.velocity)?;
        let target = self.per_action("target", raw.target)?;
        let kp = self.per_action("kp", raw.kp)?;
        let kd = self.per_action("kd", raw.kd)?;
        let mut rows = Vec::new();
        let mut bias = Vec::new();
        let sides = position.into_iter().zip(velocity);
        let gains = kp.into_iter().zip(kd).zip(target);
        for (action, ((position, velocity), ((kp, kd), target))) in sides.zip(gains).enumerate() {
            if position == velocity {
                let key = format!("velocity[{action}]");
                let problem = format!("is `{}`, like the position", self.states[position]);
                return self.fail(&key, problem, "name the state that is its rate of change");
            }
            let row = (0..self.states.len()).map(|state| match state {
                _ if state == position => -kp,
                _ if state == velocity => -kd,
                _ => 0.0,
            });
            rows.push(row.collect());
            let product = kp * target;
            if !product.is_finite() {
                let key = format!("target[{action}]");
                let problem = format!("times its kp is {product}");
                return self.fail(&key, problem, "give smaller numbers");
            }
            bias.push(product);
        }
        self.feedback(&rows, bias, raw.std)
    }

    /// A linear policy, Gaussian if there is a standard deviation.
    fn feedback(
        &self,
        gain: &[Vec<f32>],
        bias: Vec<f32>,
        std: Option<Vec<f32>>,
    ) -> Result<HostPolicy, PolicyError> {
        let mut actions = ActionMap::plain(self.actions.len());
        if std.is_some() {
            let std = self.per_action("std", std)?;
            if let Some(std) = std.iter().find(|std| **std < 0.0) {
                return self.fail("std", format!("has {std}"), "give 0 or more");
            }
            actions.head = Head::Gaussian(Spread::Fixed);
            actions.log_std = std.into_iter().map(ln).collect();
        }
        Ok(HostPolicy::Linear(LinearPolicy {
            layer: Layer {
                inputs: self.states.len(),
                outputs: self.actions.len(),
                weights: gain.concat(),
                bias,
            },
            actions,
        }))
    }

    fn state_per_action(
        &self,
        key: &str,
        values: Option<Vec<Value>>,
    ) -> Result<Vec<usize>, PolicyError> {
        let help = format!(
            "give one state per action ({}), by its name or its index",
            self.actions.join(", ")
        );
        let values = self.present(key, values, &help)?;
        if values.len() != self.actions.len() {
            let problem = format!("has length {}, not {}", values.len(), self.actions.len());
            return self.fail(key, problem, help);
        }
        let named = values.iter().enumerate();
        named
            .map(|(index, value)| self.state(&format!("{key}[{index}]"), value))
            .collect()
    }

    /// The index of a state that is given by its name or its index.
    fn state(&self, key: &str, value: &Value) -> Result<usize, PolicyError> {
        let found = match value {
            Value::String(name) => self.states.iter().position(|state| state == name),
            Value::Integer(index) => usize::try_from(*index)
                .ok()
                .filter(|index| *index < self.states.len()),
            _ => None,
        };
        match found {
            Some(index) => Ok(index),
            None => {
                let names: Vec<String> = (0..)
                    .zip(self.states)
                    .map(|(index, name): (usize, _)| format!("{name} ({index})"))
                    .collect();
                let problem = format!("is {value}, which is not a state");
                self.fail(key, problem, format!("choose one of {}", names.join(", ")))
            }
        }
    }

    fn waypoints(
        &self,
        speed: Option<f32>,
        legs: Option<Vec<RawLeg>>,
    ) -> Result<HostPolicy, PolicyError> {
        let space = self.states.len();
        if space != self.actions.len() || space > MAX_SPACE {
            let actions = self.actions.len();
            let problem =
                format!("is \"waypoints\", and the task has {space} states and {actions} actions");
            let help = format!(
                "waypoints move each state by its action, {MAX_SPACE} at most: use another kind"
            );
            return self.fail("kind", problem, help);
        }
        let help = "give the longest step, for example speed = 0.5";
        let speed = self.present("speed", speed, help)?;
        if !(speed.is_finite() && speed > 0.0) {
            return self.fail("speed", format!("is {speed}"), "give a number above 0");
        }
        let help = "write for example legs = [{ target = [0, 1], while = \"x\", below = 0 }, \
                    { target = [2, 0] }]";
        let raw_legs = self.present("legs", legs, help)?;
        let count = raw_legs.len();
        if count == 0 || count > MAX_LEGS {
            let problem = format!("has {count} legs");
            return self.fail("legs", problem, format!("give 1 to {MAX_LEGS}"));
        }
        let mut legs = Vec::new();
        for (index, leg) in raw_legs.into_iter().enumerate() {
            legs.push(self.leg(index, leg, index + 1 == count)?);
        }
        let policy = u8::try_from(space).ok();
        match policy.and_then(|space| Waypoints::new(space, speed, &legs).ok()) {
            Some(policy) => Ok(HostPolicy::Waypoints(policy)),
            None => self.fail("legs", "cannot be followed", "give finite numbers"),
        }
    }

    fn leg(&self, index: usize, raw: RawLeg, last: bool) -> Result<Leg, PolicyError> {
        let key = |field: &str| format!("legs[{index}].{field}");
        let numbers = self.numbers(&key("target"), raw.target, "state", self.states)?;
        let mut target = [0.0; MAX_SPACE];
        for (to, from) in target.iter_mut().zip(numbers) {
            *to = from;
        }
        if last {
            for (field, given) in [
                ("while", raw.r#while.is_some()),
                ("below", raw.below.is_some()),
            ] {
                if given {
                    let help = "remove it, or add a leg for what comes after";
                    return self.fail(&key(field), "is on the last leg, which has no end", help);
                }
            }
            return Ok(Leg {
                target,
                axis: 0,
                below: f32::MAX,
            });
        }
        let help = "say while which state is below what, for example while = \"x\", below = 0";
        let axis = self.present(&key("while"), raw.r#while, help)?;
        let axis = self.state(&key("while"), &axis)?;
        let below = self.present(&key("below"), raw.below, help)?;
        if !below.is_finite() {
            return self.fail(&key("below"), format!("is {below}"), "give a finite number");
        }
        Ok(Leg {
            target,
            axis: axis as u8,
            below,
        })
    }
}
