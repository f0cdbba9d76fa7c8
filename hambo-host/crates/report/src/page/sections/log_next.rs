//! Where to log next.

use hambo_check::log_next::LogNext;
use hambo_check::paths::Paths;
use hambo_check::saved_run::SavedRun;
use maud::{Markup, html};

use super::plane::{Plane, named_values};
use crate::page::chart::{Chart, Frame};
use crate::page::pieces::{keys, number, table, text, wide};
use crate::words::percent;

const LARGEST_DOT: f64 = 16.0;

/// `None` without a place.
pub fn body(run: &SavedRun) -> Option<Markup> {
    let places = &run.result.evidence.log_next;
    let paths = run.paths.as_ref()?;
    let first = places.first()?;
    let all: f64 = places.iter().map(|place| place.share.0).sum();
    let rows = places.iter().map(|place| {
        vec![
            number(percent(place.share.0)),
            text(named_values(&paths.states, &place.state)),
            text(named_values(&paths.actions, &place.action)),
            number(place.step),
            text(&place.uncertain),
        ]
    });
    let heads = ["share", "state", "action", "step", "uncertain next state"];
    Some(html! {
        p {
            "The adversary pushes the next state about inside the model's uncertainty. The places \
             below are where these pushes take most from the return: " (percent(first.share.0))
            " of all that is bought near the first one, " (percent(all)) " near all "
            (places.len()) " of them. Rows logged near there, with exploration, make the bound \
             rise most; " code { "hambo check --plan N --plan-csv FILE" } " writes as many as you \
             can log."
        }
        @if let Some(plane) = Plane::of(paths) { (map(places, paths, &plane)) }
        (table("Places to log, the most useful first", &heads, rows))
    })
}

fn map(places: &[LogNext], paths: &Paths, plane: &Plane<'_>) -> Markup {
    let [x_label, y_label] = plane.names;
    let frame = Frame {
        id: "log-next-map",
        title: &format!("Places to log: {y_label} against {x_label}"),
        description: &format!(
            "{} places to log in the plane of {x_label} and {y_label}; the area of a dot is its \
             share.",
            places.len()
        ),
        size: [960.0, 420.0],
        x_label,
        y_label,
    };
    let points = places.iter().map(|place| plane.place(&place.state));
    let points: Vec<[f64; 2]> = points.collect();
    let [x, y] = plane.spans(&points);
    let mut chart = Chart::new(&frame, x, y);
    chart.line("line-neutral", plane.neutral.iter().copied());
    chart.line("line-adversary", plane.worst.iter().copied());
    let shares = || places.iter().map(|place| place.share.0);
    let largest = shares().fold(0.0, f64::max);
    let radii = shares().map(|share| LARGEST_DOT * (share / largest).sqrt());
    chart.dots("dot-loss", points.iter().copied().zip(radii));
    let keys = keys(&[
        ("line-neutral", "neutral"),
        ("line-adversary", "worst"),
        ("dot-loss", "place to log, by share"),
    ]);
    let caption = format!(
        "Trajectory {} in the plane of the two states in which neutral and worst trajectories \
         differ most, and the places to log.",
        paths.shown.trajectory
    );
    wide(frame.id, chart.finish(), &keys, &caption)
}
