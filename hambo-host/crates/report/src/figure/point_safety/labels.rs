//! Names with lines to what they name, and the answers to the title's question.

use maud::{Markup, html};

use super::contents::Point;
use super::scene::{Scene, radius, sampled};
use super::view::OVERVIEW;
use crate::svg::{dot, label, line_data, px};

/// Paths whose depths in the danger zone differ by less look the same.
const VISIBLE: f32 = 0.005;
/// How long the ruler is in the plane.
const RULER: f32 = 0.05;

impl Scene<'_> {
    pub fn overview_labels(&self) -> Markup {
        let figure = self.figure;
        let depth = |path: &[Point]| 1.0 - sampled(path).map(radius).fold(f32::MAX, f32::min);
        let [truth, neutral, adversary] = [
            depth(&figure.true_path),
            depth(&figure.neutral_path),
            depth(&self.adversarial_path),
        ];
        let deeper = adversary > truth.max(neutral).max(0.0) + VISIBLE;
        let truth = if truth >= 0.0 {
            "yes, it does"
        } else {
            "no, it stays clear"
        };
        let neutral = if neutral >= 0.0 {
            "model’s mean: yes"
        } else {
            "model’s mean: no"
        };
        let adversary = if deeper {
            "HAMBO-CA: yes, and deeper"
        } else if adversary >= 0.0 {
            "HAMBO-CA: yes"
        } else {
            "HAMBO-CA: finds no way"
        };
        let logged = figure.logged.iter().map(|[_, next]| *next);
        let means = figure.adversarial_steps.iter().map(|step| step.mean);
        let leaders = [
            ("quiet", [210.0, 199.0], nearest(logged, [-0.9, 1.05])),
            (
                "truth",
                [732.0, 176.0],
                nearest(sampled(&figure.true_path), [0.3, 0.95]),
            ),
            (
                "neutral",
                [703.0, 253.0],
                nearest(sampled(&figure.neutral_path), [0.75, 0.75]),
            ),
            (
                "adversary",
                [251.0, 529.0],
                nearest(sampled(&self.adversarial_path), [-1.25, 0.3]),
            ),
            ("adversary", [707.0, 536.0], nearest(means, [0.95, 0.5])),
        ];
        let leaders = leaders.into_iter();
        let leaders = leaders.filter_map(|(class, from, to)| Some((class, from, to?)));
        html! {
            @for (class, from, to) in leaders.filter(|(_, _, to)| OVERVIEW.sees(*to)) {
                (leader(class, from, OVERVIEW.map(to)))
            }
            g class="over" {
                (label("name", [120.0, 516.0], "middle", "start"))
                (label("name", [840.0, 516.0], "middle", "goal"))
                (named("quiet", [70.0, 162.0], "start", ["logged data", "from a safe controller"]))
                (named("truth", [890.0, 162.0], "end", ["truth", truth]))
                (named("neutral", [890.0, 248.0], "end", ["neutral estimate", neutral]))
                (named("adversary", [70.0, 550.0], "start", ["adversarial path", adversary]))
                (named("adversary", [890.0, 550.0], "end", ["confidence sets", "one for every step"]))
            }
            text class="name danger" x="480" y="504" text-anchor="middle" style="font-size: 24px" {
                "danger zone"
            }
            @if let Some(entry) = self.entry { (entry_label(entry)) }
        }
    }

    pub fn close_up_labels(&self) -> Markup {
        let (view, step) = (&self.close_up, &self.step);
        let top = [step.mean[0], step.mean[1] + step.half_width[1]];
        let end = 942.0 + RULER * view.scale;
        let magnification = format!("the dashed frame, ×{:.1}", view.scale / OVERVIEW.scale);
        html! {
            (leader("adversary", [1060.0, 190.0], view.map(top)))
            (leader("adversary", [1270.0, 168.0], view.map(step.mean)))
            (leader("adversary", [1030.0, 532.0], view.map(step.next_state)))
            (named("adversary", [958.0, 156.0], "start", ["confidence set", "all that is held possible"]))
            (named("adversary", [1334.0, 156.0], "end", ["the model’s mean", ""]))
            (named("adversary", [958.0, 550.0], "start", ["the adversary’s pick", "plus the model’s noise"]))
            path class="quiet" stroke-width="2" d={ "M942 601V611M942 606H" (px(end)) "V601V611" } {}
            (label("small quiet", [f64::from(end) + 10.0, 612.0], "start", "0.05"))
            (label("small quiet", [1352.0, 612.0], "end", &magnification))
        }
    }
}

/// A name and a note below it.
fn named(class: &str, [x, y]: [f64; 2], anchor: &str, [name, note]: [&str; 2]) -> Markup {
    html! {
        (label(&format!("name {class}"), [x, y], anchor, name))
        (label("quiet", [x, y + 23.0], anchor, note))
    }
}

/// Where the path enters the danger zone; the name stands inside.
fn entry_label(entry: Point) -> Markup {
    let [x, y] = OVERVIEW.map([0.35 * entry[0], (0.35 * entry[1]).max(0.12)]);
    let (from, ring) = ([x, y - 20.0], OVERVIEW.map(entry));
    let gap = 9.0 / radius([from[0] - ring[0], from[1] - ring[1]]).max(9.0);
    let beside = [0, 1].map(|i| ring[i] + gap * (from[i] - ring[i]));
    html! {
        (leader("danger", from, beside))
        g class="over" {
            (label("name danger", [x, y].map(f64::from), "middle", "enters the danger zone"))
        }
    }
}

/// A line from a name to what it names.
fn leader(class: &str, from: Point, to: Point) -> Markup {
    let data = line_data([from, to]);
    html! {
        path class="behind" d=(data) {}
        path class={ "leader " (class) } d=(data) {}
        (dot(class, to, 3.5))
    }
}

fn nearest(points: impl Iterator<Item = Point>, aim: Point) -> Option<Point> {
    let distance = |p: &Point| radius([p[0] - aim[0], p[1] - aim[1]]);
    points.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}
