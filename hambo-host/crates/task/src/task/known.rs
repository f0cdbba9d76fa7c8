//! `[known]`, `[state] circle` and `[model] inputs`: what is known of the dynamics, so that no
//! model has to learn it and no adversary can bend it.
//!
//! | what | where |
//! |---|---|
//! | the keys | here |
//! | what the model sees of a row, and which states it moves | `formats/task/model_view.rs` |
//! | states that the log does not have, computed along its episodes | `hambo-data`, `log/memory.rs` |
//! | known states and circles, compared with a log | `hambo-data`, `inspect/known_residual.rs` |
//! | rollouts | `hambo_core::task` |
//!
//! A line that reads its own `learned.NAME` corrects what the model says of the state.

use hambo_core::task::expression::{Op, Variable};
use hambo_core::task::{KnownState, MAX_CIRCLES, MAX_FEATURES, MAX_KNOWN, ModelInputs, Physics};

use serde::{Deserialize, Serialize};

use super::checker::Checker;
use super::error::TaskError;
use super::wraps::Wrap;
use crate::expression::{Compiler, Names};

/// How much closer to 0 than −1 and 1 the limits of a state on a circle may be.
const LIMIT_TOLERANCE: f32 = 1e-3;

/// A known state in the words of the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownLine {
    /// Its name.
    pub state: String,
    /// Its next value.
    pub next: String,
    /// Where it starts, if the log does not have it.
    pub initial: Option<f32>,
}

/// A line of `[known]`: the next value of a state.
#[must_use]
pub fn known_line(state: &str, next: &str) -> String {
    // Letters of other alphabets stand in quotes.
    if state.is_ascii() {
        format!("{state} = \"{next}\"")
    } else {
        format!("\"{state}\" = \"{next}\"")
    }
}

/// A state of `[known]` as it is written: an expression, or a table with an initial value.
pub(super) struct WrittenState {
    /// Its number among the states.
    state: usize,
    /// The key of its expression.
    key: String,
    expression: String,
    /// Where it starts, if the log does not have it.
    initial: Option<f32>,
}

/// The whole of it.
pub(super) struct Known {
    pub(super) physics: Physics,
    /// What each input of the model that describes the state is called.
    pub(super) features: Vec<String>,
    /// The known states as they are written.
    pub(super) lines: Vec<KnownLine>,
    /// Where the states that are not in the log start; they are the last ones.
    pub(super) memory: Vec<f32>,
}

