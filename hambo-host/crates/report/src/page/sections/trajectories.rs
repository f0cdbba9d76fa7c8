//! Where the trajectories go: one chart for each state.

use hambo_check::number::Number;
use hambo_check::paths::Paths;
use hambo_check::saved_run::SavedRun;
use maud::{Markup, html};

use super::plane::most_different;
use crate::page::chart::{Chart, Frame};
use crate::page::pieces::{MOST_CHARTS, keys, small};
use crate::range::Range;
use crate::words::count;

/// `None` without trajectories.
pub fn body(run: &SavedRun) -> Option<Markup> {
    let (loss, paths) = (run.result.evidence.loss.as_ref()?, run.paths.as_ref()?);
    let (name, trajectory) = (&loss.variant, paths.shown.trajectory);
    let states = most_different(paths, MOST_CHARTS);
    let left = paths.states.len() - states.len();
    Some(html! {
        p {
            "Two kinds of tube are drawn. The " strong { "wide bands" } " are the spread over "
            (count(loss.trajectories as u64)) " trajectories, from the 5 % to the 95 % quantile at \
             each step: of mean propagation, which plays out no noise, and of " code { (name) }
            ", with the worst choices found for each. The " strong { "narrow band" }
            " is the model’s confidence set β·τ·σ" sub { "e" } " around each single step of the \
             neutral path of trajectory " (trajectory) ", the one that loses most (both of its \
             paths are dashed): from inside it the adversary picks the next state, again and \
             again, so its path may leave it."
            @if left > 0 {
                " Shown are the " (states.len()) " states in which the two differ most; the other "
                (left) " are in the run file."
            }
        }
        p class="keys" {
            (keys(&[
                ("line-neutral", "neutral mean"),
                ("band-set", "the model’s set"),
                ("band-neutral", "neutral, 5–95 %"),
                ("line-adversary", &format!("{name} mean")),
                ("band-adversary", &format!("{name}, 5–95 %")),
                ("line-one-neutral", &format!("trajectory {trajectory}, neutral")),
                ("line-one", &format!("the same under {name}")),
                ("line-limit", "log’s range, or two standard deviations"),
            ]))
        }
        div class="several" { @for state in states { (chart(paths, name, state)) } }
    })
}

fn chart(paths: &Paths, variant: &str, j: usize) -> Markup {
    let (Some(name), Some(neutral), Some(worst)) = (
        paths.states.get(j),
        paths.neutral.get(j),
        paths.worst.get(j),
    ) else {
        return Markup::default();
    };
    let shown = &paths.shown;
    let columns = [
        &shown.neutral,
        &shown.worst,
        &shown.set_low,
        &shown.set_high,
    ];
    let column = |rows: &'_ Vec<Vec<Number>>| rows.get(j).cloned().unwrap_or_default();
    let [one_neutral, one, low, high] = columns.map(column);
    let steps = worst.mean.len().max(neutral.mean.len());
    let all = [&neutral.low, &neutral.high, &worst.low, &worst.high, &one];
    let range = Range::of(all.into_iter().flatten().map(|x| x.0));
    let frame = Frame {
        id: &format!("state-{j}"),
        title: &format!("Trajectories of {name}"),
        description: &format!(
            "The state {name} over {} steps: mean propagation with its spread and the model’s \
             set, {variant} with its spread, and the trajectory that loses most.",
            steps.saturating_sub(1)
        ),
        size: [480.0, 240.0],
        x_label: "step",
        y_label: name,
    };
    let mut chart = Chart::over_steps(&frame, steps, range);
    chart.band_over_steps("band-neutral", &neutral.low, &neutral.high, 0);
    chart.band_over_steps("band-adversary", &worst.low, &worst.high, 0);
    chart.band_over_steps("band-set", &low, &high, 1);
    // The log's own range where it is known, else two standard deviations around its mean.
    let ends = |low: &[Number], high: &[Number]| low.get(j).copied().zip(high.get(j).copied());
    let limits = ends(&paths.logged_low, &paths.logged_high);
    let limits = limits.or_else(|| ends(&paths.low, &paths.high));
    if let Some((low, high)) = limits.filter(|_| paths.is_logged(j)) {
        for level in [low.0, high.0] {
            if range.contains(level) {
                chart.level("line-limit", level);
            }
        }
    }
    chart.line_over_steps("line-one-neutral", &one_neutral);
    chart.line_over_steps("line-one", &one);
    chart.line_over_steps("line-neutral", &neutral.mean);
    chart.line_over_steps("line-adversary", &worst.mean);
    small(name, chart.finish())
}
