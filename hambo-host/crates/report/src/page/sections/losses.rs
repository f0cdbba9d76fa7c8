//! Where the adversary takes the return away: at which step, and where in state space.

use hambo_check::loss::Loss;
use hambo_check::paths::Paths;
use hambo_check::saved_run::SavedRun;
use maud::{Markup, html};

use super::plane::{Plane, named_values};
use crate::page::chart::{Chart, Frame};
use crate::page::pieces::{figure, keys, number, small, table, text, wide};
use crate::range::Range;
use crate::words::readable;

/// The largest dot of the map.
const LARGEST_DOT: f64 = 9.0;
/// The most dots along a path.
const MOST_DOTS: usize = 80;

/// `None` without trajectories.
pub fn body(run: &SavedRun) -> Option<Markup> {
    let (loss, paths) = (run.result.evidence.loss.as_ref()?, run.paths.as_ref()?);
    Some(html! {
        @if let (Some(half), Some(worst)) = (loss.half_by_step, loss.worst_step) {
            @let at_worst = loss.by_step.get(worst).map_or(f64::NAN, |x| x.0);
            p {
                "On average over " (loss.trajectories) " trajectories " code { (loss.variant) }
                " takes " strong { (readable(loss.total.0)) } " from the neutral return. Half of \
                 that is lost by step " strong { (half) } "; the costliest single step is "
                strong { (worst) } " (" (readable(at_worst)) ")."
            }
        } @else {
            p { code { (loss.variant) } " takes nothing from the neutral return on average." }
        }
        (steps(loss))
        @if let Some(plane) = Plane::of(paths) { (map(loss, paths, &plane)) }
        @if !loss.places.is_empty() { (costly_steps(loss, paths)) }
    })
}

/// Loss by step, and its sum.
fn steps(loss: &Loss) -> Markup {
    let steps = loss.by_step.len();
    let losses = || loss.by_step.iter().map(|x| x.0).enumerate();
    let mut sum = 0.0;
    let sums = losses().map(|(_, loss)| {
        sum += loss;
        sum
    });
    let sums: Vec<f64> = sums.collect();
    let describe = |what: &str| format!("{what} over {steps} steps, {} in all.", readable(sum));
    let frame = Frame {
        id: "loss",
        title: "Loss of each step",
        description: &describe("Mean loss of return of each step against mean propagation"),
        size: [480.0, 240.0],
        x_label: "step",
        y_label: "loss",
    };
    let range = Range::of(losses().map(|(_, loss)| loss).chain([0.0]));
    let mut each = Chart::over_steps(&frame, steps, range);
    let band = losses().map(|(t, loss)| [t as f64, loss.min(0.0), loss.max(0.0)]);
    each.band("band-adversary", band);
    each.line_over_steps("line-adversary", &loss.by_step);
    let frame = Frame {
        id: "loss-sum",
        title: "Loss added up",
        description: &describe("The same, added up"),
        y_label: "loss so far",
        ..frame
    };
    let whole = Range::of(sums.iter().copied().chain([0.0]));
    let mut added = Chart::over_steps(&frame, steps, whole);
    let line = sums.iter().enumerate().map(|(t, x)| [t as f64, *x]);
    added.line("line-total", line);
    if let Some(half) = loss.half_by_step {
        added.plumb("line-limit", half as f64);
    }
    let name = "Loss of each step against the neutral trajectory, mean over trajectories";
    html! {
        div class="several" {
            (small(name, each.finish()))
            (small("Added up; dotted: half of the loss is there", added.finish()))
        }
    }
}

fn map(loss: &Loss, paths: &Paths, plane: &Plane<'_>) -> Markup {
    let shown = &paths.shown;
    let [x_label, y_label] = plane.names;
    let frame = Frame {
        id: "map",
        title: &format!("{y_label} against {x_label}"),
        description: &format!(
            "The neutral and the worst path of trajectory {} in the plane of {x_label} and \
             {y_label}; dots grow with the loss of their step.",
            shown.trajectory
        ),
        size: [960.0, 420.0],
        x_label,
        y_label,
    };
    let others = loss.places.iter();
    let others = others.filter(|place| place.trajectory != shown.trajectory);
    let marks: Vec<[f64; 2]> = others.map(|place| plane.place(&place.state)).collect();
    let [x, y] = plane.spans(&marks);
    let mut chart = Chart::new(&frame, x, y);
    let largest = shown.loss.iter().map(|x| x.0).fold(0.0, f64::max);
    let dots = plane.worst.iter().zip(&shown.loss);
    let dots = dots.filter(|(_, loss)| loss.0 > 0.02 * largest);
    let every = plane.worst.len().div_ceil(MOST_DOTS).max(1);
    // The area says how much.
    let dots = dots.step_by(every);
    let dots = dots.map(|(point, loss)| (*point, LARGEST_DOT * (loss.0 / largest).sqrt()));
    chart.dots("dot-loss", dots);
    chart.line("line-neutral", plane.neutral.iter().copied());
    chart.line("line-adversary", plane.worst.iter().copied());
    chart.dots("dot-lower", marks.iter().map(|point| (*point, 4.0)));
    let keys = keys(&[
        ("line-neutral", "neutral"),
        ("line-adversary", &loss.variant),
        ("dot-loss", "loss of the step, by area"),
        ("dot-lower", "worst step of another trajectory"),
    ]);
    let caption = format!(
        "Trajectory {} in the plane of the two states in which neutral and worst trajectories \
         differ most.",
        shown.trajectory
    );
    wide(frame.id, chart.finish(), &keys, &caption)
}

/// The costliest step of each trajectory.
fn costly_steps(loss: &Loss, paths: &Paths) -> Markup {
    let rows = loss.places.iter().map(|place| {
        vec![
            number(place.trajectory),
            figure(place.total.0),
            number(place.step),
            figure(place.loss.0),
            text(named_values(&paths.states, &place.state)),
            text(named_values(&paths.actions, &place.action)),
            text(named_values(&paths.states, &place.neutral)),
        ]
    });
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
    table(caption, &heads, rows)
}
