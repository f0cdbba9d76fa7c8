//! The plane with everything in it, drawn as an overview and as a close-up.

use std::fmt::Write;

use super::PointSafetyFigure;
use super::backdrop::{clipped, close_up_mark, disc, grid, ruler, wedge};
use super::close_up::CloseUp;
use super::labels::{close_up_callouts, entry_callout, overview_callouts};
use crate::present::figure::callout::halo;
use crate::present::figure::geometry::{Point, distance, first_entry, path, point};
use crate::present::figure::style::{
    ADVERSARY, DANGER, DANGER_TEXT, FRAME, INK, LOGGED, NEUTRAL, PANEL, QUIET, SETS, dot, label,
    line,
};
use crate::present::figure::svg::{Element, number};
use crate::present::figure::view::View;

const START: Point = [-2.0, 0.0];
const GOAL: Point = [2.0, 0.0];
/// At most this many logged transitions are drawn.
const MAX_LOGGED: usize = 1500;
/// Logged transitions per group; groups overlap, so that dense data look denser.
const GROUP: usize = 100;
/// Sets with shorter sides than this hide under the dots, in picture units.
const SMALL: f64 = 6.0;

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
        if let Some(entry) = self.entry.filter(|p| !close_up.contains(*p)) {
            group.push(entry_callout(entry, view).draw());
        }
        group
    }

    /// One step and what lies around it.
    pub(super) fn draw_close_up(&self, close_up: &CloseUp) -> Element {
        let view = &close_up.view;
        let mut inside = clipped(view, "close-up");
        inside.push(disc(view, 16.0));
        inside.push(self.logged(view, "close-up", 1.8));
        inside.push(self.paths(view, "close-up", 1.5));
        inside.push(self.means(view));
        inside.push(self.entry_ring(view, 11.0));
        if let Some(step) = close_up.step {
            inside.push(self.step(view, step));
        }
        let mut group = Element::new("g")
            .with(view.frame().set("fill", PANEL))
            .with(inside)
            .with(
                view.frame()
                    .set("fill", "none")
                    .set("stroke", QUIET)
                    .set("stroke-width", 1.5),
            )
            .with(ruler(view));
        for callout in close_up_callouts(self, close_up) {
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

    /// The model's mean of every step.
    fn means(&self, view: &View) -> Element {
        let mut group = Element::new("g").set("opacity", 0.45);
        for [mean, _] in &self.sets {
            let mean = dot(view.map(*mean), 3.0, PANEL).set("stroke", ADVERSARY);
            group.push(mean.set("stroke-width", 1.4));
        }
        group
    }

    /// One step: its set, its mean and the state that the adversary picked.
    fn step(&self, view: &View, step: usize) -> Element {
        let mut group = Element::new("g").set("id", "close-up-step");
        let ends = self.adversary.get(step).zip(self.adversary.get(step + 1));
        if let Some(([center, half_width], (from, picked))) = self.sets.get(step).zip(ends) {
            let set = view.rect(*center, *half_width).set("fill", SETS);
            let set = set.set("fill-opacity", 0.3).set("stroke", ADVERSARY);
            group.push(set.set("stroke-width", 3.0));
            let [from, mean, picked] = [from, center, picked].map(|p| view.map(*p));
            group.push(line([from, picked], ADVERSARY, 4.2));
            group.push(line([mean, picked], PANEL, 6.0).set("stroke-opacity", 0.7));
            group.push(line([mean, picked], ADVERSARY, 2.6).set("stroke-dasharray", "1 6"));
            let mean = dot(mean, 7.0, PANEL).set("stroke", ADVERSARY);
            group.push(mean.set("stroke-width", 3.0));
            let picked = dot(picked, 8.5, ADVERSARY).set("stroke", PANEL);
            group.push(picked.set("stroke-width", 2.0));
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

    /// Sets and paths. Where paths coincide, the lower ones look out beside the upper ones.
    fn paths(&self, view: &View, name: &str, size: f64) -> Element {
        let map =
            |points: &[Point]| -> Vec<Point> { points.iter().map(|p| view.map(*p)).collect() };
        let mut sets = Element::new("g")
            .set("id", format!("{name}-confidence-sets"))
            .set("fill", SETS)
            .set("fill-opacity", 0.16 / size.powi(3))
            .set("stroke", ADVERSARY)
            .set("stroke-opacity", 0.6)
            .set("stroke-width", 1.1);
        for [center, half_width] in &self.sets {
            sets.push(view.rect(*center, *half_width));
        }
        let adversary = map(&self.adversary);
        let mut group = Element::new("g");
        let truth = line(map(&self.truth), INK, 4.8 * size);
        group.push(truth.set("id", format!("{name}-true-path")));
        let dashes = format!("{} {}", number(6.0 * size), number(8.0 * size));
        let neutral = line(map(&self.neutral), NEUTRAL, 3.0 * size).set("stroke-dasharray", dashes);
        group.push(neutral.set("id", format!("{name}-neutral-path")));
        group.push(sets);
        group.push(
            line(adversary.iter().copied(), ADVERSARY, 2.0 * size)
                .set("id", format!("{name}-adversarial-path")),
        );
        for p in apart(&adversary, 2.0) {
            let dot = dot(p, 3.8 * size, ADVERSARY).set("stroke", PANEL);
            group.push(dot.set("stroke-width", 1.1));
        }
        group.push(self.small_sets(view, name));
        group
    }

    /// The sets that a dot would hide, once more on top of the dots.
    fn small_sets(&self, view: &View, name: &str) -> Element {
        let mut group = Element::new("g")
            .set("id", format!("{name}-small-sets"))
            .set("fill", SETS)
            .set("stroke", PANEL)
            .set("stroke-width", 1.0);
        for [center, half_width] in &self.sets {
            if half_width.iter().all(|h| 2.0 * h * view.scale < SMALL) {
                group.push(view.rect(*center, *half_width));
            }
        }
        group
    }
}

/// The points without those that lie within `gap` of the point kept before them.
fn apart(points: &[Point], gap: f64) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for p in points {
        if kept.last().is_none_or(|last| distance(*last, *p) >= gap) {
            kept.push(*p);
        }
    }
    kept
}
