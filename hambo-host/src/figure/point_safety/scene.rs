//! The plane with everything in it, drawn as an overview and as a close-up.

use std::fmt::Write;

use super::PointSafetyFigure;
use super::labels::{close_up_callouts, overview_callouts};
use crate::figure::callout::halo;
use crate::figure::geometry::{self, Point, first_entry, nearest_on_path, path, point};
use crate::figure::style::{
    ADVERSARY, DANGER, DANGER_TEXT, FRAME, GRID, INK, LOGGED, NEUTRAL, PANEL, QUIET, SETS, dot,
    label, line,
};
use crate::figure::svg::{Element, line_data, number};
use crate::figure::view::View;

const START: Point = [-2.0, 0.0];
const GOAL: Point = [2.0, 0.0];
/// At most this many logged transitions are drawn.
const MAX_LOGGED: usize = 1500;
/// Logged transitions per group; groups overlap, so that dense data look denser.
const GROUP: usize = 100;

/// The figure's data, ready to draw.
pub(super) struct Scene {
    pub(super) logged: Vec<[Point; 2]>,
    pub(super) truth: Vec<Point>,
    pub(super) neutral: Vec<Point>,
    pub(super) adversary: Vec<Point>,
    pub(super) sets: Vec<[Point; 2]>,
    pub(super) entry: Option<Point>,
}

impl Scene {
    pub(super) fn new(figure: &PointSafetyFigure) -> Self {
        let stride = figure.logged.len().div_ceil(MAX_LOGGED).max(1);
        let adversary = path(&figure.adversarial_path);
        Self {
            logged: figure
                .logged
                .iter()
                .step_by(stride)
                .map(|t| t.map(point))
                .collect(),
            truth: path(&figure.true_path),
            neutral: path(&figure.neutral_path),
            sets: figure
                .confidence_sets
                .iter()
                .map(|set| [point(set.center), point(set.half_width)])
                .collect(),
            entry: first_entry(&adversary),
            adversary,
        }
    }

    /// Where the adversarial path enters the disc, or comes closest to it.
    pub(super) fn focus(&self) -> Point {
        self.entry
            .or_else(|| nearest_on_path(&self.adversary, [0.0, 0.0]))
            .unwrap_or([0.0, 1.0])
    }

    /// The whole plane.
    pub(super) fn draw_overview(&self, view: &View, close_up: &View) -> Element {
        let mut inside = clipped(view, "overview");
        inside.push(disc(view, 9.0));
        inside.push(self.logged(view, "overview", 1.0));
        inside.push(self.paths(view, "overview", 1.0));
        inside.push(self.entry_ring(view, 7.5));
        let mut group = Element::new("g")
            .with(view.frame().set("fill", PANEL))
            .with(grid(view))
            .with(wedge(view, close_up))
            .with(inside)
            .with(view.frame().set("fill", "none").set("stroke", FRAME))
            .with(close_up_mark(view, close_up));
        for (at, name) in [(START, "start"), (GOAL, "goal")] {
            let [x, y] = view.map(at);
            group.push(
                dot([x, y], 8.0, PANEL)
                    .set("stroke", INK)
                    .set("stroke-width", 3.0),
            );
            if name == "goal" {
                group.push(dot([x, y], 3.5, INK));
            }
            let text = label([x, y + 34.0], 19.0, "middle").set("font-weight", "600");
            group.push(halo(text.text(name)));
        }
        let danger = label(view.map([0.0, -0.12]), 24.0, "middle")
            .set("font-weight", "600")
            .set("fill", DANGER_TEXT);
        group.push(danger.text("danger zone"));
        for callout in overview_callouts(self, view) {
            group.push(callout.draw());
        }
        group
    }

    /// The window around the focus.
    pub(super) fn draw_close_up(&self, view: &View) -> Element {
        let mut inside = clipped(view, "close-up");
        inside.push(disc(view, 16.0));
        inside.push(self.logged(view, "close-up", 1.8));
        inside.push(self.paths(view, "close-up", 1.6));
        inside.push(self.pushes(view));
        inside.push(self.entry_ring(view, 11.0));
        let mut group = Element::new("g")
            .with(view.frame().set("fill", PANEL))
            .with(inside)
            .with(
                view.frame()
                    .set("fill", "none")
                    .set("stroke", QUIET)
                    .set("stroke-width", 1.5),
            );
        for callout in close_up_callouts(self, view) {
            group.push(callout.draw());
        }
        group
    }

    fn logged(&self, view: &View, name: &str, size: f64) -> Element {
        let mut group = Element::new("g")
            .set("id", format!("{name}-logged"))
            .set("stroke", LOGGED)
            .set("stroke-linecap", "round");
        for transitions in self.logged.chunks(GROUP) {
            let (mut segments, mut dots) = (String::new(), String::new());
            for [s, next] in transitions {
                let ([x0, y0], [x1, y1]) = (view.map(*s), view.map(*next));
                let [x0, y0, x1, y1] = [x0, y0, x1, y1].map(number);
                // Writing to a String cannot fail.
                let _ = write!(segments, "M{x0} {y0}L{x1} {y1}");
                let _ = write!(dots, "M{x1} {y1}h0.01");
            }
            let path = |data, width, opacity| {
                Element::new("path")
                    .set("d", data)
                    .set("stroke-width", width)
                    .set("stroke-opacity", opacity)
            };
            group.push(path(segments, 0.8 * size, 0.10));
            group.push(path(dots, 3.2 * size, 0.30));
        }
        group
    }

