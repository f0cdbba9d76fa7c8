//! The names in the plane, at fixed places, with leaders to the data.

use super::close_up::CloseUp;
use super::notes::Notes;
use super::scene::Scene;
use crate::present::figure::callout::Callout;
use crate::present::figure::geometry::{Point, between, distance, nearest_on_path};
use crate::present::figure::style::{ADVERSARY, DANGER_TEXT, INK, NEUTRAL_TEXT, QUIET};
use crate::present::figure::view::View;

/// Points of each segment that are looked at to find free places.
const SAMPLES: i32 = 300;

/// A path and what is said of it.
#[derive(Debug, Clone, Copy)]
struct Named<'a> {
    name: &'static str,
    note: &'static str,
    color: &'static str,
    path: &'a [Point],
}

/// The labels of the whole plane; each path answers the question in the title.
pub(super) fn overview_callouts(scene: &Scene, view: &View) -> [Callout; 5] {
    let notes = Notes::new(scene);
    let seen = |p: Option<Point>| p.filter(|p| view.contains(*p)).map(|p| view.map(p));
    let logged = scene.logged.iter().map(|t| t[1]);
    let sets = scene.sets.iter().map(|s| s[0]);
    let at = |x, y| view.map([x, y]);
    let truth = Named {
        name: "truth",
        note: notes.truth,
        color: INK,
        path: &scene.truth,
    };
    let neutral = Named {
        name: "neutral estimate",
        note: notes.neutral,
        color: NEUTRAL_TEXT,
        path: &scene.neutral,
    };
    // A mean that never gets past the waypoint is named first, so that no leaders cross.
    let stays = nearest_on_path(neutral.path, [0.75, 0.75]).is_some_and(|p| p[0] < 0.3);
    let [upper, lower] = if stays {
        [neutral, truth]
    } else {
        [truth, neutral]
    };
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
            name: upper.name,
            note: upper.note,
            color: upper.color,
            from: at(1.4, 1.7),
            to: seen(nearest_on_path(upper.path, [0.3, 0.95])),
        },
        Callout {
            at: at(2.28, 1.3),
            anchor: "end",
            name: lower.name,
            note: lower.note,
            color: lower.color,
            from: at(1.24, 1.27),
            to: seen(nearest_on_path(lower.path, [0.75, 0.75])),
        },
        Callout {
            at: at(-2.28, -0.38),
            anchor: "start",
            name: "adversarial path",
            note: notes.adversary,
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

/// Names the place where the adversarial path enters the disc, inside the disc.
pub(super) fn entry_callout(entry: Point, view: &View) -> Callout {
    let at = view.map([0.35 * entry[0], (0.35 * entry[1]).max(0.12)]);
    let from = [at[0], at[1] - 20.0];
    Callout {
        at,
        anchor: "middle",
        name: "enters the danger zone",
        note: "",
        color: DANGER_TEXT,
        from,
        to: Some(beside(view.map(entry), from, 9.0)),
    }
}

/// The labels of the close-up: the set and its centre at the top, the pick and the entry at
/// the bottom, each on the side where fewer lines run.
pub(super) fn close_up_callouts(scene: &Scene, close_up: &CloseUp) -> Vec<Callout> {
    let view = &close_up.view;
    let [left, top] = view.corner;
    let [right, bottom] = [left + view.size()[0], top + view.size()[1]];
    let entry = scene.entry.filter(|p| view.contains(*p));
    let mut callouts = Vec::new();

    let side = Side::free(scene, view, [top, top + 160.0]);
    let step = close_up.step.and_then(|step| {
        let set = scene.sets.get(step)?;
        Some((set, scene.adversary.get(step + 1)?))
    });
    if let Some(([mean, half], _)) = step {
        let [[first, edge], [last, _]] =
            [-1.0, 1.0].map(|sign| view.map([mean[0] + sign * half[0], mean[1] + half[1]]));
        let from = side.inside(left, right, 196.0);
        callouts.push(Callout {
            at: [side.x(left, right), top + 34.0],
            anchor: side.anchor(),
            name: "confidence set",
            note: "all that the model holds possible",
            color: ADVERSARY,
            from: [from, top + 68.0],
            to: Some([from.max(first).min(last), edge]),
        });
        callouts.push(Callout {
            at: [side.x(left, right), top + 106.0],
            anchor: side.anchor(),
            name: "the model’s mean",
            note: "",
            color: ADVERSARY,
            from: [side.inside(left, right, 100.0), top + 116.0],
            to: Some(view.map(*mean)),
        });
    }
    let height = if entry.is_some() { 138.0 } else { 72.0 };
    let side = Side::free(scene, view, [bottom - height, bottom]);
    let mut y = bottom - 20.0;
    if let Some(entry) = entry {
        let from = [side.inside(left, right, 110.0), y - 43.0];
        callouts.push(Callout {
            at: [side.x(left, right), y - 23.0],
            anchor: side.anchor(),
            name: "enters the danger zone",
            note: "within the model’s uncertainty",
            color: DANGER_TEXT,
            from,
            to: Some(beside(view.map(entry), from, 13.0)),
        });
        y -= 66.0;
    }
    if let Some(([mean, half], picked)) = step {
        let outside = (0..2).any(|i| (picked[i] - mean[i]).abs() > half[i]);
        callouts.push(Callout {
            at: [side.x(left, right), y - 23.0],
            anchor: side.anchor(),
            name: "the adversary’s pick",
            note: if outside {
                "plus the model’s noise"
            } else {
                ""
            },
            color: ADVERSARY,
            from: [side.inside(left, right, 90.0), y - 43.0],
            to: Some(view.map(*picked)),
        });
    }
    callouts
}

/// A side of the close-up.
#[derive(Debug, Clone, Copy)]
enum Side {
    Left,
    Right,
}

impl Side {
    /// The side on which fewer lines run between two heights of the picture.
    fn free(scene: &Scene, view: &View, heights: [f64; 2]) -> Self {
        let middle = view.corner[0] + 0.5 * view.size()[0];
        let paths = [&scene.truth, &scene.neutral, &scene.adversary];
        let points = paths.into_iter().flat_map(|path| sampled(path));
        let [mut left, mut right] = [0_usize; 2];
        for p in points.filter(|p| view.contains(*p)) {
            let [x, y] = view.map(p);
            if (heights[0]..heights[1]).contains(&y) {
                *(if x < middle { &mut left } else { &mut right }) += 1;
            }
        }
        if left <= right {
            Self::Left
        } else {
            Self::Right
        }
    }

    fn anchor(self) -> &'static str {
        match self {
            Self::Left => "start",
            Self::Right => "end",
        }
    }

    /// Where the letters stand.
    fn x(self, left: f64, right: f64) -> f64 {
        self.inside(left, right, 18.0)
    }

    /// A place `far` away from this side's edge.
    fn inside(self, left: f64, right: f64, far: f64) -> f64 {
        match self {
            Self::Left => left + far,
            Self::Right => right - far,
        }
    }
}

/// Many points of a path.
fn sampled(path: &[Point]) -> impl Iterator<Item = Point> {
    let share = |k: i32| f64::from(k) / f64::from(SAMPLES);
    let segments = path.windows(2);
    segments.flat_map(move |w| (0..SAMPLES).map(move |k| between(w[0], w[1], share(k))))
}

/// A leader's end that keeps `gap` away from the middle of a marker.
fn beside(marker: Point, from: Point, gap: f64) -> Point {
    between(marker, from, gap / distance(marker, from).max(gap + 1e-9))
}

fn nearest_point(points: impl Iterator<Item = Point>, target: Point) -> Option<Point> {
    points.min_by(|a, b| distance(*a, target).total_cmp(&distance(*b, target)))
}
