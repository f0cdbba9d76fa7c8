//! How far the trajectories leave the data.

use hambo_core::check::MOST_OUTSIDE;

use super::Section;
use crate::report::chart::{Chart, Frame, Range};
use crate::report::html::{Cell, figure, key, percent, picture, readable, table, text};
use hambo_check::number::Number;
use hambo_check::paths::Paths;
use hambo_check::saved_run::SavedRun;
use hambo_check::support::{Distances, Excursion, SupportUse};

/// The section; none without trajectories.
pub fn section(run: &SavedRun) -> Option<Section> {
    let (result, paths) = (&run.result, run.paths.as_ref()?);
    let (support, variant) = (result.support.as_ref()?, &result.loss.as_ref()?.variant);
    let mut body = format!(
        "<p>The model’s uncertainty was put to the test on the log. A step is as far from the log \
         as its state and action are from the nearest of the log’s rows, measured across the \
         directions in which the log is spread; 1 is twice the distance that holds 99 % of the \
         withheld rows. Where a single input lies in a stretch without any row of the log, it \
         is 1 and the standard deviations to the nearer end. If more than {MOST_OUTSIDE} % of the steps that no adversary touches are farther out, \
         the check abstains; an adversary may leave the log, since the set it chooses from is \
         wide there.</p>\n",
    );
    body.push_str(&sides(support, variant));
    body.push_str(&chart(paths, variant));
    body.push_str(&ranges(paths));
    Some(Section {
        id: "support",
        title: "Support of the data",
        body,
    })
}

fn sides(support: &SupportUse, variant: &str) -> String {
    let row = |name: &str, excursion: &Excursion| {
        let place = excursion
            .farthest
            .as_ref()
            .map_or("none".to_owned(), |far| {
                format!(
                    "{} = {} at step {} of trajectory {}",
                    far.name,
                    readable(far.value.0),
                    far.step,
                    far.trajectory
                )
            });
        let distance = excursion
            .farthest
            .as_ref()
            .map_or(f64::NAN, |far| far.distance.0);
        vec![
            text(name),
            Cell::Number(percent(excursion.steps_outside.0)),
            Cell::Number(percent(excursion.trajectories_outside.0)),
            Cell::Number(
                excursion
                    .first_step_outside
                    .map_or("never".to_owned(), |step| step.to_string()),
            ),
            Cell::Number(match distance.is_finite() {
                true => format!("{distance:.2}"),
                false => readable(distance),
            }),
            text(place),
        ]
    };
    let rows = [
        row("neutral", &support.neutral),
        row(variant, &support.worst),
    ];
    let heads = [
        "trajectories",
        "steps outside",
        "trajectories outside",
        "first step outside",
        "farthest (1 = edge)",
        "where",
    ];
    table("How far the trajectories leave the log", &heads, &rows)
}

fn chart(paths: &Paths, variant: &str) -> String {
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
    let across = Range::exact(0.0, steps.saturating_sub(1) as f64);
    let mut chart = Chart::new(&frame, across, Range::of(all.chain([0.0, 1.05])));
    let band = |distances: &Distances| -> Vec<[f64; 3]> {
        let pairs = distances.median.iter().zip(&distances.largest).enumerate();
        pairs
            .map(|(t, (low, high))| [t as f64, low.0, high.0])
            .collect()
    };
    let line = |values: &[Number]| -> Vec<[f64; 2]> {
        let points = values.iter().enumerate();
        points.map(|(t, x)| [t as f64, x.0]).collect()
    };
    chart.band("band-neutral", band(neutral));
    chart.band("band-adversary", band(worst));
    chart.line("line-neutral", line(&neutral.median));
    chart.line("line-adversary", line(&worst.median));
    chart.level("line-edge", 1.0);
    let keys = key("line-neutral", "neutral, median")
        + &key("band-neutral", "up to the largest")
        + &key("line-adversary", &format!("{variant}, median"))
        + &key("band-adversary", "up to the largest")
        + &key("line-edge", "edge of what the log covers");
    let caption = format!(
        "{keys}<br>At each step the distance from the nearest row of the log; 1 is the edge."
    );
    picture(&chart.finish(), &caption)
}

fn ranges(paths: &Paths) -> String {
    if paths.logged_low.is_empty() {
        return "<p>The log itself was not given to the check: <code>--data</code> shows its \
                range here.</p>\n"
            .to_owned();
    }
    let ends = paths.logged_low.iter().zip(&paths.logged_high).enumerate();
    let rows: Vec<Vec<Cell>> = ends
        .filter(|(column, _)| paths.is_logged(*column))
        .map(|(column, (low, high))| vec![text(paths.name(column)), figure(low.0), figure(high.0)])
        .collect();
    table("What was logged", &["input", "from", "to"], &rows)
}
