//! Where the adversary takes the return away: at which step, and where in state space.

use super::Section;
use super::trajectories::plane;
use crate::report::chart::{Chart, Frame, Range};
use crate::report::html::{Cell, escape, figure, key, picture, readable, table, text};
use hambo_check::loss::Loss;
use hambo_check::number::Number;
use hambo_check::paths::Paths;
use hambo_check::saved_run::SavedRun;

/// The largest dot of the map.
const LARGEST_DOT: f64 = 9.0;
/// The most dots along a path.
const MOST_DOTS: usize = 80;

/// The section; none without trajectories.
pub fn section(run: &SavedRun) -> Option<Section> {
    let (loss, paths) = (run.result.loss.as_ref()?, run.paths.as_ref()?);
    let mut body = String::new();
    let variant = escape(&loss.variant);
    match (loss.half_by_step, loss.worst_step) {
        (Some(half), Some(worst)) => body.push_str(&format!(
            "<p>On average over {} trajectories <code>{variant}</code> takes <strong>{}</strong> \
             from the neutral return. Half of that is lost by step <strong>{half}</strong>; the \
             costliest single step is <strong>{worst}</strong> ({}).</p>\n",
            loss.trajectories,
            readable(loss.total.0),
            readable(loss.by_step.get(worst).map_or(f64::NAN, |x| x.0))
        )),
        _ => body.push_str(&format!(
            "<p><code>{variant}</code> takes nothing from the neutral return on average.</p>\n"
        )),
    }
    body.push_str(&steps(loss));
    body.push_str(&map(loss, paths));
    if !loss.places.is_empty() {
        body.push_str(&costly_steps(loss, paths));
    }
    Some(Section {
        id: "won",
        title: "Where the adversary won",
        body,
    })
}

/// Loss by step, and its sum.
fn steps(loss: &Loss) -> String {
    let mut sum = 0.0;
    let sums: Vec<f64> = loss
        .by_step
        .iter()
        .map(|loss| {
            sum += loss.0;
            sum
        })
        .collect();
    let across = Range::exact(0.0, loss.by_step.len().saturating_sub(1) as f64);
    let describe = |what: &str| {
        format!(
            "{what} over {} steps, {} in all.",
            loss.by_step.len(),
            readable(sum)
        )
    };
    let frame = Frame {
        id: "loss",
        title: "Loss of each step",
        description: &describe("Mean loss of return of each step against mean propagation"),
        size: [480.0, 240.0],
        x_label: "step",
        y_label: "loss",
    };
    let losses = || loss.by_step.iter().map(|x| x.0);
    let mut each = Chart::new(&frame, across, Range::of(losses().chain([0.0])));
    let points = losses().enumerate().map(|(t, loss)| [t as f64, 0.0, loss]);
    each.band(
        "band-adversary",
        points.map(|[t, a, b]| [t, a.min(b), a.max(b)]),
    );
    let points = losses().enumerate().map(|(t, loss)| [t as f64, loss]);
    each.line("line-adversary", points);
    let frame = Frame {
        id: "loss-sum",
        title: "Loss added up",
        description: &describe("The same, added up"),
        y_label: "loss so far",
        ..frame
    };
    let whole = Range::of(sums.iter().copied().chain([0.0]));
    let mut added = Chart::new(&frame, across, whole);
    added.line(
        "line-total",
        sums.iter().enumerate().map(|(t, x)| [t as f64, *x]),
    );
    if let Some(half) = loss.half_by_step {
        added.plumb("line-limit", half as f64);
    }
    format!(
        "<div class=\"several\">\n\
         <figure><figcaption>Loss of each step against the neutral trajectory, mean over \
         trajectories</figcaption>{}</figure>\n\
         <figure><figcaption>Added up; dotted: half of the loss is there</figcaption>{}</figure>\n\
         </div>\n",
        each.finish(),
        added.finish()
    )
}

/// The plane of the two states that differ most; none with one state.
fn map(loss: &Loss, paths: &Paths) -> String {
    let Some([i, j]) = plane(paths) else {
        return String::new();
    };
    let shown = &paths.shown;
    let path = |rows: &[Vec<Number>]| -> Vec<[f64; 2]> {
        let (Some(x), Some(y)) = (rows.get(i), rows.get(j)) else {
            return Vec::new();
        };
        x.iter().zip(y).map(|(x, y)| [x.0, y.0]).collect()
    };
    let (neutral, worst) = (path(&shown.neutral), path(&shown.worst));
    let at = |state: &[Number]| [i, j].map(|k| state.get(k).map_or(f64::NAN, |x| x.0));
    let marks: Vec<[f64; 2]> = loss
        .places
        .iter()
        .filter(|place| place.trajectory != shown.trajectory)
        .map(|place| at(&place.state))
        .collect();
    let all = || neutral.iter().chain(&worst).chain(&marks);
    let names = [i, j].map(|k| paths.states.get(k).map_or("", String::as_str));
    let frame = Frame {
        id: "map",
        title: &format!("{} against {}", names[1], names[0]),
        description: &format!(
            "The neutral and the worst path of trajectory {} in the plane of {} and {}; dots \
             grow with the loss of their step.",
            shown.trajectory, names[0], names[1]
        ),
        size: [960.0, 420.0],
        x_label: names[0],
        y_label: names[1],
    };
    let spans = [0, 1].map(|k| Range::of(all().map(|point| point[k])));
    let mut chart = Chart::new(&frame, spans[0], spans[1]);
    let largest = shown.loss.iter().map(|x| x.0).fold(0.0, f64::max);
    let dots = worst
        .iter()
        .zip(&shown.loss)
        .filter(|(_, loss)| loss.0 > 0.02 * largest);
    let every = worst.len().div_ceil(MOST_DOTS).max(1);
    let dots = dots.step_by(every);
    // The area says how much.
    let dots = dots.map(|(point, loss)| (*point, LARGEST_DOT * (loss.0 / largest).sqrt()));
    chart.dots("dot-loss", dots);
    chart.line("line-neutral", neutral.iter().copied());
    chart.line("line-adversary", worst.iter().copied());
    chart.dots("dot-lower", marks.iter().map(|point| (*point, 4.0)));
    let keys = key("line-neutral", "neutral")
        + &key("line-adversary", &loss.variant)
        + &key("dot-loss", "loss of the step, by area")
        + &key("dot-lower", "worst step of another trajectory");
    let caption = format!(
        "{keys}<br>Trajectory {} in the plane of the two states in which neutral and worst \
         trajectories differ most.",
        shown.trajectory
    );
    picture(&chart.finish(), &caption)
}

/// The costliest step of each trajectory.
fn costly_steps(loss: &Loss, paths: &Paths) -> String {
    let list = |names: &[String], values: &[Number]| {
        let pairs = names.iter().zip(values);
        let pairs = pairs.map(|(name, value)| format!("{name} = {}", readable(value.0)));
        pairs.collect::<Vec<_>>().join(", ")
    };
    let rows: Vec<Vec<Cell>> = loss
        .places
        .iter()
        .map(|place| {
            vec![
                Cell::Number(place.trajectory.to_string()),
                figure(place.total.0),
                Cell::Number(place.step.to_string()),
                figure(place.loss.0),
                text(list(&paths.states, &place.state)),
                text(list(&paths.actions, &place.action)),
                text(list(&paths.states, &place.neutral)),
            ]
        })
        .collect();
    let heads = [
        "trajectory",
        "lost in all",
        "worst step",
        "lost there",
        "state there",
        "action there",
        "neutral state",
    ];
    let caption = "The trajectories that lost most, each at its costliest step";
    table(caption, &heads, &rows)
}
