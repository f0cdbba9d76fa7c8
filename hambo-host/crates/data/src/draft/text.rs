//! A first task file from a log: what the log can say, and comments for what it cannot.

use std::fmt::{self, Write as _};

use hambo_core::task::MAX_FEATURES;

use super::circles::circle_line;
use super::rows::{LoggedRow, LoggedRows};
use super::steps::range;
use crate::inspect::wrap_line;

/// The text of a task file called `name`. It parses once the reward's line is filled in.
///
/// ```
/// use hambo_data::{LoggedRows, draft};
/// use hambo_task::task::TaskFile;
///
/// let file = std::env::temp_dir().join("hambo-doc-draft.csv");
/// std::fs::write(&file, "x,u,next.x\n0,0.5,1\n1,-0.5,2\n")?;
/// let text = draft(&LoggedRows::discover(&[file], &[])?, "cart");
/// assert!(text.contains("names = [\"x\"]") && TaskFile::parse(&text, "cart.toml").is_err());
/// let text = text.replace("# expr = \"\"", "expr = \"-x^2\"");
/// assert_eq!(TaskFile::parse(&text, "cart.toml")?.horizon, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn draft(log: &LoggedRows, name: &str) -> String {
    draft_with(log, name, &DraftOptions::default())
}

/// What a caller knows better than the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DraftOptions {
    /// Where the reward comes from.
    pub reward: DraftReward,
    /// Steps of a trajectory, instead of those of the longest episode.
    pub horizon: Option<u32>,
    /// Physical limits of the states, instead of comments on what the log holds.
    pub state_limits: Option<(Vec<f32>, Vec<f32>)>,
    /// The actuators' limits, instead of what the log holds.
    pub action_limits: Option<(Vec<f32>, Vec<f32>)>,
}

/// Where the reward of a draft comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DraftReward {
    /// It is left to the reader: the draft does not parse before.
    #[default]
    Left,
    /// It is computed.
    Expression(String),
    /// The model learns it from the log.
    Learned,
}

/// As [`draft`], with what the caller knows.
#[must_use]
pub fn draft_with(log: &LoggedRows, name: &str, options: &DraftOptions) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(&mut text, log, name, options);
    text
}

fn write_all(
    text: &mut String,
    log: &LoggedRows,
    name: &str,
    options: &DraftOptions,
) -> fmt::Result {
    write_head(text, log, name, options)?;
    write_states_and_actions(text, log, options)?;
    write_reward(text, log, &options.reward)?;
    write_ends(text, log)?;
    write_starts(text, log)
}

fn write_head(
    text: &mut String,
    log: &LoggedRows,
    name: &str,
    options: &DraftOptions,
) -> fmt::Result {
    let lengths = log.episode_lengths();
    let steps: usize = lengths.iter().sum();
    let longest = lengths.iter().max().copied().unwrap_or(1).max(1);
    let shortest = lengths.iter().min().copied().unwrap_or(1);
    let (episodes, name) = (log.episodes(), toml::Value::String(name.to_owned()));
    let left = match options.reward {
        DraftReward::Left => "Fill in the reward, look",
        DraftReward::Expression(_) | DraftReward::Learned => "Look",
    };
    let horizon = match options.horizon {
        Some(horizon) => format!("{horizon}  # the log's longest episode has {longest} steps"),
        None => format!("{longest}  # the longest episode; the shortest has {shortest} steps"),
    };
    write!(
        text,
        "# A first task from a log of {steps} transitions in {episodes} episodes.
# {left} at every line, then: hambo task check
name = {name}
horizon = {horizon}
delta = 0.05  # the bound holds with a probability of 95 %
# Deploy only at or above this return; without it a check only reports.
"
    )?;
    if let Some((low, high)) = returns(log) {
        writeln!(text, "# The log's episodes return {low} to {high}.")?;
    }
    writeln!(text, "# threshold = 0.0")
}

