//! A task held against a log: where the two disagree, with the worst rows.

use hambo_core::check::FEWEST_STARTS;
use hambo_core::task::expression::{Comparison, Inputs, Program, Variable};
use hambo_core::task::{Constraint, ConstraintKind};

use super::finding::{Finding, Review, WorstRow};
use super::range;
use super::rows::{LoggedRow, LoggedRows};
use super::wraps::near_start;
use crate::{StateAction, WrapHint, distinct_states, explorations_of, wrap_line};
use hambo_base::Error;
use hambo_base::one_lane::one_lane;
use hambo_task::expression::reads;
use hambo_task::task::{Initial, NamedConstraint, TaskFile};

/// Rows that a finding shows.
const SHOWN: usize = 5;
/// How far a computed reward may be from the logged one, absolute and relative.
const REWARD_TOLERANCE: (f32, f32) = (1e-4, 1e-3);
/// How far beyond a limit a number may be, as a part of the range: rounding.
const LIMIT_TOLERANCE: f32 = 1e-5;
/// Standard deviations from the mean of a Gaussian start that are no longer chance.
const FAR: f32 = 5.0;

/// Holds a task against a log. The log has the task's states and actions.
///
/// # Errors
/// If the log has other dimensions, or the task's expressions are bad.
pub fn review(task: &TaskFile, log: &LoggedRows) -> Result<Review, Error> {
    let hints = log.wrap_hints(&task.wraps);
    let mut log = log.clone().wrapped(&task.wraps);
    if !task.memory.is_empty() {
        log = log.with_memory(task)?;
    }
    if task.learns_reward() {
        log = log.with_return();
    }
    let log = &log;
    task.hold_dimensions(log.states.len(), log.actions.len())?;
    let mut reviewer = Reviewer {
        task,
        log,
        program: task.program()?,
        reads_next: reads(&task.ops, |variable| matches!(variable, Variable::Next(_))),
        findings: Vec::new(),
    };
    reviewer.wraps(&hints);
    reviewer.rewards();
    reviewer.known()?;
    reviewer.terminations();
    reviewer.limits();
    reviewer.starts();
    reviewer.horizon();
    reviewer.constraints();
    reviewer.exploration();
    let findings = reviewer.findings;
    Ok(Review {
        rows: log.rows.len(),
        episodes: log.episodes(),
        ok: !findings.iter().any(|finding| finding.problem),
        findings,
    })
}

pub(super) struct Reviewer<'a> {
    pub(super) task: &'a TaskFile,
    pub(super) log: &'a LoggedRows,
    program: Program,
    /// Whether each slot of the tape depends on the next state.
    reads_next: Vec<bool>,
    findings: Vec<Finding>,
}

