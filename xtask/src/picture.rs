//! The picture of the host's districts, drawn from the sources: each district
//! a box with its lines of code, the highest first; a line to the right and
//! down where it imports another, with the number of files that do.

use std::fmt::Write;
use std::path::Path;

use crate::command::Problem;
use crate::layers::Layers;

/// From the root of the repository.
pub const FILE: &str = "docs/figures/districts.svg";

/// Sizes in pixels.
const COLUMN: usize = 104;
const ROW: usize = 52;
const BOX: (usize, usize) = (96, 36);
const MARGIN: usize = 12;

const STYLE: &str = "<style>\n\
    text { font: 12px system-ui, sans-serif; text-anchor: middle; fill: #1c2733 }\n\
    .name { font-weight: 600 }\n\
    .lines { font-size: 10px; fill: #5b6b7a }\n\
    .files { font-size: 9px; fill: #fff }\n\
    .district { fill: #e8f0f8; stroke: #34618e }\n\
    .import { stroke: #9db4ca; fill: none; stroke-width: 1.5 }\n\
    .dot { fill: #34618e }\n\
    </style>\n";

/// Draws the layers of a crate.
pub fn draw(layers: &Layers) -> String {
    let count = layers.order.len();
    let (width, height) = (count * COLUMN + 2 * MARGIN, count * ROW + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>The districts of hambo-host; imports go right and down</title>\n{STYLE}\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" \
         markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#34618e\"/></marker>\
         </defs>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    // The highest district stands first; place 0 is at the upper left.
    let place = |rank: usize| count - 1 - rank;
    let centre = |place: usize| {
        (
            MARGIN + place * COLUMN + COLUMN / 2,
            MARGIN + place * ROW + ROW / 2,
        )
    };
    let edges = layers.edges();
    for (from, to) in edges.keys() {
        let ((x, y), (to_x, to_y)) = (centre(place(*from)), centre(place(*to)));
        let (start, end) = (x + BOX.0 / 2, to_y - BOX.1 / 2);
        let _ = writeln!(
            svg,
            "<path class=\"import\" d=\"M{start} {y}H{to_x}V{end}\" marker-end=\"url(#tip)\"/>"
        );
    }
    for ((from, to), files) in &edges {
        let ((_, y), (x, _)) = (centre(place(*from)), centre(place(*to)));
        let text = y + 3;
        let _ = writeln!(
            svg,
            "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>\
             <text class=\"files\" x=\"{x}\" y=\"{text}\">{files}</text>"
        );
    }
    for (rank, name) in layers.order.iter().enumerate() {
        let (x, y) = centre(place(rank));
        let (left, top, (width, height)) = (x - BOX.0 / 2, y - BOX.1 / 2, BOX);
        let lines = lines_of(layers, name);
        let _ = writeln!(
            svg,
            "<rect class=\"district\" x=\"{left}\" y=\"{top}\" width=\"{width}\" \
             height=\"{height}\" rx=\"5\"/>\n\
             <text class=\"name\" x=\"{x}\" y=\"{}\">{name}</text>\
             <text class=\"lines\" x=\"{x}\" y=\"{}\">{lines} lines</text>",
            y - 2,
            y + 12
        );
    }
    svg + "</svg>\n"
}

/// Lines of code of a district, without comments and tests.
fn lines_of(layers: &Layers, district: &str) -> usize {
    let inside = layers
        .sources
        .iter()
        .filter(|source| source.module.first().is_some_and(|first| first == district));
    inside.map(|source| source.lines.code).sum()
}

/// Draws the host into its file.
pub fn update(root: &Path) -> Result<(), Problem> {
    let layers = Layers::read(&root.join("hambo-host/src"))?;
    std::fs::write(root.join(FILE), draw(&layers))
        .map_err(|error| Problem::Advice(format!("{FILE} cannot be written: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the numbers of lines and files, which change every day.
    fn structure(svg: &str) -> Vec<String> {
        let lines = svg
            .lines()
            .map(|line| match line.split_once("<text class=\"files\"") {
                Some((dot, _)) => dot.to_owned(),
                None => line
                    .split("<text class=\"lines\"")
                    .next()
                    .unwrap_or(line)
                    .to_owned(),
            });
        lines.collect()
    }

    #[test]
    fn the_committed_picture_shows_these_districts_and_imports() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let layers = Layers::read(&root.join("hambo-host/src")).expect("the sources can be read");
        let committed = std::fs::read_to_string(root.join(FILE)).unwrap_or_default();
        assert!(
            structure(&committed) == structure(&draw(&layers)),
            "{FILE} is out of date: cargo xtask districts"
        );
    }

    #[test]
    fn an_import_is_a_line_down() {
        let texts = [
            ("low/mod.rs", "fn f() {}"),
            ("high/mod.rs", "use crate::low::f;"),
        ];
        let texts = texts.iter().map(|(path, text)| (Path::new(*path), *text));
        let layers = Layers {
            order: vec!["low".to_owned(), "high".to_owned()],
            sources: crate::source::parse(texts),
        };
        let svg = draw(&layers);
        assert_eq!(svg.matches("class=\"import\"").count(), 1);
        // From the right of the upper box into the top of the lower one.
        assert!(svg.contains("d=\"M112 38H168V72\""), "{svg}");
        assert!(
            svg.contains(">low</text>") && svg.contains(">1 lines</text>"),
            "{svg}"
        );
    }
}