fn write_states_and_actions(
    text: &mut String,
    log: &LoggedRows,
    options: &DraftOptions,
) -> fmt::Result {
    let states = ranges(log, log.states.len(), |row| &row.state);
    writeln!(text, "\n[state]\nnames = {}", names(&log.states))?;
    let hints = log.wrap_hints(&[]);
    for hint in &hints {
        writeln!(text, "# {}. Remove it if it is none.", hint.seen())?;
    }
    if !hints.is_empty() {
        writeln!(text, "{}", wrap_line(&[], &[], &hints))?;
    }
    let circles = log.circles();
    for circle in &circles {
        writeln!(text, "# {}. Remove it if it is chance.", circle.seen())?;
    }
    if !circles.is_empty() {
        writeln!(text, "{}", circle_line(&circles))?;
    }
    writeln!(
        text,
        "# Physical limits, if there are any: predictions are clamped to them. In the log:"
    )?;
    for (name, (low, high)) in log.states.iter().zip(&states) {
        writeln!(text, "#   {name}: {low} to {high}")?;
    }
    // What wraps or never changes has no limits, and a circle has those of the circle.
    let limits = log.states.iter().zip(states).map(|(name, range)| {
        if range.0 == range.1 || hints.iter().any(|hint| hint.name == *name) {
            (f32::NEG_INFINITY, f32::INFINITY)
        } else if circles.iter().any(|circle| circle.names.contains(name)) {
            (-1.0, 1.0)
        } else {
            range
        }
    });
    match &options.state_limits {
        Some((low, high)) => {
            let given = low.iter().copied().zip(high.iter().copied());
            write_limits(text, "", given.collect())?;
        }
        None => write_limits(text, "# ", limits.collect())?,
    }

    writeln!(text, "\n[action]\nnames = {}", names(&log.actions))?;
    writeln!(
        text,
        "# What the log holds; write the actuators' own limits if they are wider."
    )?;
    let actions = ranges(log, log.actions.len(), |row| &row.action);
    for (name, (low, high)) in log.actions.iter().zip(&actions) {
        if low == high {
            writeln!(
                text,
                "# `{name}` is {low} in all rows, and nothing can be learnt of it: log other values."
            )?;
        }
    }
    // A task's limits differ.
    let logged = actions.into_iter().map(|(low, high)| {
        let room = if low < high { 0.0 } else { 1.0 };
        (low - room, high + room)
    });
    let limits = match &options.action_limits {
        Some((low, high)) => low.iter().copied().zip(high.iter().copied()).collect(),
        None => logged.collect(),
    };
    write_limits(text, "", limits)?;

    let known = log.known(&hints, &circles);
    if !known.is_empty() {
        let remark = "Next states that follow exactly and are not learned. Remove what is chance.";
        writeln!(text, "\n[known]\n# {remark}")?;
    }
    for state in &known {
        writeln!(text, "# {}.\n{}", state.seen(), state.line())?;
    }
    let stops = log.stops(&hints, &circles, &known);
    if !stops.is_empty() {
        let heading = if known.is_empty() { "\n[known]\n" } else { "" };
        writeln!(
            text,
            "{heading}# Where states stop: they are learned, and these lines have the last word. \
             Remove what is chance."
        )?;
    }
    for state in &stops {
        writeln!(text, "# {}.\n{}", state.seen(), state.line())?;
    }
    write_inputs(text, log)
}

/// What has one value in the whole log is not seen by the model.
fn write_inputs(text: &mut String, log: &LoggedRows) -> fmt::Result {
    let constants = log.constants();
    let seen = log.states.iter().filter(|name| {
        let mut constants = constants.iter();
        constants.all(|(constant, _)| constant != name)
    });
    let seen: Vec<String> = seen.cloned().collect();
    if constants.is_empty() || seen.is_empty() || seen.len() > MAX_FEATURES {
        return Ok(());
    }
    writeln!(text, "\n[model]")?;
    for (name, value) in constants {
        writeln!(
            text,
            "# `{name}` is {value} in all rows: nothing can be learnt of what it does. If the \
             dynamics\n# depend on it (a mass), log other values and put it into the list."
        )?;
    }
    writeln!(text, "inputs = {}", names(&seen))
}

