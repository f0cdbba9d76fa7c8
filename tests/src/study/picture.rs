//! What the studies' pictures share: the page, dots, and strips of dots.

use hambo_report::figure::svg::{Element, line_data};

/// Deployed, and it should be.
pub const GOOD: &str = "#2f7d5b";
/// Refused.
pub const CAUTION: &str = "#c98a1b";
/// Wrong.
pub const BAD: &str = "#b8372f";
/// No verdict.
pub const QUIET: &str = "#b4bcc6";
/// Text that comes second.
pub const QUIET_TEXT: &str = "#5b6570";

const WIDTH: f64 = 1100.0;
const LEFT: f64 = 240.0;
const RIGHT: f64 = 1050.0;
const ROW: f64 = 44.0;

/// An empty page with its headings.
#[must_use]
pub fn page(title: &str, subtitle: &str, height: f64) -> Element {
    let paper = Element::new("rect")
        .set("width", WIDTH)
        .set("height", height)
        .set("fill", "#ffffff");
    Element::new("svg")
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("width", WIDTH)
        .set("height", height)
        .set("viewBox", format!("0 0 {WIDTH} {height}"))
        .set("role", "img")
        .set("font-family", "Inter, 'Helvetica Neue', Arial, sans-serif")
        .set("font-size", 18.0)
        .set("fill", "#1d232b")
        .with(Element::new("title").text(title))
        .with(paper)
        .with(text(40.0, 52.0, "start", title).set("font-size", 28.0))
        .with(text(40.0, 102.0, "start", subtitle).set("fill", QUIET_TEXT))
}

/// A line of text.
#[must_use]
pub fn text(x: f64, y: f64, anchor: &str, words: &str) -> Element {
    Element::new("text")
        .set("x", x)
        .set("y", y)
        .set("text-anchor", anchor)
        .text(words)
}

/// A dot.
#[must_use]
pub fn dot(x: f64, y: f64, colour: &str) -> Element {
    Element::new("circle")
        .set("cx", x)
        .set("cy", y)
        .set("r", 4.0)
        .set("fill", colour)
        .set("fill-opacity", "0.75")
}

/// A bar.
#[must_use]
pub fn bar(x: f64, y: f64, width: f64, colour: &str, opacity: &str) -> Element {
    Element::new("rect")
        .set("x", x)
        .set("y", y)
        .set("width", width)
        .set("height", 12.0)
        .set("fill", colour)
        .set("fill-opacity", opacity)
}

/// A straight line.
#[must_use]
pub fn line(from: [f64; 2], to: [f64; 2], colour: &str) -> Element {
    Element::new("path")
        .set("d", line_data([from, to]))
        .set("stroke", colour)
        .set("stroke-width", 1.5)
        .set("fill", "none")
}

/// Rows of dots over one scale.
pub struct Strip<'a> {
    /// The scale's left end.
    pub low: f64,
    /// Its right end.
    pub high: f64,
    /// Where the first row begins.
    pub top: f64,
    /// The rows.
    pub names: &'a [&'a str],
}

impl Strip<'_> {
    /// Where the last row ends.
    #[must_use]
    pub fn bottom(&self) -> f64 {
        self.top + 30.0 + ROW * self.names.len() as f64
    }

    fn x(&self, value: f64) -> f64 {
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        LEFT + share * (RIGHT - LEFT)
    }

    /// Names, ticks and the lines that matter.
    pub fn axes(&self, svg: &mut Element, marks: &[(f64, &str)]) {
        for (row, name) in (0..).zip(self.names) {
            let y = self.top + 30.0 + ROW * (f64::from(row) + 0.5);
            svg.push(text(LEFT - 16.0, y + 6.0, "end", name));
        }
        for (value, name) in marks {
            let x = self.x(*value);
            let (from, to) = ([x, self.top + 26.0], [x, self.bottom()]);
            svg.push(line(from, to, QUIET_TEXT));
            svg.push(text(x, self.top + 16.0, "middle", name));
        }
        for i in 0..=6 {
            let tick = self.low + f64::from(i) * (self.high - self.low) / 6.0;
            let (anchor, words) = match i {
                0 => ("start", "or less"),
                6 => ("end", "or more"),
                _ => ("middle", ""),
            };
            // Rounded first: no minus before a zero.
            let words = format!("{} {words}", (10.0 * tick).round() / 10.0 + 0.0);
            let label = text(self.x(tick), self.bottom() + 22.0, anchor, words.trim());
            svg.push(label.set("font-size", 15.0).set("fill", QUIET_TEXT));
        }
    }

    /// A value in a row; `index` moves it up or down, so that dots do not hide each other.
    #[must_use]
    pub fn dot(&self, row: usize, value: f64, index: usize, colour: &str) -> Element {
        let moved = (index * 7919 % 29) as f64 - 14.0;
        let y = self.top + 30.0 + ROW * (row as f64 + 0.5) + moved;
        dot(self.x(value), y, colour)
    }
}
