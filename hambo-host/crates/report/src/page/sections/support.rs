//! How far the trajectories leave the data.

use hambo_check::paths::Paths;
use hambo_check::saved_run::SavedRun;
use hambo_check::support::{Excursion, SupportUse};
use hambo_core::check::MOST_OUTSIDE;
use hambo_core::model::FAR_OUTSIDE;
use maud::{Markup, html};

use crate::page::chart::{Chart, Frame};
use crate::page::pieces::{Cell, figure, keys, number, table, text, wide};
use crate::range::Range;
use crate::words::{percent, readable};

/// `None` without trajectories.
pub fn body(run: &SavedRun) -> Option<Markup> {
    let (result, paths) = (&run.result, run.paths.as_ref()?);
    let (support, variant) = (
        result.evidence.support.as_ref()?,
        &result.evidence.loss.as_ref()?.variant,
    );
    Some(html! {
        p {
            "The model’s uncertainty was put to the test on the log. A step is as far from the log \
             as its state and action are from the nearest of the log’s rows, measured across the \
             directions in which the log is spread; 1 is twice the distance that holds 99 % of the \
             withheld rows. Where a single input lies in a stretch without any row of the log, it \
             is 1 and the standard deviations to the nearer end. If more than " (MOST_OUTSIDE)
            " % of the steps that no adversary touches are farther out, or more than "
            (percent(support.far_trajectories_allowed.0)) " of their trajectories have a step beyond "
            (FAR_OUTSIDE) " (" (MOST_OUTSIDE) " % and what the log’s own withheld windows show over as \
             many steps), the check abstains; an adversary may leave the log, since the set it chooses from is wide \
             there."
        }
        (sides(support, variant))
        (chart(paths, variant))
        @if paths.logged_low.is_empty() {
            p {
                "The log itself was not given to the check: " code { "--data" }
                " shows its range here."
            }
        } @else {
            (ranges(paths))
        }
    })
}

fn sides(support: &SupportUse, variant: &str) -> Markup {
    let heads = [
        "trajectories",
        "steps outside",
        "trajectories far outside",
        "first step outside",
        "farthest (1 = edge)",
        "where",
    ];
    let rows = [
        side("neutral", &support.neutral),
        side(variant, &support.worst),
    ];
    table("How far the trajectories leave the log", &heads, rows)
}

fn side(name: &str, excursion: &Excursion) -> Vec<Cell> {
    let first = excursion.first_step_outside.map(|step| step.to_string());
    let (distance, place) = match &excursion.farthest {
        Some(far) => (
            far.distance.0,
            format!(
                "{} = {} at step {} of trajectory {}",
                far.name,
                readable(far.value.0),
                far.step,
                far.trajectory
            ),
        ),
        None => (f64::NAN, "none".to_owned()),
    };
    let distance = if distance.is_finite() {
        format!("{distance:.2}")
    } else {
        readable(distance)
    };
    vec![
        text(name),
        number(percent(excursion.steps_outside.0)),
        number(percent(excursion.far_trajectories.0)),
        number(first.unwrap_or_else(|| "never".to_owned())),
        number(distance),
        text(place),
    ]
}

fn chart(paths: &Paths, variant: &str) -> Markup {
    let (neutral, worst) = (&paths.neutral_distances, &paths.worst_distances);
    let steps = neutral.largest.len().max(worst.largest.len());
    let all = neutral.largest.iter().chain(&worst.largest).map(|x| x.0);
    let frame = Frame {
        id: "reach",
        title: "Distance from the log",
        description: "The distance from the nearest row of the log at each step, in units in \
                      which the edge of what it covers is 1: median and largest, neutral and \
                      worst.",
        size: [960.0, 260.0],
        x_label: "step",
        y_label: "distance",
    };
    let mut chart = Chart::over_steps(&frame, steps, Range::of(all.chain([0.0, 1.05])));
    chart.band_over_steps("band-neutral", &neutral.median, &neutral.largest, 0);
    chart.band_over_steps("band-adversary", &worst.median, &worst.largest, 0);
    chart.line_over_steps("line-neutral", &neutral.median);
    chart.line_over_steps("line-adversary", &worst.median);
    chart.level("line-edge", 1.0);
    let keys = keys(&[
        ("line-neutral", "neutral, median"),
        ("band-neutral", "up to the largest"),
        ("line-adversary", &format!("{variant}, median")),
        ("band-adversary", "up to the largest"),
        ("line-edge", "edge of what the log covers"),
    ]);
    let caption = "At each step the distance from the nearest row of the log; 1 is the edge.";
    wide(frame.id, chart.finish(), &keys, caption)
}

fn ranges(paths: &Paths) -> Markup {
    let ends = paths.logged_low.iter().zip(&paths.logged_high).enumerate();
    let rows = ends
        .filter(|(column, _)| paths.is_logged(*column))
        .map(|(column, (low, high))| vec![text(paths.name(column)), figure(low.0), figure(high.0)]);
    table("What was logged", &["input", "from", "to"], rows)
}
