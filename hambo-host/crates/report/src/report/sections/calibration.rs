//! Whether the model knows what it does not know: calibration curves before
//! and after scaling.

use super::Section;
use crate::report::chart::{Chart, Frame, Range};
use crate::report::html::{Cell, count, escape, figure, key, percent, readable, table, text};
use hambo_check::model_summary::{CalibrationSummary, StateCalibration};
use hambo_check::number::Number;
use hambo_check::saved_run::SavedRun;

/// The most states that get a chart.
const MOST_CHARTS: usize = 24;

/// The section.
pub fn section(run: &SavedRun) -> Section {
    let facts = &run.model.calibration;
    let class = if facts.passed { "good" } else { "bad" };
    let mut body = format!(
        "<p><span class=\"mark {class}\">{}</span> ({} rows). The scale τ multiplies the \
         predicted standard deviations so that intervals hold as many withheld rows as they \
         claim; {}. On rows that chose nothing, all states at once, {} of the next states lie \
         in the set that the adversary chooses from, and {} in set and noise as they are \
         simulated (lower 95 % limit {}, at least 90 % is wanted; {}).</p>\n",
        escape(&facts.status),
        count(run.model.withheld_rows as u64),
        match facts.mode.as_str() {
            "widen" => "here it may only widen the set",
            _ => "here it is the paper’s plain minimiser",
        },
        percent(facts.joint_coverage.0),
        percent(f64::from(facts.gate.share)),
        percent(f64::from(facts.gate.share_lower)),
        match facts.gate.widening {
            1.0 => "the set did not have to be widened for it".to_owned(),
            by => format!(
                "the set was widened {} times for it",
                readable(f64::from(by))
            ),
        }
    );
    let keys = key("line-before", "before (τ = 1)")
        + &key("line-adversary", "after (τ in use)")
        + &key("line-limit", "a perfect model");
    body.push_str(&format!(
        "<p class=\"keys\">{keys}</p>\n<div class=\"several small\">\n"
    ));
    for (j, state) in facts.states.iter().enumerate().take(MOST_CHARTS) {
        body.push_str(&chart(j, state));
    }
    body.push_str("</div>\n");
    body.push_str(&numbers(facts));
    body.push_str(&windows(facts));
    Section {
        id: "calibration",
        title: "Calibration",
        body,
    }
}

fn chart(j: usize, state: &StateCalibration) -> String {
    let frame = Frame {
        id: &format!("curve-{j}"),
        title: &format!("Calibration of {}", state.name),
        description: &format!(
            "Claimed against observed shares of withheld rows; the squared error goes from {} \
             to {}.",
            readable(state.errors[0].0),
            readable(state.errors[1].0)
        ),
        size: [300.0, 260.0],
        x_label: "claimed",
        y_label: "observed",
    };
    let unit = Range::exact(0.0, 1.0);
    let mut chart = Chart::new(&frame, unit, unit);
    let points = |curve: &[[Number; 2]]| -> Vec<[f64; 2]> {
        curve.iter().map(|pair| pair.map(|x| x.0)).collect()
    };
    chart.line("line-limit", [[0.0, 0.0], [1.0, 1.0]]);
    let lines = [
        ("line-before", "dot-neutral", &state.before),
        ("line-adversary", "dot-adversary", &state.after),
    ];
    for (line, dot, curve) in lines {
        let points = points(curve);
        chart.line(line, points.iter().copied());
        chart.dots(dot, points.iter().map(|point| (*point, 3.0)));
    }
    format!(
        "<figure><figcaption>{}</figcaption>{}</figure>\n",
        escape(&state.name),
        chart.finish()
    )
}

fn numbers(facts: &CalibrationSummary) -> String {
    let rows: Vec<Vec<Cell>> = facts
        .states
        .iter()
        .map(|state| {
            vec![
                text(&state.name),
                figure(state.best_scale.0),
                figure(state.scale.0),
                figure(state.noise_scale.0),
                figure(state.beta.0),
                figure(state.errors[0].0),
                figure(state.errors[1].0),
                Cell::Number(percent(state.coverage_90.0)),
                Cell::Number(percent(state.coverage.0)),
                Cell::Number(percent(state.simulated_coverage.0)),
            ]
        })
        .collect();
    let heads = [
        "state",
        "best τ",
        "τ in use",
        "noise scale",
        "β",
        "error before",
        "after",
        "in the 90 % interval",
        "in the set",
        "in set and noise",
    ];
    table("Scales, errors, and shares of withheld rows", &heads, &rows)
}

/// Sums of residuals over windows of withheld rows.
fn windows(facts: &CalibrationSummary) -> String {
    if facts.gate.windows.is_empty() {
        return String::new();
    }
    let windows = facts.gate.windows.iter();
    let rows: Vec<Vec<Cell>> = windows
        .map(|window| {
            vec![
                Cell::Number(count(window.length as u64)),
                Cell::Number(count(window.windows as u64)),
                Cell::Number(percent(f64::from(window.share))),
                Cell::Number(percent(f64::from(window.share_upper))),
            ]
        })
        .collect();
    table(
        "Errors over several steps: windows whose sum of residuals a rollout could have made \
         (upper limit, at least 99 % is wanted)",
        &["steps", "windows", "held", "upper limit"],
        &rows,
    )
}
