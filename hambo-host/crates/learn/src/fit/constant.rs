//! Columns that never change, and the lines of the task that say so.
//!
//! Nothing can be learnt of what such a column does, and a network that sees it all the same
//! answers at random wherever a trajectory brings another value. A state that stays, a goal or a
//! mass, is said to stay under `[known]`; where all rows have the same value, the model must not
//! see it either.

use hambo_base::Held;
use hambo_base::network::standardisation::moments;
use hambo_core::task::MAX_FEATURES;
use hambo_data::Log;
use hambo_task::task::{ModelView, TaskFile, known_line};

use super::error::FitError;
use super::tables::Tables;

/// The columns of a log that never change.
struct Constant {
    /// What is seen of the state, by its place.
    features: Vec<usize>,
    /// Names of the actions.
    actions: Vec<String>,
    /// States that stay, or change by the same in every row.
    states: Vec<(usize, f32)>,
}

impl Constant {
    fn of(task: &TaskFile, view: &ModelView, log: &Log) -> Self {
        let tables = Tables::new(log, view);
        let tables = tables.training_set();
        let columns = |values: &[f32], count: usize, held: Held<'_>| -> Vec<(usize, f32)> {
            let moments = moments(values, count.max(1), held);
            let moments = moments.into_iter().enumerate();
            let constant = moments.filter(|(_, column)| column.constant);
            constant.map(|(place, of)| (place, of.mean)).collect()
        };
        let inputs = columns(tables.inputs, tables.input_columns, Held::NONE);
        let seen = view.features.len();
        let (features, actions): (Vec<_>, Vec<_>) = inputs
            .into_iter()
            .map(|(place, _)| place)
            .partition(|place| *place < seen);
        let name = |place: usize| task.action_names.get(place - seen).cloned();
        let changes = columns(tables.targets, tables.target_columns, tables.held);
        let state = |(place, change): (usize, f32)| Some((*view.moved.get(place)?, change));
        Self {
            features,
            actions: actions.into_iter().filter_map(name).collect(),
            states: changes.into_iter().filter_map(state).collect(),
        }
    }

    /// The lines under `[known]`: of every state that stays, unless another line would
    /// contradict.
    fn known(&self, task: &TaskFile, view: &ModelView) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        for (state, change) in &self.states {
            // A learned reward has no line there.
            let Some(name) = task.logged_states().get(*state) else {
                continue;
            };
            let circles = &task.physics.circles;
            if circles
                .iter()
                .flatten()
                .any(|on| usize::from(*on) == *state)
            {
                return None;
            }
            let next = match *change {
                0.0 => name.clone(),
                change if change < 0.0 => format!("{name} - {}", -change),
                change => format!("{name} + {change}"),
            };
            lines.push(known_line(name, &next));
        }
        // At least one state is left to the model.
        (lines.len() < view.moved.len()).then_some(lines)
    }

    /// The line under `[model]`.
    fn inputs(&self, view: &ModelView) -> Option<String> {
        let left = view.features.iter().enumerate();
        let left = left.filter(|(place, _)| !self.features.contains(place));
        let left: Vec<String> = left.map(|(_, input)| format!("{input:?}")).collect();
        let fits = (1..=MAX_FEATURES).contains(&left.len());
        fits.then(|| format!("inputs = [{}]", left.join(", ")))
    }
}

/// The error in the task's words, with the lines to write. `column` is the first column of the
/// inputs or the targets that never changes.
pub(super) fn constant_column(
    task: &TaskFile,
    log: &Log,
    (targets, column, value): (bool, usize, f32),
) -> FitError {
    let view = task.model_view();
    let constant = Constant::of(task, &view, log);
    let moved = view.moved.get(column).copied().unwrap_or_default();
    let learns_it = targets && task.learns_reward() && moved + 1 == view.states;
    let what = if learns_it {
        "the reward".to_owned()
    } else if targets {
        let name = task.state_names.get(moved).map_or("", String::as_str);
        format!("the change of `{name}` from row to row")
    } else {
        let inputs = view.features.iter().chain(&task.action_names);
        let name = inputs.into_iter().nth(column).map_or("", String::as_str);
        format!("the column `{name}`")
    };
    let help = if learns_it {
        format!("write expr = \"{value}\" under [reward] instead of learned = true")
    } else {
        help(&constant, task, &view)
    };
    FitError::ConstantColumn { what, value, help }
}

fn help(constant: &Constant, task: &TaskFile, view: &ModelView) -> String {
    let mut parts = Vec::new();
    if !constant.actions.is_empty() {
        let names = constant.actions.join("`, `");
        parts.push(format!(
            "log other values of `{names}`, for example with noise on the actions; or take it \
             out of [action] and of the controllers"
        ));
    }
    match constant.known(task, view) {
        Some(lines) if !lines.is_empty() => parts.push(format!(
            "say under [known] of the task how it goes on:\n  {}",
            lines.join("\n  ")
        )),
        Some(_) => {}
        None => parts.push("log rows in which it changes, or take it out of the task".to_owned()),
    }
    if !constant.features.is_empty() {
        parts.push(match constant.inputs(view) {
            Some(line) => format!(
                "under [model], leave out what has one value in all rows:\n  {line}\nif the \
                 dynamics depend on it (a mass), a bound then holds for this value alone: log \
                 others"
            ),
            None => "log rows with other values of it".to_owned(),
        });
    }
    if parts.is_empty() {
        // Constant in the part that is trained on, and not in the log.
        parts.push("log more".to_owned());
    }
    parts.join("\n")
}
