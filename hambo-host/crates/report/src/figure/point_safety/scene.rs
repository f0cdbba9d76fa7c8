//! The plane with everything in it, drawn as an overview and as a close-up.

use maud::{Markup, html};

use super::contents::{AdversarialStep, Point, PointSafetyFigure};
use super::view::{OVERVIEW, View};
use crate::svg::{dot, label};

const START: Point = [-2.0, 0.0];
/// At most this many logged transitions are drawn.
const MAX_LOGGED: usize = 1500;
/// Logged transitions per path; paths overlap, so that dense data look denser.
const GROUP: usize = 100;
/// Points of each step that are looked at.
const SAMPLES: u8 = 64;
/// Shown when there is no step to magnify.
const NO_STEP: AdversarialStep = AdversarialStep {
    mean: [0.0, 1.0],
    half_width: [0.0; 2],
    next_state: [0.0, 1.0],
};

/// The figure's data, and what follows from them.
pub(super) struct Scene<'a> {
    pub figure: &'a PointSafetyFigure,
    pub adversarial_path: Vec<Point>,
    /// Where the adversarial path enters the danger zone.
    pub entry: Option<Point>,
    /// The step in the close-up and the state before it.
    pub step: AdversarialStep,
    before: Point,
    pub close_up: View,
}

impl<'a> Scene<'a> {
    pub fn new(figure: &'a PointSafetyFigure) -> Self {
        let steps = &figure.adversarial_steps;
        let states = steps.iter().map(|step| step.next_state);
        let adversarial_path: Vec<Point> = [START].into_iter().chain(states).collect();
        // Right of the zone's middle, where paths lead down and leave room for
        // names: the largest set from which the adversary picks a state in the
        // danger zone, nearer to its middle; or the largest of all in sight.
        let pushes = |step: &AdversarialStep| radius(step.next_state) <= radius(step.mean).min(1.0);
        let size = |step: &AdversarialStep| step.half_width[0] + step.half_width[1];
        let in_sight = steps
            .iter()
            .zip(&adversarial_path)
            .filter(|(step, _)| OVERVIEW.sees(step.mean) && OVERVIEW.sees(step.next_state))
            .filter(|(step, _)| step.mean[0] >= 0.0);
        let magnified = in_sight.max_by(|(a, _), (b, _)| {
            let pushes = pushes(a).cmp(&pushes(b));
            pushes.then(size(a).total_cmp(&size(b)))
        });
        let (step, before) = magnified.map_or((NO_STEP, NO_STEP.mean), |(step, p)| (*step, *p));
        let entry = sampled(&adversarial_path).find(|p| radius(*p) <= 1.0);
        Self {
            figure,
            entry,
            adversarial_path,
            step,
            before,
            close_up: View::close_up(&step),
        }
    }

    /// The plane twice, with names.
    pub fn draw(&self) -> Markup {
        let (view, start, goal) = (&self.close_up, [120.0, 482.0], [840.0, 482.0]);
        let frame = view.half.map(|half| half / view.scale);
        html! {
            defs {
                clipPath id="overview-window" { (OVERVIEW.window("")) }
                clipPath id="close-up-window" { (view.window("")) }
                pattern id="hatch" width="14" height="14" patternUnits="userSpaceOnUse"
                    patternTransform="rotate(45)" {
                    path class="danger" d="M0 0V14" stroke-width="3" {}
                }
            }
            rect class="panel" x="48" y="122" width="864" height="468" rx="10" {}
            path class="grid" d="M120 122V590M300 122V590M480 122V590M660 122V590M840 122V590M48 302H912M48 482H912" {}
            @for (x, words) in [(120.0, "−2"), (300.0, "−1"), (480.0, "0"), (660.0, "1"), (840.0, "2")] {
                (label("small quiet", [x, 612.0], "middle", words))
            }
            (label("small quiet", [60.0, 296.0], "middle", "1"))
            (label("small quiet", [60.0, 476.0], "middle", "0"))
            g clip-path="url(#overview-window)" { (self.plane(&OVERVIEW, 1.0)) }
            rect class="frame" x="48" y="122" width="864" height="468" rx="10" {}
            (OVERVIEW.rect("window", view.center, frame))
            (dot("place", start, 8.0))
            (dot("place", goal, 8.0))
            (dot("truth", goal, 3.5))
            (self.overview_labels())

            rect class="panel" x="940" y="122" width="412" height="468" rx="10" {}
            g class="magnified" clip-path="url(#close-up-window)" {
                (self.plane(view, 1.5))
                (self.magnified_step())
            }
            (view.window("window"))
            (self.close_up_labels())
        }
    }

    /// Danger zone, log, paths and sets; `size` is that of the dots.
    fn plane(&self, view: &View, size: f32) -> Markup {
        let (name, figure) = (view.name, self.figure);
        let disc = view.map([0.0; 2]);
        let stride = figure.logged.len().div_ceil(MAX_LOGGED).max(1);
        let logged: Vec<_> = figure.logged.iter().step_by(stride).collect();
        let steps = |group: &[&[Point; 2]]| -> String {
            group.iter().map(|step| view.line(*step)).collect()
        };
        let ends = |group: &[&[Point; 2]]| -> String {
            let ends = group.iter().map(|[_, next]| view.line(&[*next]) + "h0.01");
            ends.collect()
        };
        html! {
            (dot("disc", disc, view.scale))
            (dot("hatched", disc, view.scale))
            g id={ (name) "-logged" } {
                @for group in logged.chunks(GROUP) {
                    path class="logged" d=(steps(group)) {}
                    path class="logged-dots" d=(ends(group)) {}
                }
            }
            path id={ (name) "-true-path" } class="truth" d=(view.line(&figure.true_path)) {}
            path id={ (name) "-neutral-path" } class="neutral" d=(view.line(&figure.neutral_path)) {}
            g id={ (name) "-confidence-sets" } {
                @for step in &figure.adversarial_steps { (view.rect("sets", step.mean, step.half_width)) }
            }
            path id={ (name) "-adversarial-path" } class="adversary" d=(view.line(&self.adversarial_path)) {}
            @for state in &self.adversarial_path { (dot("adversary picks", view.map(*state), 3.8 * size)) }
            @if let Some(entry) = self.entry { (dot("ring", view.map(entry), 7.5 * size)) }
        }
    }

    /// One step: its set, its mean and the state that the adversary picked.
    fn magnified_step(&self) -> Markup {
        let (view, step) = (&self.close_up, &self.step);
        html! {
            (view.rect("step-set", step.mean, step.half_width))
            path class="adversary" d=(view.line(&[self.before, step.next_state])) {}
            path class="push" d=(view.line(&[step.mean, step.next_state])) {}
            (dot("step-mean", view.map(step.mean), 7.0))
            (dot("step-pick", view.map(step.next_state), 8.5))
        }
    }
}

/// The distance from the middle of the danger zone.
pub(super) fn radius(p: Point) -> f32 {
    p[0].hypot(p[1])
}

/// Many points of a path.
pub(super) fn sampled(path: &[Point]) -> impl Iterator<Item = Point> {
    let shares = || (1..=SAMPLES).map(|k| f32::from(k) / f32::from(SAMPLES));
    let steps = path.windows(2).flat_map(move |ends| {
        let (from, to) = (ends[0], ends[1]);
        shares().map(move |share| [0, 1].map(|i| (1.0 - share) * from[i] + share * to[i]))
    });
    path.first().copied().into_iter().chain(steps)
}