impl Reviewer<'_> {
    /// Whether states decide the actions.
    fn exploration(&mut self) {
        let wide = |values: &[f32]| values.iter().map(|x| f64::from(*x)).collect();
        let rows = self.log.rows.iter().map(|row| StateAction {
            state: wide(&row.state),
            action: wide(&row.action),
        });
        let found = explorations_of(rows.collect());
        for (name, found) in self.log.actions.iter().zip(found) {
            if let Some(text) = found.and_then(|found| found.warning(name)) {
                self.findings.push(Finding {
                    problem: false,
                    key: "action".to_owned(),
                    text,
                    help: String::new(),
                    worst: Vec::new(),
                });
            }
        }
    }

    pub(super) fn problem(
        &mut self,
        key: &str,
        text: String,
        help: &str,
        mut worst: Vec<(f32, WorstRow)>,
    ) {
        worst.sort_by(|one, other| other.0.total_cmp(&one.0));
        let worst = worst.into_iter().take(SHOWN).map(|(_, row)| WorstRow {
            place: self.log.origin.place(row.row),
            ..row
        });
        let worst = worst.collect();
        self.findings.push(Finding {
            problem: true,
            key: key.to_owned(),
            text,
            help: help.to_owned(),
            worst,
        });
    }

    pub(super) fn note(&mut self, key: &str, text: String) {
        self.warning(key, text, String::new());
    }

    /// What may be right, and must be looked at.
    fn warning(&mut self, key: &str, text: String, help: String) {
        self.findings.push(Finding {
            problem: false,
            key: key.to_owned(),
            text,
            help,
            worst: Vec::new(),
        });
    }

    /// The value of an expression in a row; `None` without the next state it needs.
    fn value(&self, slot: u16, row: &LoggedRow) -> Option<f32> {
        let slot = usize::from(slot);
        let next = match &row.next_state {
            Some(next) => next,
            None if *self.reads_next.get(slot)? => return None,
            // Not read, but other expressions of the tape want a number.
            None => &row.state,
        };
        let inputs = Inputs {
            state: one_lane(&row.state),
            action: one_lane(&row.action),
            next: one_lane(next),
            step: row.step as f32,
        };
        let mut values = vec![[f32::NAN]; self.program.len()];
        let _ = self
            .program
            .evaluate(Comparison::Exact, inputs, &mut values);
        values.get(slot).map(|[value]| *value)
    }

    /// Jumps of an angle that the task does not call one.
    fn wraps(&mut self, hints: &[WrapHint]) {
        let task = self.task;
        let line = wrap_line(&task.state_names, &task.wraps, hints);
        for hint in hints {
            let text = format!("does not name a state that seems to wrap: {}", hint.seen());
            let help = format!("if it is an angle, write into [state]: {line}");
            self.warning("state.wrap", text, help);
        }
    }

    fn rewards(&mut self) {
        if self.task.learns_reward() {
            return self.learned_rewards();
        }
        let mut worst = Vec::new();
        let mut compared = 0;
        for (index, row) in self.log.rows.iter().enumerate() {
            let Some((logged, value)) = row.reward.zip(self.value(self.task.reward.slot(), row))
            else {
                continue;
            };
            compared += 1;
            let gap = (logged - value).abs();
            // NaN is worst.
            let gap = if gap.is_nan() { f32::INFINITY } else { gap };
            let allowed = REWARD_TOLERANCE.0 + REWARD_TOLERANCE.1 * logged.abs();
            if gap > allowed {
                let row = WorstRow {
                    row: index,
                    place: String::new(),
                    logged,
                    task: value,
                };
                worst.push((gap, row));
            }
        }
        if compared == 0 {
            return self.note(
                "reward.expr",
                "was not compared: the log has no rewards".to_owned(),
            );
        }
        if worst.is_empty() {
            let text = format!("gives the logged reward in all {compared} rows");
            return self.note("reward.expr", text);
        }
        let count = worst.len();
        let text = format!("gives another reward than the log in {count} of {compared} rows");
        let help = "correct the expression; is the log's reward of s, a or next.s, and unscaled?";
        self.problem("reward.expr", text, help, worst);
    }

    /// A learned reward is the log's by its nature; it has to be there.
    fn learned_rewards(&mut self) {
        let key = "reward.learned";
        let rewards = self.log.rows.iter().filter_map(|row| row.reward);
        let Some((least, most)) = range(rewards) else {
            let help = "log the reward of each step, or write it as `reward.expr`";
            let text = "is true, and the log has no rewards".to_owned();
            return self.problem(key, text, help, Vec::new());
        };
        let text = format!("is true: the model learns the logged reward, {least} to {most}");
        self.note(key, text);
    }

    fn terminations(&mut self) {
        let has_terminals = self.log.rows.iter().any(|row| row.terminal.is_some());
        let ends = self
            .log
            .rows
            .iter()
            .filter(|row| row.terminal == Some(true))
            .count();
        let Some(slot) = self.task.termination else {
            if ends > 0 {
                let text = format!("is missing, and the log has {ends} terminals");
                let help = "add [termination] with what makes the robot stop; a model that goes \
                            on after a fall counts rewards that nobody gets";
                self.problem("termination", text, help, Vec::new());
            }
            return;
        };
        let (mut stops, mut goes_on) = (Vec::new(), Vec::new());
        for (index, row) in self.log.rows.iter().enumerate() {
            let Some(value) = self.value(slot, row) else {
                continue;
            };
            let task_stops = value >= 0.5;
            let logged = row.terminal.unwrap_or(false);
            let worst = |logged: bool| {
                let logged = f32::from(u8::from(logged));
                (
                    0.0,
                    WorstRow {
                        row: index,
                        place: String::new(),
                        logged,
                        task: value,
                    },
                )
            };
            // Without a column of terminals only what goes on is known not to be one.
            if task_stops && (if has_terminals { !logged } else { row.goes_on }) {
                stops.push(worst(false));
            }
            if !task_stops && logged {
                goes_on.push(worst(true));
            }
        }
        let key = "termination.expr";
        if !stops.is_empty() {
            let text = format!("stops in {} rows after which the log goes on", stops.len());
            self.problem(key, text, "narrow the condition", stops);
        }
        if !goes_on.is_empty() {
            let text = format!(
                "does not stop in {} of {ends} logged terminals",
                goes_on.len()
            );
            self.problem(key, text, "widen the condition", goes_on);
        }
    }

    fn limits(&mut self) {
        let task = self.task;
        let infinite = |sign: f32| vec![sign * f32::INFINITY; task.state_names.len()];
        let low = task.state_low.clone().unwrap_or(infinite(-1.0));
        let high = task.state_high.clone().unwrap_or(infinite(1.0));
        self.within("state", &task.state_names, (&low, &high), |row| {
            [Some(row.state.as_slice()), row.next_state.as_deref()]
        });
        let limits = (task.action_low.as_slice(), task.action_high.as_slice());
        self.within("action", &task.action_names, limits, |row| {
            [Some(row.action.as_slice()), None]
        });
    }

    fn within(
        &mut self,
        part: &str,
        names: &[String],
        (low, high): (&[f32], &[f32]),
        vectors: impl Fn(&LoggedRow) -> [Option<&[f32]>; 2],
    ) {
        let log = self.log;
        for (index, (name, (low, high))) in names.iter().zip(low.iter().zip(high)).enumerate() {
            let room = (high - low).min(1e30) * LIMIT_TOLERANCE;
            let rows = log.rows.iter().enumerate();
            let worst: Vec<(f32, WorstRow)> = rows
                .filter_map(|(number, row)| {
                    let values = vectors(row).into_iter().flatten();
                    let beyond = values.filter_map(|vector| {
                        let x = *vector.get(index)?;
                        let limit = x.clamp(*low, *high);
                        Some(((x - limit).abs(), x, limit))
                    });
                    let (gap, logged, task) = beyond.max_by(|a, b| a.0.total_cmp(&b.0))?;
                    let worst = WorstRow {
                        row: number,
                        place: String::new(),
                        logged,
                        task,
                    };
                    (gap > room).then_some((gap, worst))
                })
                .collect();
            if !worst.is_empty() {
                let count = worst.len();
                let text = format!("of {name} are {low} to {high}: {count} rows are beyond them");
                let help = "widen the limits to what the robot can do, or mend the log";
                self.problem(&format!("{part}.low, {part}.high"), text, help, worst);
            }
        }
    }

    fn starts(&mut self) {
        let task = self.task;
        let log = self.log;
        if let Initial::Data { always } = task.initial {
            let count = distinct_states(log.first_rows().map(|(_, row)| row.state.as_slice()));
            let text = format!("has {count} different first states in the log");
            match count < FEWEST_STARTS && !always {
                true => self.warning(
                    "initial",
                    format!("{text}, and a check needs {FEWEST_STARTS}"),
                    "log more episodes, or say that the robot always starts there: initial.always = true".to_owned(),
                ),
                false => self.note("initial", text),
            }
        }
        // How far each first state is from where the task starts, and what it should be.
        let off = |index: usize, x: f32| -> (f32, f32) {
            let at = |numbers: &[f32]| numbers.get(index).copied().unwrap_or(f32::NAN);
            match &task.initial {
                Initial::Data { .. } => (0.0, x),
                Initial::Point(value) => ((x - at(value)).abs(), at(value)),
                Initial::Uniform { low, high } | Initial::Worst { low, high } => {
                    let inside = x.max(at(low)).min(at(high));
                    ((x - inside).abs(), inside)
                }
                Initial::Gaussian { mean, std } => {
                    let reach = FAR * at(std);
                    let inside = x.max(at(mean) - reach).min(at(mean) + reach);
                    ((x - inside).abs(), inside)
                }
            }
        };
        for (index, name) in task.state_names.iter().enumerate() {
            let column = log
                .rows
                .iter()
                .filter_map(|row| row.state.get(index).copied());
            let Some((least, most)) = range(column) else {
                continue;
            };
            let room = (most - least) * 1e-3;
            let worst: Vec<(f32, WorstRow)> = log
                .first_rows()
                .filter_map(|(number, row)| {
                    let x = near_start(task, index, *row.state.get(index)?);
                    let (gap, inside) = off(index, x);
                    let worst = WorstRow {
                        row: number,
                        place: String::new(),
                        logged: x,
                        task: inside,
                    };
                    (gap > room).then_some((gap, worst))
                })
                .collect();
            if !worst.is_empty() {
                let (count, all) = (worst.len(), log.episodes());
                let text = format!(
                    "is narrower than the log: {count} of {all} episodes start outside it, by \
                     {name}; that is good practice"
                );
                self.note("initial", text);
            }
            let ends = match &task.initial {
                Initial::Uniform { low, high } | Initial::Worst { low, high } => {
                    low.get(index).zip(high.get(index))
                }
                Initial::Point(value) => value.get(index).zip(value.get(index)),
                Initial::Gaussian { mean, .. } => mean.get(index).zip(mean.get(index)),
                Initial::Data { .. } => None,
            };
            let inside = |x: &f32| match task.wraps.get(index) {
                Some(Some(wrap)) => wrap.inside(*x),
                _ => *x,
            };
            let ends = ends.map(|(low, high)| (inside(low), inside(high)));
            let logged = |x: f32| x >= least - room && x <= most + room;
            if let Some((low, high)) = ends.filter(|(low, high)| !(logged(*low) && logged(*high))) {
                let text = format!(
                    "starts {name} at {low} to {high}, where the log ({least} to {most}) has no data"
                );
                let help =
                    "log from there too, or start where the log is: a check outside it abstains";
                self.problem("initial", text, help, Vec::new());
            }
        }
    }

    fn horizon(&mut self) {
        let longest = self.log.episode_lengths().into_iter().max().unwrap_or(0);
        let horizon = self.task.horizon;
        if usize::try_from(horizon).is_ok_and(|horizon| horizon > longest) {
            let text = format!("is {horizon}, and the longest episode has {longest} steps");
            self.note("horizon", text);
        }
    }

    fn constraints(&mut self) {
        for NamedConstraint { name, constraint } in &self.task.constraints {
            let values = self
                .log
                .rows
                .iter()
                .filter_map(|row| self.value(constraint.slot, row));
            let values: Vec<f64> = values.map(f64::from).collect();
            let count = values.len().max(1) as f64;
            let mean = values.iter().sum::<f64>() / count;
            let below = values.iter().filter(|value| **value < 0.0).count();
            let mut text = format!("is {mean:.6} on average over the log, below 0 in {below} rows");
            if *constraint != Constraint::mean(constraint.slot) {
                let (kept, episodes) = self.episodes_that_keep(constraint);
                text.push_str(&format!(", kept by {kept} of {episodes} episodes"));
            }
            let key = format!("constraint {name}");
            self.note(&key, text);
            let reads_next = self.reads_next.get(usize::from(constraint.slot));
            if constraint.kind == ConstraintKind::Finally && reads_next == Some(&false) {
                let text = "reads the state before the last step, not the one after it";
                let help = "write next.NAME for the state that a trajectory ends in";
                self.warning(&key, text.to_owned(), help.to_owned());
            }
        }
    }

    /// How many of the log's episodes keep a constraint, and how many there are.
    fn episodes_that_keep(&self, constraint: &Constraint) -> (usize, usize) {
        let mut episodes: Vec<(f32, usize)> = Vec::new();
        let mut last = None;
        for row in &self.log.rows {
            let Some(margin) = self.value(constraint.slot, row) else {
                continue;
            };
            if last.replace(row.episode) != Some(row.episode) {
                episodes.push((constraint.kind.of_no_step(), 0));
            }
            if let Some((number, steps)) = episodes.last_mut() {
                *number = constraint.kind.joined(*number, margin);
                *steps += 1;
            }
        }
        let mean = |(number, steps): &(f32, usize)| match constraint.kind {
            ConstraintKind::Mean => *number / *steps as f32,
            _ => *number,
        };
        let kept = episodes.iter().filter(|episode| mean(episode) >= 0.0);
        (kept.count(), episodes.len())
    }
}