    /// From the model's mean to the state that the adversary picked.
    fn pushes(&self, view: &View) -> Element {
        let mut group = Element::new("g");
        for ([mean, _], picked) in self.sets.iter().zip(self.adversary.iter().skip(1)) {
            let (mean, picked) = (view.map(*mean), view.map(*picked));
            let push = line([mean, picked], ADVERSARY, 2.0);
            group.push(push.set("stroke-dasharray", "1 5"));
            let mean = dot(mean, 4.5, PANEL).set("stroke", ADVERSARY);
            group.push(mean.set("stroke-width", 2.0));
        }
        group
    }

    /// Marks where the adversarial path enters the disc.
    fn entry_ring(&self, view: &View, radius: f64) -> Element {
        let mut group = Element::new("g");
        if let Some(entry) = self.entry {
            let ring = dot(view.map(entry), radius, PANEL).set("fill-opacity", 0.5);
            group.push(
                ring.set("stroke", DANGER)
                    .set("stroke-width", 0.36 * radius),
            );
        }
        group
    }

    fn paths(&self, view: &View, name: &str, size: f64) -> Element {
        let map =
            |points: &[Point]| -> Vec<Point> { points.iter().map(|p| view.map(*p)).collect() };
        let mut sets = Element::new("g")
            .set("id", format!("{name}-confidence-sets"))
            .set("fill", SETS)
            .set("fill-opacity", 0.36)
            .set("stroke", ADVERSARY)
            .set("stroke-opacity", 0.85)
            .set("stroke-width", 1.1 * size);
        for [center, half_width] in &self.sets {
            sets.push(view.rect(*center, *half_width));
        }
        let neutral = map(&self.neutral);
        let truth = map(&self.truth);
        let adversary = map(&self.adversary);
        let mut group = Element::new("g").with(sets);
        group.push(line(truth, INK, 2.6 * size).set("id", format!("{name}-true-path")));
        // Dashed, so that the truth shows through where both agree.
        let dashes = format!("{} {}", number(9.0 * size), number(6.5 * size));
        let neutral = line(neutral, NEUTRAL, 3.2 * size).set("stroke-dasharray", dashes);
        group.push(neutral.set("id", format!("{name}-neutral-path")));
        group.push(line(adversary.iter().copied(), PANEL, 5.0 * size).set("stroke-opacity", 0.7));
        group.push(
            line(adversary.iter().copied(), ADVERSARY, 2.8 * size)
                .set("id", format!("{name}-adversarial-path")),
        );
        for p in adversary {
            group.push(
                dot(p, 4.2 * size, ADVERSARY)
                    .set("stroke", PANEL)
                    .set("stroke-width", 1.2),
            );
        }
        group
    }
}

/// A group that shows only what lies inside the window.
fn clipped(view: &View, id: &'static str) -> Element {
    let clip = Element::new("clipPath").set("id", id).with(view.frame());
    Element::new("g")
        .with(clip)
        .set("clip-path", format!("url(#{id})"))
}

/// The danger zone: soft fill, hatching, firm edge.
fn disc(view: &View, spacing: f64) -> Element {
    let circle = || dot(view.map([0.0, 0.0]), view.scale, DANGER);
    let id = format!("hatch-{spacing:.0}");
    let hatch = Element::new("pattern")
        .set("id", id.clone())
        .set("width", spacing)
        .set("height", spacing)
        .set("patternUnits", "userSpaceOnUse")
        .set("patternTransform", "rotate(45)")
        .with(
            Element::new("path")
                .set("d", format!("M0 0V{}", number(spacing)))
                .set("stroke", DANGER)
                .set("stroke-width", 0.22 * spacing),
        );
    let [x, y] = view.map([0.0, 0.0]);
    let hatched = Element::new("circle")
        .set("cx", x)
        .set("cy", y)
        .set("r", view.scale)
        .set("fill", format!("url(#{id})"))
        .set("fill-opacity", 0.16);
    Element::new("g")
        .with(hatch)
        .with(circle().set("fill-opacity", 0.13))
        .with(hatched)
        .with(
            circle()
                .set("fill-opacity", 0.0)
                .set("stroke", DANGER)
                .set("stroke-width", 2.2),
        )
}

fn grid(view: &View) -> Element {
    let mut group = Element::new("g").set("fill", QUIET);
    let [left, top] = view.corner;
    let [width, height] = view.size();
    for tick in -2..=2 {
        let value = f64::from(tick);
        let text = if tick < 0 {
            format!("−{}", -tick)
        } else {
            tick.to_string()
        };
        let [x, y] = view.map([value, value]);
        group.push(line([[x, top], [x, top + height]], GRID, 1.2));
        group.push(label([x, top + height + 22.0], 16.0, "middle").text(&text));
        if (view.min[1]..view.max[1]).contains(&value) {
            group.push(line([[left, y], [left + width, y]], GRID, 1.2));
            group.push(label([left + 8.0, y - 6.0], 16.0, "start").text(&text));
        }
    }
    group
}

/// A pale wedge from the close-up's window in the overview to the close-up.
fn wedge(view: &View, close_up: &View) -> Element {
    let [x, y] = close_up.corner;
    let bottom = y + close_up.size()[1];
    let corner = |y| view.map([close_up.max[0], y]);
    let points = [
        corner(close_up.max[1]),
        [x, y],
        [x, bottom],
        corner(close_up.min[1]),
    ];
    Element::new("path")
        .set("d", format!("{}Z", line_data(points)))
        .set("fill", QUIET)
        .set("fill-opacity", 0.045)
}

/// The close-up's window in the overview.
fn close_up_mark(view: &View, close_up: &View) -> Element {
    let center = geometry::between(close_up.min, close_up.max, 0.5);
    let half = [0, 1].map(|i| 0.5 * (close_up.max[i] - close_up.min[i]));
    view.rect(center, half)
        .set("rx", 4.0)
        .set("fill", "none")
        .set("stroke", QUIET)
        .set("stroke-width", 1.5)
        .set("stroke-dasharray", "5 4")
}
