//! A window of the plane, drawn to scale around a place of the picture.

use maud::{Markup, html};

use super::contents::{AdversarialStep, Point};
use crate::svg::{line_data, px};

#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    pub name: &'static str,
    /// The middle of the window in the plane.
    pub center: Point,
    /// The middle of the window in the picture.
    pub middle: Point,
    /// Half of its width and height in the picture.
    pub half: Point,
    /// Picture units per unit of the plane.
    pub scale: f32,
}

/// The whole plane that matters.
pub(super) const OVERVIEW: View = View {
    name: "overview",
    center: [0.0, 0.7],
    middle: [480.0, 356.0],
    half: [432.0, 234.0],
    scale: 180.0,
};

impl View {
    /// A step under the magnifying glass: its set takes a third of the window.
    pub fn close_up(step: &AdversarialStep) -> Self {
        let half = [206.0, 157.0];
        let middle_of = |i: usize| {
            let (mean, reach) = (step.mean[i], step.half_width[i]);
            let low = (mean - reach).min(step.next_state[i]);
            0.5 * low + 0.5 * (mean + reach).max(step.next_state[i])
        };
        let share = [0, 1].map(|i| step.half_width[i] / half[i]);
        let width = 3.0 * share[0].max(share[1]) * 2.0 * half[0];
        Self {
            name: "close-up",
            center: [middle_of(0), middle_of(1)],
            middle: [1146.0, 363.0],
            half,
            scale: 2.0 * half[0] / width.clamp(0.12, 0.8),
        }
    }

    /// A point of the plane in the picture. Wild data stay numbers that can be drawn.
    pub fn map(&self, p: Point) -> Point {
        let offset = |i: usize| (p[i] - self.center[i]).clamp(-1e4, 1e4) * self.scale;
        [self.middle[0] + offset(0), self.middle[1] - offset(1)]
    }

    /// The path data of a line through points of the plane.
    pub fn line(&self, points: &[Point]) -> String {
        line_data(points.iter().map(|p| self.map(*p)))
    }

    /// A rectangle of the plane.
    pub fn rect(&self, class: &str, center: Point, half: Point) -> Markup {
        let [left, top] = self.map([center[0] - half[0], center[1] + half[1]]);
        let [right, bottom] = self.map([center[0] + half[0], center[1] - half[1]]);
        html! {
            rect class=(class) x=(px(left)) y=(px(top)) width=(px(right - left)) height=(px(bottom - top)) {}
        }
    }

    /// Whether a point of the plane lies in the window.
    pub fn sees(&self, p: Point) -> bool {
        let at = self.map(p);
        (0..2).all(|i| (at[i] - self.middle[i]).abs() <= self.half[i])
    }

    /// The window itself.
    pub fn window(&self, class: &str) -> Markup {
        self.rect(class, self.center, self.half.map(|half| half / self.scale))
    }
}
