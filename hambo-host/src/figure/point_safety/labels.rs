//! The names in the plane, at fixed places, with leaders to the data.

use super::scene::Scene;
use crate::figure::callout::Callout;
use crate::figure::geometry::{Point, between, distance, first_entry, nearest_on_path};
use crate::figure::style::{ADVERSARY, DANGER_TEXT, INK, NEUTRAL_TEXT, QUIET};
use crate::figure::view::View;

/// The labels of the whole plane; each path answers the question in the title.
pub(super) fn overview_callouts(scene: &Scene, view: &View) -> [Callout; 5] {
    let hits = |path: &[Point], yes, no| if first_entry(path).is_some() { yes } else { no };
    let seen = |p: Option<Point>| p.filter(|p| view.contains(*p)).map(|p| view.map(p));
    let logged = scene.logged.iter().map(|t| t[1]);
    let sets = scene.sets.iter().map(|s| s[0]);
    let at = |x, y| view.map([x, y]);
    [
        Callout {
            at: at(-2.28, 1.78),
            anchor: "start",
            name: "logged data",
            note: "from a safe controller",
            color: QUIET,
            from: at(-1.5, 1.57),
            to: seen(nearest_point(logged, [-0.9, 1.05])),
        },
        Callout {
            at: at(2.28, 1.78),
            anchor: "end",
            name: "truth",
            note: hits(&scene.truth, "yes, it does", "no, it stays clear"),
            color: INK,
            from: at(1.4, 1.7),
            to: seen(nearest_on_path(&scene.truth, [0.3, 0.95])),
        },
        Callout {
            at: at(2.28, 1.3),
            anchor: "end",
            name: "neutral estimate",
            note: hits(&scene.neutral, "model’s mean: yes", "model’s mean: no"),
            color: NEUTRAL_TEXT,
            from: at(1.24, 1.27),
            to: seen(nearest_on_path(&scene.neutral, [0.75, 0.75])),
        },
        Callout {
            at: at(-2.28, -0.38),
            anchor: "start",
            name: "adversarial path",
            note: hits(
                &scene.adversary,
                "HAMBO-CA: it could",
                "HAMBO-CA: finds no way",
            ),
            color: ADVERSARY,
            from: at(-1.27, -0.26),
            to: seen(nearest_on_path(&scene.adversary, [-1.25, 0.3])),
        },
        Callout {
            at: at(2.28, -0.38),
            anchor: "end",
            name: "confidence sets",
            note: "one for every step",
            color: ADVERSARY,
            from: at(1.26, -0.3),
            to: seen(nearest_point(sets, [0.95, 0.5])),
        },
    ]
}

/// The labels of the close-up.
pub(super) fn close_up_callouts(scene: &Scene, view: &View) -> Vec<Callout> {
    let [left, top] = view.corner;
    let [right, bottom] = [left + view.size()[0], top + view.size()[1]];
    let mut callouts = Vec::new();
    let steps = scene.sets.iter().zip(scene.adversary.iter().skip(1));
    let in_sight =
        steps.filter(|([mean, _], picked)| view.contains(*mean) && view.contains(**picked));
    let area = |half: Point| half[0] * half[1];
    if let Some(([mean, half], picked)) =
        in_sight.max_by(|a, b| area(a.0[1]).total_cmp(&area(b.0[1])))
    {
        callouts.push(Callout {
            at: [left + 18.0, top + 34.0],
            anchor: "start",
            name: "confidence set",
            note: "all that the model holds possible",
            color: ADVERSARY,
            from: [left + 70.0, top + 68.0],
            to: Some(view.map([mean[0] - half[0], mean[1] + half[1]])),
        });
        callouts.push(Callout {
            at: [right - 18.0, bottom - 120.0],
            anchor: "end",
            name: "the adversary’s pick",
            note: "",
            color: ADVERSARY,
            from: [right - 110.0, bottom - 142.0],
            to: Some(view.map(*picked)),
        });
    }
    if let Some(entry) = scene.entry.filter(|p| view.contains(*p)) {
        let from = [right - 250.0, bottom - 74.0];
        let entry = view.map(entry);
        callouts.push(Callout {
            at: [right - 18.0, bottom - 54.0],
            anchor: "end",
            name: "enters the danger zone",
            note: "within the model’s uncertainty",
            color: DANGER_TEXT,
            from,
            to: Some(between(entry, from, 13.0 / distance(entry, from).max(13.0))),
        });
    }
    callouts
}

fn nearest_point(points: impl Iterator<Item = Point>, target: Point) -> Option<Point> {
    points.min_by(|a, b| distance(*a, target).total_cmp(&distance(*b, target)))
}
