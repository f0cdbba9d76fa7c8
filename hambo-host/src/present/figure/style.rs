//! Colours, letters and small shapes that the figures share.
//!
//! The colours are from the palette of Okabe and Ito, which colour-blind readers can tell apart.

use super::geometry::Point;
use super::svg::{Element, line_data};

/// The name of the bundled font.
pub(super) const FONT_NAME: &str = "Inter";
/// What an SVG viewer without the bundled font may use instead.
pub(super) const FONT_FAMILY: &str = "Inter, 'Helvetica Neue', Arial, sans-serif";

pub(super) const PAPER: &str = "#fcfcfa";
pub(super) const PANEL: &str = "#ffffff";
pub(super) const FRAME: &str = "#d5d9de";
pub(super) const GRID: &str = "#eceef1";
pub(super) const INK: &str = "#1d232b";
pub(super) const QUIET: &str = "#5b6570";
pub(super) const LOGGED: &str = "#6f7c8a";
pub(super) const NEUTRAL: &str = "#e69f00";
/// The neutral colour, dark enough for letters.
pub(super) const NEUTRAL_TEXT: &str = "#9a6700";
pub(super) const ADVERSARY: &str = "#0072b2";
pub(super) const SETS: &str = "#56b4e9";
pub(super) const DANGER: &str = "#d55e00";
/// The danger colour, dark enough for letters.
pub(super) const DANGER_TEXT: &str = "#b34a00";
pub(super) const SAFE: &str = "#009e73";
/// The safe colour, dark enough for letters.
pub(super) const SAFE_TEXT: &str = "#00795a";

/// An empty picture: rounded light panel, title for screen readers, default letters.
pub(super) fn document(width: f64, height: f64, title: &str, description: &str) -> Element {
    Element::new("svg")
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("width", format!("{width:.0}"))
        .set("height", format!("{height:.0}"))
        .set("viewBox", format!("0 0 {width:.0} {height:.0}"))
        .set("font-family", FONT_FAMILY)
        .set("fill", INK)
        .set("role", "img")
        .with(Element::new("title").text(title))
        .with(Element::new("desc").text(description))
        .with(
            Element::new("rect")
                .set("x", 1.0)
                .set("y", 1.0)
                .set("width", width - 2.0)
                .set("height", height - 2.0)
                .set("rx", 18.0)
                .set("fill", PAPER)
                .set("stroke", FRAME)
                .set("stroke-width", 1.5),
        )
}

/// Letters at a place; `anchor` is `start`, `middle` or `end`.
pub(super) fn label(at: Point, size: f64, anchor: &'static str) -> Element {
    Element::new("text")
        .set("x", at[0])
        .set("y", at[1])
        .set("font-size", size)
        .set("text-anchor", anchor)
        // A name may be followed by a span that starts with a space.
        .set("xml:space", "preserve")
}

/// Adds a controller's name to a text: `pi_1.1` becomes a Greek letter with an index.
pub(super) fn with_controller(text: Element, name: &str, size: f64) -> Element {
    let name = shorten(name, 20);
    match name.strip_prefix("pi_") {
        Some(index) if !index.is_empty() => text.text("π").with(
            Element::new("tspan")
                .set("dy", 0.22 * size)
                .set("font-size", 0.72 * size)
                .text(index),
        ),
        _ => text.text(&name),
    }
}

/// At most `length` characters.
pub(super) fn shorten(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let kept = text.chars().take(length.saturating_sub(1));
    kept.chain(['…']).collect()
}

/// A number for the reader, with a true minus sign.
pub(super) fn readable(value: f32, decimals: usize) -> String {
    let text = if value.abs() < 1e7 {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.2e}")
    };
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        Some(digits) => format!("−{digits}"),
        None => text,
    }
}

/// A round dot.
pub(super) fn dot(at: Point, radius: f64, fill: &'static str) -> Element {
    Element::new("circle")
        .set("cx", at[0])
        .set("cy", at[1])
        .set("r", radius)
        .set("fill", fill)
}

/// A line through points of the picture.
pub(super) fn line(
    points: impl IntoIterator<Item = Point>,
    stroke: &'static str,
    width: f64,
) -> Element {
    Element::new("path")
        .set("d", line_data(points))
        .set("fill", "none")
        .set("stroke", stroke)
        .set("stroke-width", width)
        .set("stroke-linecap", "round")
        .set("stroke-linejoin", "round")
}
