//! The plane with everything in it, drawn as an overview and as a close-up.

use super::view::{OVERVIEW, View};
use super::{AdversarialStep, PointSafetyFigure};
use crate::figure::template::{Point, dot};

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

    /// The plane twice, and how the two hang together.
    pub fn draw(&self) -> [(&'static str, String); 4] {
        let view = &self.close_up;
        let half = view.half.map(|half| half / view.scale);
        let corner =
            |sign: f32| OVERVIEW.map([view.center[0] + half[0], view.center[1] + sign * half[1]]);
        let [[x0, y0], [x1, y1]] = [corner(1.0), corner(-1.0)];
        [
            ("overview", self.plane(&OVERVIEW, 1.0)),
            ("close_up", self.plane(view, 1.5) + &self.magnified_step()),
            (
                "wedge",
                format!("M{x0:.2} {y0:.2}L940 122V590L{x1:.2} {y1:.2}"),
            ),
            ("window", OVERVIEW.rect(view.center, half)),
        ]
    }

    /// Danger zone, log, paths and sets; `size` is that of the dots.
    fn plane(&self, view: &View, size: f32) -> String {
        let (name, figure) = (view.name, self.figure);
        let disc = view.map([0.0; 2]);
        let mut svg = dot("disc", disc, view.scale) + &dot("hatched", disc, view.scale);

        svg += &format!("<g id=\"{name}-logged\">\n");
        let stride = figure.logged.len().div_ceil(MAX_LOGGED).max(1);
        let logged: Vec<_> = figure.logged.iter().step_by(stride).collect();
        for group in logged.chunks(GROUP) {
            let steps: String = group.iter().map(|step| view.line(*step)).collect();
            let ends: String = group
                .iter()
                .map(|[_, next]| view.line(&[*next]) + "h0.01")
                .collect();
            svg += &format!(
                "<path class=\"logged\" d=\"{steps}\"/>\n<path class=\"logged-dots\" d=\"{ends}\"/>\n"
            );
        }

        let sets: String = figure
            .adversarial_steps
            .iter()
            .map(|step| format!("<rect {}/>\n", view.rect(step.mean, step.half_width)))
            .collect();
        svg += &format!(
            r#"</g>
<path id="{name}-true-path" class="truth" d="{}"/>
<path id="{name}-neutral-path" class="neutral" d="{}"/>
<g id="{name}-confidence-sets" class="sets">
{sets}</g>
<path id="{name}-adversarial-path" class="adversary" d="{}"/>
"#,
            view.line(&figure.true_path),
            view.line(&figure.neutral_path),
            view.line(&self.adversarial_path),
        );
        for state in &self.adversarial_path {
            svg += &dot("adversary picks", view.map(*state), 3.8 * size);
        }
        if let Some(entry) = self.entry {
            svg += &dot("ring", view.map(entry), 7.5 * size);
        }
        svg
    }

    /// One step: its set, its mean and the state that the adversary picked.
    fn magnified_step(&self) -> String {
        let (view, step) = (&self.close_up, &self.step);
        format!(
            r#"<g id="close-up-step">
<rect class="step-set" {}/>
<path class="adversary" d="{}"/>
<path class="push" d="{}"/>
{}{}</g>
"#,
            view.rect(step.mean, step.half_width),
            view.line(&[self.before, step.next_state]),
            view.line(&[step.mean, step.next_state]),
            dot("step-mean", view.map(step.mean), 7.0),
            dot("step-pick", view.map(step.next_state), 8.5),
        )
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
