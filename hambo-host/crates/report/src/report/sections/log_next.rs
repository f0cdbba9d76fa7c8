//! Where to log next.

use super::Section;
use super::trajectories::plane;
use crate::report::chart::{Chart, Frame, Range};
use crate::report::html::{Cell, key, picture, readable, table, text};
use hambo_check::log_next::LogNext;
use hambo_check::number::Number;
use hambo_check::paths::Paths;
use hambo_check::saved_run::SavedRun;

/// The largest dot.
const LARGEST_DOT: f64 = 16.0;

/// The section; none without a place.
pub fn section(run: &SavedRun) -> Option<Section> {
    let places = &run.result.log_next;
    let paths = run.paths.as_ref()?;
    let first = places.first()?;
    let all: f64 = places.iter().map(|place| place.share.0).sum();
    let mut body = format!(
        "<p>The adversary pushes the next state about inside the model's uncertainty. The places \
         below are where these pushes take most from the return: {} of all that is bought near \
         the first one, {} near all {} of them. Rows logged near there, with exploration, make \
         the bound rise most; <code>hambo check --plan N --plan-csv FILE</code> writes as many \
         as you can log.</p>\n",
        percent(first.share.0),
        percent(all),
        places.len()
    );
    body.push_str(&map(places, paths));
    let list = |names: &[String], values: &[Number]| {
        let pairs = names.iter().zip(values);
        let pairs = pairs.map(|(name, value)| format!("{name} = {}", readable(value.0)));
        pairs.collect::<Vec<_>>().join(", ")
    };
    let rows: Vec<Vec<Cell>> = places
        .iter()
        .map(|place| {
            vec![
                Cell::Number(percent(place.share.0)),
                text(list(&paths.states, &place.state)),
                text(list(&paths.actions, &place.action)),
                Cell::Number(place.step.to_string()),
                text(&place.uncertain),
            ]
        })
        .collect();
    let heads = ["share", "state", "action", "step", "uncertain next state"];
    body.push_str(&table(
        "Places to log, the most useful first",
        &heads,
        &rows,
    ));
    Some(Section {
        id: "log-next",
        title: "Where to log next",
        body,
    })
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The plane of the two states that differ most between neutral and worst trajectories; none
/// with one state.
fn map(places: &[LogNext], paths: &Paths) -> String {
    let Some([i, j]) = plane(paths) else {
        return String::new();
    };
    let path = |rows: &[Vec<Number>]| -> Vec<[f64; 2]> {
        let (Some(x), Some(y)) = (rows.get(i), rows.get(j)) else {
            return Vec::new();
        };
        x.iter().zip(y).map(|(x, y)| [x.0, y.0]).collect()
    };
    let at = |state: &[Number]| [i, j].map(|k| state.get(k).map_or(f64::NAN, |x| x.0));
    let (neutral, worst) = (path(&paths.shown.neutral), path(&paths.shown.worst));
    let marks: Vec<([f64; 2], f64)> = places
        .iter()
        .map(|place| (at(&place.state), place.share.0))
        .collect();
    let dots = || marks.iter().map(|(point, _)| point);
    let all = || neutral.iter().chain(&worst).chain(dots());
    let names = [i, j].map(|k| paths.states.get(k).map_or("", String::as_str));
    let frame = Frame {
        id: "log-next-map",
        title: &format!("Places to log: {} against {}", names[1], names[0]),
        description: &format!(
            "{} places to log in the plane of {} and {}; the area of a dot is its share.",
            places.len(),
            names[0],
            names[1]
        ),
        size: [960.0, 420.0],
        x_label: names[0],
        y_label: names[1],
    };
    let spans = [0, 1].map(|k| Range::of(all().map(|point| point[k])));
    let mut chart = Chart::new(&frame, spans[0], spans[1]);
    chart.line("line-neutral", neutral.iter().copied());
    chart.line("line-adversary", worst.iter().copied());
    let largest = marks.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let dots = marks
        .iter()
        .map(|(point, share)| (*point, LARGEST_DOT * (share / largest).sqrt()));
    chart.dots("dot-loss", dots);
    let keys = key("line-neutral", "neutral")
        + &key("line-adversary", "worst")
        + &key("dot-loss", "place to log, by share");
    let caption = format!(
        "{keys}<br>Trajectory {} in the plane of the two states in which neutral and worst \
         trajectories differ most, and the places to log.",
        paths.shown.trajectory
    );
    picture(&chart.finish(), &caption)
}
