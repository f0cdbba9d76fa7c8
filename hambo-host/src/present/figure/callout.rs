//! A label at a fixed place with a leader line to what it names.

use super::geometry::Point;
use super::style::{PANEL, QUIET, dot, label, line};
use super::svg::Element;

/// One label: a coloured name, a quiet second line, a leader.
#[derive(Debug, Clone, Copy)]
pub(super) struct Callout {
    /// Where the first line of letters stands.
    pub at: Point,
    /// `start`, `middle` or `end`.
    pub anchor: &'static str,
    /// The first line.
    pub name: &'static str,
    /// The second line; may be empty.
    pub note: &'static str,
    /// Colour of the name and of the leader.
    pub color: &'static str,
    /// Where the leader starts.
    pub from: Point,
    /// What the leader points at, if that is in sight.
    pub to: Option<Point>,
}

const NAME_SIZE: f64 = 19.0;
const NOTE_SIZE: f64 = 17.0;

impl Callout {
    /// Draws the leader, then the letters on a pale halo.
    pub fn draw(&self) -> Element {
        let mut group = Element::new("g");
        if let Some(to) = self.to {
            group.push(line([self.from, to], PANEL, 5.0).set("stroke-opacity", 0.85));
            group.push(line([self.from, to], self.color, 1.5));
            group.push(dot(to, 3.5, self.color));
        }
        let name = label(self.at, NAME_SIZE, self.anchor)
            .set("font-weight", "600")
            .set("fill", self.color)
            .text(self.name);
        group.push(halo(name));
        if !self.note.is_empty() {
            let below = [self.at[0], self.at[1] + 23.0];
            let note = label(below, NOTE_SIZE, self.anchor)
                .set("fill", QUIET)
                .text(self.note);
            group.push(halo(note));
        }
        group
    }
}

/// Letters with a pale outline, readable over lines and dots.
pub(super) fn halo(text: Element) -> Element {
    text.set("stroke", PANEL)
        .set("stroke-width", 4.0)
        .set("stroke-opacity", 0.85)
        .set("stroke-linejoin", "round")
        .set("paint-order", "stroke")
}
