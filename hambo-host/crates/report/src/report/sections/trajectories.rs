//! Where the trajectories go: one chart for each state.

use super::Section;
use crate::report::chart::{Chart, Frame, Range};
use crate::report::html::{count, escape, key};
use hambo_check::number::Number;
use hambo_check::paths::Paths;
use hambo_check::saved_run::SavedRun;

/// The most states that get a chart.
const MOST_CHARTS: usize = 24;

/// The section; none without trajectories.
pub fn section(run: &SavedRun) -> Option<Section> {
    let (loss, paths) = (run.result.loss.as_ref()?, run.paths.as_ref()?);
    let name = &loss.variant;
    let order = by_difference(paths);
    let charts: String = order.iter().map(|j| chart(paths, name, *j)).collect();
    let variant = escape(name);
    let keys = key("line-neutral", "neutral mean")
        + &key("band-set", "the model’s set")
        + &key("band-neutral", "neutral, 5–95 %")
        + &key("line-adversary", &format!("{name} mean"))
        + &key("band-adversary", &format!("{name}, 5–95 %"))
        + &key(
            "line-one-neutral",
            &format!("trajectory {}, neutral", paths.shown.trajectory),
        )
        + &key("line-one", &format!("the same under {name}"))
        + &key("line-limit", "log’s range, or two standard deviations");
    let left = paths.states.len() - order.len();
    let more = if left > 0 {
        format!(
            " Shown are the {} states in which the two differ most; the other {left} are in the \
             run file.",
            order.len()
        )
    } else {
        String::new()
    };
    let body = format!(
        "<p>Two kinds of tube are drawn. The <strong>wide bands</strong> are the spread over \
         {} trajectories, from the 5 % to the 95 % quantile at each step: of mean propagation, \
         which plays out no noise, and of <code>{variant}</code>, with the worst choices found \
         for each. The <strong>narrow band</strong> is the model’s confidence set \
         β·τ·σ<sub>e</sub> around each single step of the neutral path of trajectory {}, the one \
         that loses most (both of its paths are dashed): from inside it the adversary picks the next state, again and again, so \
         its path may leave it.{more}</p>\n<p class=\"keys\">{keys}</p>\n\
         <div class=\"several\">\n{charts}</div>\n",
        count(loss.trajectories as u64),
        paths.shown.trajectory
    );
    Some(Section {
        id: "trajectories",
        title: "Trajectories and their tubes",
        body,
    })
}

/// The states to draw; if there are too many, those in which neutral and
/// worst differ most, measured by the box around the log.
fn by_difference(paths: &Paths) -> Vec<usize> {
    let mut order: Vec<usize> = (0..paths.states.len()).collect();
    if order.len() > MOST_CHARTS {
        order.sort_by(|a, b| difference(paths, *b).total_cmp(&difference(paths, *a)));
        order.truncate(MOST_CHARTS);
        order.sort_unstable();
    }
    order
}

/// The two states in which neutral and worst trajectories differ most, in their order; none
/// with one state.
pub(super) fn plane(paths: &Paths) -> Option<[usize; 2]> {
    let mut order: Vec<usize> = (0..paths.states.len()).collect();
    order.sort_by(|a, b| difference(paths, *b).total_cmp(&difference(paths, *a)));
    order.truncate(2);
    order.sort_unstable();
    order.try_into().ok()
}

/// The largest distance of the two means, in four standard deviations of the log.
pub(super) fn difference(paths: &Paths, state: usize) -> f64 {
    let (Some(neutral), Some(worst)) = (paths.neutral.get(state), paths.worst.get(state)) else {
        return 0.0;
    };
    let pairs = neutral.mean.iter().zip(&worst.mean);
    let far = pairs.map(|(a, b)| (a.0 - b.0).abs()).fold(0.0, f64::max);
    let sides = paths.low.get(state).zip(paths.high.get(state));
    let width = sides.map_or(f64::NAN, |(low, high)| high.0 - low.0);
    far / if width.is_nan() {
        1.0
    } else {
        width.max(1e-12)
    }
}

fn chart(paths: &Paths, variant: &str, j: usize) -> String {
    let (Some(name), Some(neutral), Some(worst)) = (
        paths.states.get(j),
        paths.neutral.get(j),
        paths.worst.get(j),
    ) else {
        return String::new();
    };
    let column = |rows: &'_ [Vec<Number>]| rows.get(j).cloned().unwrap_or_default();
    let shown = &paths.shown;
    let (one, low, high) = (
        column(&shown.worst),
        column(&shown.set_low),
        column(&shown.set_high),
    );
    let steps = worst.mean.len().max(neutral.mean.len()).saturating_sub(1);
    let all = [&neutral.low, &neutral.high, &worst.low, &worst.high, &one];
    let range = Range::of(all.into_iter().flatten().map(|x| x.0));
    let description = format!(
        "The state {name} over {steps} steps: mean propagation with its spread and the model’s \
         set, {} with its spread, and the trajectory that loses most.",
        variant
    );
    let frame = Frame {
        id: &format!("state-{j}"),
        title: &format!("Trajectories of {name}"),
        description: &description,
        size: [480.0, 240.0],
        x_label: "step",
        y_label: name,
    };
    let mut chart = Chart::new(&frame, Range::exact(0.0, steps as f64), range);
    let band = |low: &[Number], high: &[Number], first: usize| -> Vec<[f64; 3]> {
        let pairs = low.iter().zip(high).enumerate();
        pairs
            .map(|(t, (low, high))| [(t + first) as f64, low.0, high.0])
            .collect()
    };
    chart.band("band-neutral", band(&neutral.low, &neutral.high, 0));
    chart.band("band-adversary", band(&worst.low, &worst.high, 0));
    chart.band("band-set", band(&low, &high, 1));
    for sides in [
        (&paths.logged_low, &paths.logged_high),
        (&paths.low, &paths.high),
    ] {
        // The log's own range where it is known, else two standard deviations
        // around its mean.
        let ends = sides.0.get(j).zip(sides.1.get(j));
        let ends = ends.filter(|_| paths.is_logged(j));
        if let Some((low, high)) = ends {
            for level in [low.0, high.0] {
                if range.holds(level) {
                    chart.level("line-limit", level);
                }
            }
            break;
        }
    }
    let line = |values: &[Number]| -> Vec<[f64; 2]> {
        let points = values.iter().enumerate();
        points.map(|(t, x)| [t as f64, x.0]).collect()
    };
    chart.line("line-one-neutral", line(&column(&shown.neutral)));
    chart.line("line-one", line(&one));
    chart.line("line-neutral", line(&neutral.mean));
    chart.line("line-adversary", line(&worst.mean));
    format!(
        "<figure><figcaption>{}</figcaption>{}</figure>\n",
        escape(name),
        chart.finish()
    )
}
