//! Rows of dots over one scale.

use maud::html;

use crate::range::Range;
use crate::svg::{label, px, sheet, stroke};

/// Deployed, and it should be.
pub const GOOD: &str = "#2f7d5b";
/// Refused.
pub const CAUTION: &str = "#c98a1b";
/// Wrong.
pub const BAD: &str = "#b8372f";
/// No verdict.
pub const UNDECIDED: &str = "#b4bcc6";

const WIDTH: f64 = 1100.0;
const LEFT: f64 = 280.0;
const RIGHT: f64 = 1050.0;
const TOP: f64 = 160.0;
const ROW: f64 = 44.0;

/// Rows of dots.
#[derive(Clone, Debug, PartialEq)]
pub struct StripFigure<'a> {
    /// Above all.
    pub title: &'a str,
    /// Below the title.
    pub subtitle: &'a str,
    /// The ends of the scale; what lies beyond is drawn at its end.
    pub range: (f64, f64),
    /// Names of the rows, from the top.
    pub rows: &'a [&'a str],
    /// Lines across all rows, with their names.
    pub marks: &'a [(f64, &'a str)],
    /// Colours of the dots and what they mean.
    pub legend: &'a [(&'a str, &'a str)],
    /// What the scale measures.
    pub caption: &'a str,
    /// Row, value and colour.
    pub dots: Vec<(usize, f64, &'a str)>,
}

impl StripFigure<'_> {
    /// The figure as SVG text; dots that are not a number are left out.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let range = Range::exact(self.range.0, self.range.1);
        let x = |value: f64| LEFT + range.share(value).clamp(0.0, 1.0) * (RIGHT - LEFT);
        let row = |row: usize| TOP + ROW * (row as f64 + 0.5);
        let bottom = TOP + ROW * self.rows.len() as f64;
        let dots = self.dots.iter().enumerate();
        let dots = dots.filter(|(_, (_, value, _))| !value.is_nan());
        let body = html! {
            (label("title", [40.0, 52.0], "start", self.title))
            (label("quiet", [40.0, 84.0], "start", self.subtitle))
            @for (index, (colour, words)) in self.legend.iter().enumerate() {
                @let x = 46.0 + 260.0 * index as f64;
                circle cx=(px(x)) cy="112" r="5" fill=(colour) {}
                (label("", [x + 14.0, 118.0], "start", words))
            }
            @for (index, name) in self.rows.iter().enumerate() {
                (label("", [LEFT - 16.0, row(index) + 6.0], "end", name))
            }
            @for (tick, words) in range.ticks(6.0) {
                (stroke("grid", [[x(tick), TOP], [x(tick), bottom]]))
                (label("quiet", [x(tick), bottom + 24.0], "middle", &words))
            }
            @for (value, name) in self.marks {
                (stroke("quiet", [[x(*value), TOP - 6.0], [x(*value), bottom]]))
                (label("", [x(*value), TOP - 14.0], "middle", name))
            }
            @for (index, (place, value, colour)) in dots {
                // Up or down, so that dots do not hide each other.
                @let y = row(*place) + (index * 7919 % 29) as f64 - 14.0;
                circle cx=(px(x(*value))) cy=(px(y)) r="4" fill=(colour) fill-opacity="0.75" {}
            }
            (label("quiet", [0.5 * (LEFT + RIGHT), bottom + 54.0], "middle", self.caption))
        };
        sheet([WIDTH, bottom + 76.0], self.title, "", &body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_stand_in_their_rows_and_at_the_ends_of_the_scale() {
        let figure = StripFigure {
            title: "t",
            subtitle: "s",
            range: (0.0, 1.0),
            rows: &["first", "second"],
            marks: &[(0.5, "half")],
            legend: &[(GOOD, "good")],
            caption: "share",
            dots: vec![(0, 0.5, GOOD), (1, 9.0, BAD), (1, f64::NAN, BAD)],
        };
        let svg = figure.to_svg();
        // 280 to 1050 is the scale, the rows begin at 160; the second dot is moved by 7919 % 29 − 14.
        for part in [
            "cx=\"665.00\" cy=\"168.00\"",
            "cx=\"1050.00\" cy=\"214.00\"",
        ] {
            assert!(svg.contains(part), "{part} is not in {svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 3);
    }
}