fn write_reward(text: &mut String, log: &LoggedRows, reward: &DraftReward) -> fmt::Result {
    let (state, action) = (first(&log.states), first(&log.actions));
    write!(
        text,
        "
[reward]
# What a step is worth, from the names above; next.{state} is {state} after the step.
# For example \"-({state}^2) - 0.01 * {action}^2\".
"
    )?;
    if let Some((low, high)) = range(log.rows.iter().filter_map(|row| row.reward)) {
        write!(
            text,
            "# The log's rewards run from {low} to {high}; hambo task check compares them.
# If nobody can write it down, the model can learn it: learned = true
"
        )?;
    }
    match reward {
        DraftReward::Left => writeln!(text, "# expr = \"\""),
        DraftReward::Expression(given) => {
            writeln!(text, "expr = {}", toml::Value::String(given.clone()))
        }
        DraftReward::Learned => writeln!(text, "learned = true"),
    }
}

fn write_ends(text: &mut String, log: &LoggedRows) -> fmt::Result {
    let state = first(&log.states);
    let remark = "When the robot has to stop; the reward of that step still counts.";
    writeln!(text, "\n# {remark}")?;
    let ends = log.terminals();
    if ends > 0 {
        let remark = "say what they have in common.";
        writeln!(text, "# The log has {ends} terminals: {remark}")?;
    }
    write!(
        text,
        "# [termination]
# expr = \"abs({state}) > 1\"

# What must hold beside the return: kind \"mean\", \"always\", \"finally\" or \"eventually\".
# [[constraint]]
# name = \"{state}\"
# expr = \"abs({state}) <= 1\"
# kind = \"always\"
# probability = 0.99
"
    )
}

fn write_starts(text: &mut String, log: &LoggedRows) -> fmt::Result {
    let firsts = log.first_rows().map(|(_, row)| row.state.as_slice());
    let firsts: Vec<&[f32]> = firsts.collect();
    writeln!(text, "\n[initial]")?;
    if let Some(first) = firsts.first()
        && firsts.iter().all(|other| other == first)
    {
        let value = list(first.iter().copied());
        let remark = "Every episode of the log starts here.";
        return writeln!(text, "# {remark}\nkind = \"point\"\nvalue = {value}");
    }
    let starts = (0..log.states.len())
        .filter_map(|i| range(firsts.iter().filter_map(|s| s.get(i).copied())));
    write!(
        text,
        "# The first states of the log's episodes; give the log with --data.
kind = \"data\"
# Or a box around them:
# kind = \"uniform\"
"
    )?;
    write_limits(text, "# ", starts.collect())
}

fn write_limits(text: &mut String, mark: &str, limits: Vec<(f32, f32)>) -> fmt::Result {
    let (low, high): (Vec<f32>, Vec<f32>) = limits.into_iter().unzip();
    let (low, high) = (list(low.into_iter()), list(high.into_iter()));
    writeln!(text, "{mark}low = {low}\n{mark}high = {high}")
}

/// Least and largest of each of `count` columns.
fn ranges(log: &LoggedRows, count: usize, vector: fn(&LoggedRow) -> &Vec<f32>) -> Vec<(f32, f32)> {
    let column = |i: usize| {
        log.rows
            .iter()
            .filter_map(move |row| vector(row).get(i).copied())
    };
    (0..count).filter_map(|i| range(column(i))).collect()
}

/// The least and the largest return, if rewards were logged.
fn returns(log: &LoggedRows) -> Option<(f32, f32)> {
    let mut sums = vec![0.0; log.episodes()];
    for row in &log.rows {
        if let Some(sum) = sums.get_mut(row.episode) {
            *sum += f64::from(row.reward?);
        }
    }
    range(sums.into_iter().map(|sum| sum as f32))
}

fn first(names: &[String]) -> &str {
    names.first().map_or("", String::as_str)
}

fn names(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

fn list(numbers: impl Iterator<Item = f32>) -> String {
    let numbers: Vec<String> = numbers.map(|x| x.to_string()).collect();
    format!("[{}]", numbers.join(", "))
}
