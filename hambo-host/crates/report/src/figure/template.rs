//! Pictures are SVG templates, files beside the code that say where everything
//! stands and how it looks; the code fills in what depends on the data.

/// Colours and letters of all figures.
const STYLE: &str = include_str!("style.css");

/// A point of the plane, or of the picture.
pub(super) type Point = [f32; 2];

/// Puts values in the places of `{{name}}`. They must be valid SVG.
pub(super) fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut svg = template.replace("{{style}}", STYLE);
    for (name, value) in values {
        svg = svg.replace(&format!("{{{{{name}}}}}"), value);
    }
    svg
}

/// The path data of a line through points of the picture.
pub(super) fn line(points: impl IntoIterator<Item = Point>) -> String {
    let points = points.into_iter().enumerate();
    let part = |(i, [x, y]): (usize, Point)| {
        let command = if i == 0 { 'M' } else { 'L' };
        format!("{command}{x:.2} {y:.2}")
    };
    points.map(part).collect()
}

/// A dot of the picture.
pub(super) fn dot(class: &str, [x, y]: Point, radius: f32) -> String {
    format!("<circle class=\"{class}\" cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\"/>\n")
}

/// A number for the reader, with a true minus sign.
pub(super) fn readable(value: f32, decimals: usize) -> String {
    let text = if value.abs() < 1e7 {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.2e}")
    };
    text.replacen('-', "−", 1)
}
