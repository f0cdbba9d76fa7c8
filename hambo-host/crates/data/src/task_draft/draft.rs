//! A first task file from a log: what the log can say, and comments for what it cannot.

use std::fmt::Write as _;

use super::circles::circle_line;
use super::range;
use super::rows::LoggedRows;
use crate::wrap_line;

/// The text of a task file called `name`. It parses once the reward's line is filled in.
///
/// ```
/// use hambo_data::task_draft::{LoggedRows, draft};
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
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(&mut text, log, name);
    text
}

fn write_all(text: &mut String, log: &LoggedRows, name: &str) -> std::fmt::Result {
    let lengths = log.episode_lengths();
    let steps: usize = lengths.iter().sum();
    let longest = lengths.iter().max().copied().unwrap_or(1).max(1);
    let shortest = lengths.iter().min().copied().unwrap_or(1);
    let episodes = log.episodes();
    writeln!(
        text,
        "# A first task from a log of {steps} transitions in {episodes} episodes."
    )?;
    writeln!(
        text,
        "# Fill in the reward, look at every line, then: hambo task check"
    )?;
    writeln!(text, "name = {}", toml::Value::String(name.to_owned()))?;
    writeln!(
        text,
        "horizon = {longest}  # the longest episode; the shortest has {shortest} steps"
    )?;
    writeln!(
        text,
        "delta = 0.05  # the bound holds with a probability of 95 %"
    )?;
    writeln!(
        text,
        "# Deploy only at or above this return; without it a check only reports."
    )?;
    if let Some((low, high)) = returns(log) {
        writeln!(text, "# The log's episodes return {low} to {high}.")?;
    }
    writeln!(text, "# threshold = 0.0")?;

    let column = |index: usize| {
        log.rows
            .iter()
            .filter_map(move |row| row.state.get(index).copied())
    };
    let states: Vec<(f32, f32)> = (0..log.states.len())
        .filter_map(|i| range(column(i)))
        .collect();
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
    // What wraps has no limits, and a circle has those of the circle.
    let limits = log.states.iter().zip(&states).map(|(name, range)| {
        if hints.iter().any(|hint| hint.name == *name) {
            (f32::NEG_INFINITY, f32::INFINITY)
        } else if circles.iter().any(|circle| circle.names.contains(name)) {
            (-1.0, 1.0)
        } else {
            *range
        }
    });
    writeln!(
        text,
        "# low = {}",
        list(limits.clone().map(|range| range.0))
    )?;
    writeln!(text, "# high = {}", list(limits.map(|range| range.1)))?;

    let column = |index: usize| {
        log.rows
            .iter()
            .filter_map(move |row| row.action.get(index).copied())
    };
    let actions = (0..log.actions.len()).filter_map(|i| range(column(i)));
    // A task's limits differ.
    let actions: Vec<(f32, f32)> = actions
        .map(|(low, high)| {
            if low < high {
                (low, high)
            } else {
                (low - 1.0, high + 1.0)
            }
        })
        .collect();
    writeln!(text, "\n[action]\nnames = {}", names(&log.actions))?;
    writeln!(
        text,
        "# What the log holds; write the actuators' own limits if they are wider."
    )?;
    writeln!(text, "low = {}", list(actions.iter().map(|range| range.0)))?;
    writeln!(text, "high = {}", list(actions.iter().map(|range| range.1)))?;

    let known = log.known(&hints, &circles);
    if !known.is_empty() {
        writeln!(
            text,
            "\n[known]\n# Next states that follow exactly and are not learned. Remove what is chance."
        )?;
    }
    for state in &known {
        writeln!(text, "# {}.\n{}", state.seen(), state.line())?;
    }

    let first = |names: &[String]| names.first().cloned().unwrap_or_default();
    let (state, action) = (first(&log.states), first(&log.actions));
    writeln!(text, "\n[reward]")?;
    writeln!(
        text,
        "# What a step is worth, from the names above; next.{state} is {state} after the step."
    )?;
    writeln!(text, "# For example \"-({state}^2) - 0.01 * {action}^2\".")?;
    if let Some((low, high)) = range(log.rows.iter().filter_map(|row| row.reward)) {
        writeln!(
            text,
            "# The log's rewards run from {low} to {high}; hambo task check compares them."
        )?;
        writeln!(
            text,
            "# If nobody can write it down, the model can learn it: learned = true"
        )?;
    }
    writeln!(text, "# expr = \"\"")?;

    let ends = log
        .rows
        .iter()
        .filter(|row| row.terminal == Some(true))
        .count();
    writeln!(
        text,
        "\n# When the robot has to stop; the reward of that step still counts."
    )?;
    if ends > 0 {
        writeln!(
            text,
            "# The log has {ends} terminals: say what they have in common."
        )?;
    }
    writeln!(text, "# [termination]\n# expr = \"abs({state}) > 1\"")?;
    writeln!(
        text,
        "\n# What must hold beside the return: kind \"mean\", \"always\", \"finally\" or \
         \"eventually\"."
    )?;
    writeln!(
        text,
        "# [[constraint]]\n# name = \"{state}\"\n# expr = \"abs({state}) <= 1\"\n# kind = \"always\"\n# probability = 0.99"
    )?;

    let firsts: Vec<&[f32]> = log
        .first_rows()
        .map(|(_, row)| row.state.as_slice())
        .collect();
    writeln!(text, "\n[initial]")?;
    if let Some(first) = firsts
        .first()
        .filter(|first| firsts.iter().all(|other| other == *first))
    {
        writeln!(
            text,
            "# Every episode of the log starts here.\nkind = \"point\""
        )?;
        return writeln!(text, "value = {}", list(first.iter().copied()));
    }
    let starts = (0..log.states.len())
        .filter_map(|i| range(firsts.iter().filter_map(|s| s.get(i).copied())));
    let starts: Vec<(f32, f32)> = starts.collect();
    writeln!(
        text,
        "# The first states of the log's episodes; give the log with --data."
    )?;
    writeln!(
        text,
        "kind = \"data\"\n# Or a box around them:\n# kind = \"uniform\""
    )?;
    writeln!(text, "# low = {}", list(starts.iter().map(|range| range.0)))?;
    writeln!(
        text,
        "# high = {}",
        list(starts.iter().map(|range| range.1))
    )
}

/// The least and the largest return, if rewards were logged.
fn returns(log: &LoggedRows) -> Option<(f32, f32)> {
    let mut sums = vec![0.0; log.episodes()];
    for row in &log.rows {
        if let Some(sum) = sums.get_mut(row.episode) {
            *sum += f64::from(row.reward?);
        }
    }
    let low = sums.iter().copied().fold(f64::INFINITY, f64::min);
    let high = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low <= high).then_some((low as f32, high as f32))
}

fn names(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

fn list(numbers: impl Iterator<Item = f32>) -> String {
    let numbers: Vec<String> = numbers.map(|x| x.to_string()).collect();
    format!("[{}]", numbers.join(", "))
}
