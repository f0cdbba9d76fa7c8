//! Whether the model knows what it does not know: calibration curves before and after scaling.

use hambo_check::model_summary::{CalibrationSummary, StateCalibration};
use hambo_check::saved_run::SavedRun;
use maud::{Markup, html};

use crate::page::chart::{Chart, Frame};
use crate::page::pieces::{MOST_CHARTS, figure, keys, number, small, table, text};
use crate::range::Range;
use crate::words::{count, percent, readable};

/// Pairs of states that are named.
const MOST_SHARED: usize = 5;

pub fn body(run: &SavedRun) -> Markup {
    let facts = &run.model.calibration;
    let gate = &facts.gate;
    html! {
        p {
            span class={ "mark " (if facts.passed { "good" } else { "bad" }) } { (facts.status) }
            " (" (count(run.model.withheld_rows as u64)) " rows). The scale τ multiplies the \
             predicted standard deviations so that intervals hold as many withheld rows as they \
             claim; "
            @if facts.mode == "widen" { "here it may only widen the set" }
            @else { "here it is the paper’s plain minimiser" }
            ". On rows that chose nothing, all states at once, " (percent(facts.joint_coverage.0))
            " of the next states lie in the set that the adversary chooses from, and "
            (percent(f64::from(gate.share))) " in set and noise as they are simulated (lower 95 % \
             limit " (percent(f64::from(gate.share_lower))) ", at least 90 % is wanted; the set "
            @if gate.widening == 1.0 { "did not have to be widened for it" }
            @else { "was widened " (readable(f64::from(gate.widening))) " times for it" }
            ")."
            @for shared in facts.shared_noise.iter().take(MOST_SHARED) {
                " The noise of " (shared.states[0]) " and " (shared.states[1])
                " has the correlation " (readable(shared.correlation.0)) "."
            }
            @for place in &facts.errs_more { " The model " (place) "." }
        }
        p class="keys" {
            (keys(&[
                ("line-before", "before (τ = 1)"),
                ("line-adversary", "after (τ in use)"),
                ("line-limit", "a perfect model"),
            ]))
        }
        div class="several small" {
            @for (j, state) in facts.states.iter().enumerate().take(MOST_CHARTS) { (chart(j, state)) }
        }
        (numbers(facts))
        @if !gate.windows.is_empty() { (windows(facts)) }
    }
}

fn chart(j: usize, state: &StateCalibration) -> Markup {
    let [before, after] = state.errors.map(|error| readable(error.0));
    let frame = Frame {
        id: &format!("curve-{j}"),
        title: &format!("Calibration of {}", state.name),
        description: &format!(
            "Claimed against observed shares of withheld rows; the squared error goes from \
             {before} to {after}."
        ),
        size: [300.0, 260.0],
        x_label: "claimed",
        y_label: "observed",
    };
    let unit = Range::exact(0.0, 1.0);
    let mut chart = Chart::new(&frame, unit, unit);
    chart.line("line-limit", [[0.0, 0.0], [1.0, 1.0]]);
    let lines = [
        ("line-before", "dot-neutral", &state.before),
        ("line-adversary", "dot-adversary", &state.after),
    ];
    for (line, dot, curve) in lines {
        let points = || curve.iter().map(|pair| pair.map(|x| x.0));
        chart.line(line, points());
        chart.dots(dot, points().map(|point| (point, 3.0)));
    }
    small(&state.name, chart.finish())
}

fn numbers(facts: &CalibrationSummary) -> Markup {
    let rows = facts.states.iter().map(|state| {
        let [before, after] = state.errors;
        let scales = [state.best_scale, state.scale, state.noise_scale];
        let figures = scales.into_iter().chain([state.beta, before, after]);
        let shares = [state.coverage_90, state.coverage, state.simulated_coverage];
        let shares = shares.map(|share| number(percent(share.0)));
        let cells = figures.map(|value| figure(value.0)).chain(shares);
        [text(&state.name)].into_iter().chain(cells).collect()
    });
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
    table("Scales, errors, and shares of withheld rows", &heads, rows)
}

/// Sums of residuals over windows of withheld rows.
fn windows(facts: &CalibrationSummary) -> Markup {
    let rows = facts.gate.windows.iter().map(|window| {
        let counts = [window.length, window.windows].map(|x| number(count(x as u64)));
        let shares = [window.share, window.share_upper];
        let shares = shares.map(|share| number(percent(f64::from(share))));
        counts.into_iter().chain(shares).collect()
    });
    table(
        "Errors over several steps: windows whose sum of residuals a rollout could have made \
         (upper limit, at least 99 % is wanted)",
        &["steps", "windows", "held", "upper limit"],
        rows,
    )
}