impl Checker<'_> {
    /// The states of `[known]`, in the order of the states.
    pub(super) fn written_states(
        &self,
        table: Option<toml::Table>,
        names: &[String],
    ) -> Result<Vec<WrittenState>, TaskError> {
        let mut written = Vec::new();
        for (name, value) in table.unwrap_or_default() {
            let key = format!("known.{name}");
            let Some(state) = names.iter().position(|other| *other == name) else {
                let problem = "is no state";
                let help = format!("name one of {}", names.join(", "));
                return self.fail(&key, problem, help);
            };
            written.push(self.written_state(key, state, value)?);
        }
        written.sort_by_key(|one| one.state);
        if written.len() > MAX_KNOWN {
            let problem = format!("has {} states", written.len());
            return self.fail("known", problem, format!("give at most {MAX_KNOWN}"));
        }
        let first_in_memory = written.iter().find(|one| one.initial.is_some());
        if let Some(first) = first_in_memory {
            let memory = written.iter().filter(|one| one.initial.is_some());
            let logged = names.len() - memory.count();
            if first.state < logged {
                let problem = "has an `initial` value, so the log does not have it, and it comes \
                               before a state that the log has";
                let help = "put such states last in `state.names`";
                return self.fail(&first.key, problem, help);
            }
        }
        Ok(written)
    }

    fn written_state(
        &self,
        key: String,
        state: usize,
        value: toml::Value,
    ) -> Result<WrittenState, TaskError> {
        let help = "write for example x = \"x + 0.05 * v\", or, for a state that the log does not \
                    have, i = { next = \"i + 0.05 * x\", initial = 0 }";
        let (expression, initial) = match value {
            toml::Value::String(expression) => (expression, None),
            toml::Value::Table(table) => {
                let known = ["next", "initial"];
                if let Some(other) = table.keys().find(|key| !known.contains(&key.as_str())) {
                    let problem = format!("has the key `{}`", other.escape_debug());
                    return self.fail(&key, problem, help);
                }
                let Some(toml::Value::String(expression)) = table.get("next") else {
                    return self.fail(&key, "has no expression `next`", help);
                };
                let initial = match table.get("initial") {
                    Some(toml::Value::Float(number)) => *number as f32,
                    Some(toml::Value::Integer(number)) => *number as f32,
                    _ => return self.fail(&key, "has no number `initial`", help),
                };
                if !initial.is_finite() {
                    let problem = format!("starts at {initial}");
                    return self.fail(&key, problem, "give a finite number");
                }
                let key = format!("{key}.next");
                let expression = expression.clone();
                return Ok(WrittenState {
                    state,
                    key,
                    expression,
                    initial: Some(initial),
                });
            }
            other => {
                let problem = format!("is {other}, which is no expression");
                return self.fail(&key, problem, help);
            }
        };
        Ok(WrittenState {
            state,
            key,
            expression,
            initial,
        })
    }

    /// Pairs of states by their names.
    pub(super) fn circles(
        &self,
        raw: Option<Vec<Vec<String>>>,
        names: &[String],
        wraps: &[Option<Wrap>],
        limits: [&Option<Vec<f32>>; 2],
    ) -> Result<Vec<[u16; 2]>, TaskError> {
        const KEY: &str = "state.circle";
        let raw = raw.unwrap_or_default();
        if raw.len() > MAX_CIRCLES {
            let problem = format!("has {} pairs", raw.len());
            return self.fail(KEY, problem, format!("give at most {MAX_CIRCLES}"));
        }
        let mut circles: Vec<[u16; 2]> = Vec::new();
        for (index, pair) in raw.iter().enumerate() {
            let part = format!("{KEY}[{index}]");
            let [_, _] = pair.as_slice() else {
                let problem = format!("has a list of {} names", pair.len());
                let help = "give pairs of a cosine and a sine, for example [[\"c\", \"s\"]]";
                return self.fail_at(&part, KEY, problem, help);
            };
            let mut found = [0_u16; 2];
            for (place, name) in found.iter_mut().zip(pair) {
                let Some(state) = names.iter().position(|other| other == name) else {
                    let problem = format!("has `{}`, which is no state", name.escape_debug());
                    let help = format!("name one of {}", names.join(", "));
                    return self.fail_at(&part, KEY, problem, help);
                };
                if wraps.get(state).is_some_and(Option::is_some) {
                    let problem = format!("has `{name}`, which wraps");
                    let help = "an angle wraps, its cosine and sine do not";
                    return self.fail_at(&part, KEY, problem, help);
                }
                let at = |limits: &Option<Vec<f32>>| limits.as_ref()?.get(state).copied();
                let low = at(limits[0]).unwrap_or(f32::NEG_INFINITY);
                let high = at(limits[1]).unwrap_or(f32::INFINITY);
                if low > -1.0 + LIMIT_TOLERANCE || high < 1.0 - LIMIT_TOLERANCE {
                    let problem = format!("has `{name}`, whose limits are {low} and {high}");
                    let help = format!("give {name} the limits -1 and 1");
                    return self.fail_at(&part, KEY, problem, help);
                }
                *place = state as u16;
            }
            let [c, s] = found;
            if c == s || circles.iter().flatten().any(|other| found.contains(other)) {
                let problem = format!("has `{}` a second time", pair.join("` or `"));
                return self.fail_at(&part, KEY, problem, "name every state once");
            }
            circles.push(found);
        }
        Ok(circles)
    }

    /// Compiles the features and the known states, which come first on the tape.
    pub(super) fn known(
        &self,
        names: Names<'_>,
        inputs: Option<Vec<String>>,
        written: Vec<WrittenState>,
        circles: Vec<[u16; 2]>,
        compiler: &mut Compiler<'_>,
    ) -> Result<Known, TaskError> {
        let memory: Vec<f32> = written.iter().filter_map(|one| one.initial).collect();
        let logged = names.state.len() - memory.len();
        let (inputs, features) = match inputs {
            Some(inputs) => {
                let slots = self.features(&inputs, names, compiler)?;
                (ModelInputs::Features(slots), inputs)
            }
            None => (
                ModelInputs::States(logged as u16),
                names.state.iter().take(logged).cloned().collect(),
            ),
        };
        let lines = written.iter().filter_map(|one| {
            Some(KnownLine {
                state: names.state.get(one.state)?.clone(),
                next: one.expression.clone(),
                initial: one.initial,
            })
        });
        let lines = lines.collect();
        let mut known = heapless::Vec::new();
        for one in self.in_order(written, names)? {
            let slot = self.compiled(&one.key, compiler.add_known(&one.expression))?;
            let corrects = self.reads_its_own(&one, names)?;
            let state = one.state as u16;
            // There are at most as many as there is room for.
            let _ = known.push(KnownState {
                state,
                slot,
                corrects,
            });
        }
        let computed = known.iter().filter(|one: &&KnownState| !one.corrects);
        if computed.count() == names.state.len() {
            let help = "leave one to the model: a system that is known needs no log";
            return self.fail("known", "gives all states", help);
        }
        let on_circle = circles.iter().flatten().copied();
        let both = known
            .iter()
            .find(|one| on_circle.clone().any(|state| state == one.state));
        if let Some(both) = both {
            let name = names.state.get(usize::from(both.state));
            let name = name.map_or("", String::as_str);
            let problem = format!("has `{name}`, which [known] gives as well");
            let help = "leave it out of one of them: what is computed needs no correction";
            return self.fail("state.circle", problem, help);
        }
        Ok(Known {
            physics: Physics {
                inputs,
                known,
                circles: circles.into_iter().collect(),
            },
            features,
            lines,
            memory,
        })
    }

    /// Whether a line reads its own learned value, and so corrects it.
    fn reads_its_own(&self, one: &WrittenState, names: Names<'_>) -> Result<bool, TaskError> {
        let own = one.state as u16;
        let reads = variables(&mut Compiler::new(names), &one.expression);
        let name = |state: u16| names.state.get(usize::from(state)).map_or("", |name| name);
        let learned = reads.iter().filter_map(|read| match read {
            Variable::Learned(state) => Some(*state),
            _ => None,
        });
        if let Some(other) = learned.clone().find(|state| *state != own) {
            let (own, other) = (name(own), name(other));
            let problem = format!("reads `learned.{other}`, which is not its own");
            let help = format!(
                "write `next.{other}`, which is {other} after its own line of [known] if it has \
                 one; of learned values this line may read learned.{own}"
            );
            return self.fail(&one.key, problem, help);
        }
        let corrects = learned.count() > 0;
        if corrects && one.initial.is_some() {
            let problem = format!(
                "reads `learned.{}`, and the log does not have that state, so nothing is learned \
                 of it",
                name(own)
            );
            let help = "leave `initial` out if the log has it, or compute it from the others";
            return self.fail(&one.key, problem, help);
        }
        if corrects && reads.contains(&Variable::Step) {
            let problem = "corrects what is learned by the number of the step";
            let help = "write it without t: the monitor holds single transitions against it";
            return self.fail(&one.key, problem, help);
        }
        Ok(corrects)
    }

    /// The slots of the model's inputs.
    fn features(
        &self,
        inputs: &[String],
        names: Names<'_>,
        compiler: &mut Compiler<'_>,
    ) -> Result<heapless::Vec<u16, MAX_FEATURES>, TaskError> {
        const KEY: &str = "model.inputs";
        let mut slots = heapless::Vec::new();
        for (index, input) in inputs.iter().enumerate() {
            let key = format!("{KEY}[{index}]");
            let slot = self.compiled(&key, compiler.add(input))?;
            let reads = variables(&mut Compiler::new(names), input);
            if let Some(other) = reads
                .iter()
                .find(|read| !matches!(read, Variable::State(_)))
            {
                let what = match other {
                    Variable::Action(_) => "an action: actions are inputs anyway",
                    Variable::Next(_) => "the next state",
                    _ => "the step",
                };
                let problem = format!("reads {what}");
                let help = "write functions of the state, for example \"sin(theta)\"";
                return self.fail_at(&key, KEY, problem, help);
            }
            if reads.is_empty() {
                let problem = "has an input that does not depend on the state";
                return self.fail_at(&key, KEY, problem, "leave it out");
            }
            if slots.contains(&slot) {
                let problem = format!("has `{}` a second time", input.escape_debug());
                return self.fail_at(&key, KEY, problem, "give every input once");
            }
            if slots.push(slot).is_err() {
                let problem = format!("has {} inputs", inputs.len());
                return self.fail(KEY, problem, format!("give at most {MAX_FEATURES}"));
            }
        }
        if slots.is_empty() {
            let help = "give at least one function of the state, or leave [model] out";
            return self.fail(KEY, "is empty", help);
        }
        Ok(slots)
    }

    /// So that each comes after those whose next values it reads.
    fn in_order(
        &self,
        written: Vec<WrittenState>,
        names: Names<'_>,
    ) -> Result<Vec<WrittenState>, TaskError> {
        let reads: Vec<Vec<usize>> = written
            .iter()
            .map(|one| {
                let read = variables(&mut Compiler::new(names), &one.expression);
                let next = read.into_iter().filter_map(|read| match read {
                    Variable::Next(state) => Some(usize::from(state)),
                    _ => None,
                });
                next.filter(|state| written.iter().any(|other| other.state == *state))
                    .collect()
            })
            .collect();
        let mut waiting: Vec<(WrittenState, Vec<usize>)> = written.into_iter().zip(reads).collect();
        let mut done: Vec<WrittenState> = Vec::new();
        while !waiting.is_empty() {
            let ready = waiting.iter().position(|(_, reads)| {
                let mut reads = reads.iter();
                reads.all(|state| done.iter().any(|one| one.state == *state))
            });
            let Some(ready) = ready else {
                let name = |one: &WrittenState| names.state.get(one.state).cloned();
                let circle: Vec<String> = waiting.iter().filter_map(|(one, _)| name(one)).collect();
                let problem = format!(
                    "has no order: the next values of {} need each other",
                    circle.join(", ")
                );
                let help = "write one of them without `next.`";
                return self.fail("known", problem, help);
            };
            done.push(waiting.remove(ready).0);
        }
        Ok(done)
    }
}

/// What an expression reads; nothing if it does not compile.
fn variables(compiler: &mut Compiler<'_>, expression: &str) -> Vec<Variable> {
    if compiler.add_known(expression).is_err() {
        return Vec::new();
    }
    let ops = compiler.clone().finish();
    let read = ops.into_iter().filter_map(|op| match op {
        Op::Variable(variable) => Some(variable),
        _ => None,
    });
    read.collect()
}
