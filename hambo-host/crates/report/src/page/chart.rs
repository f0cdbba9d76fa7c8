//! Line charts in the colours of the page's style sheet, which changes with the reader's light
//! or dark setting.

use hambo_check::number::Number;
use maud::{Markup, html};

use super::pieces::described_svg;
use crate::range::Range;
use crate::svg::{dot, label, line_data, px, stroke};

/// The most points of a line: more than the eye can tell apart.
const MOST_POINTS: usize = 300;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 40.0;

/// What a chart says to those who do not see it, and its axes.
pub(super) struct Frame<'a> {
    /// Unique on the page.
    pub id: &'a str,
    pub title: &'a str,
    pub description: &'a str,
    pub size: [f64; 2],
    pub x_label: &'a str,
    pub y_label: &'a str,
}

/// A chart under way.
pub(super) struct Chart<'a> {
    frame: &'a Frame<'a>,
    x: Range,
    y: Range,
    parts: Vec<Markup>,
}

impl<'a> Chart<'a> {
    /// A frame with axes and a grid.
    pub fn new(frame: &'a Frame<'a>, x: Range, y: Range) -> Self {
        let ticks = x.ticks((frame.size[0] / 90.0).max(2.0));
        Self::with_ticks(frame, x, y, &ticks)
    }

    /// A frame whose horizontal axis counts steps from 0.
    pub fn over_steps(frame: &'a Frame<'a>, steps: usize, y: Range) -> Self {
        let last = steps.saturating_sub(1) as f64;
        Self::new(frame, Range::exact(0.0, last), y)
    }

    /// A frame whose horizontal axis has names, evenly spaced: the first is at 0, the next at 1.
    pub fn over_names(
        frame: &'a Frame<'a>,
        names: impl IntoIterator<Item = String>,
        y: Range,
    ) -> Self {
        let ticks: Vec<(f64, String)> = (0..).map(f64::from).zip(names).collect();
        let x = Range::exact(-0.5, ticks.len() as f64 - 0.5);
        Self::with_ticks(frame, x, y, &ticks)
    }

    fn with_ticks(frame: &'a Frame<'a>, x: Range, y: Range, ticks: &[(f64, String)]) -> Self {
        let mut chart = Self {
            frame,
            x,
            y,
            parts: Vec::new(),
        };
        let [width, height] = frame.size;
        for (tick, words) in y.ticks(4.0) {
            let [_, y] = chart.place([x.low, tick]);
            chart
                .parts
                .push(stroke("grid", [[LEFT, y], [width - RIGHT, y]]));
            chart
                .parts
                .push(label("", [LEFT - 6.0, y + 4.0], "end", &words));
        }
        let floor = height - BOTTOM;
        for (tick, words) in ticks {
            let [x, _] = chart.place([*tick, y.low]);
            chart
                .parts
                .push(stroke("tick", [[x, floor], [x, floor + 4.0]]));
            chart
                .parts
                .push(label("", [x, floor + 17.0], "middle", words));
        }
        chart
            .parts
            .push(stroke("axis", [[LEFT, floor], [width - RIGHT, floor]]));
        let middle = 0.5 * (LEFT + width - RIGHT);
        chart
            .parts
            .push(label("", [middle, height - 6.0], "middle", frame.x_label));
        let down = px(-0.5 * (TOP + floor));
        chart.parts.push(html! {
            text x=(down) y="12" transform="rotate(-90)" text-anchor="middle" { (frame.y_label) }
        });
        chart
    }

    /// A data point in the picture.
    fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [width, height] = self.frame.size;
        [
            LEFT + self.x.share(x) * (width - LEFT - RIGHT),
            height - BOTTOM - self.y.share(y) * (height - TOP - BOTTOM),
        ]
    }

    /// A line through data points; numbers that are not finite are left out.
    pub fn line(&mut self, class: &str, points: impl IntoIterator<Item = [f64; 2]>) {
        let points = points.into_iter();
        let finite = points.filter(|[x, y]| x.is_finite() && y.is_finite());
        let places: Vec<[f64; 2]> = finite.map(|point| self.place(point)).collect();
        let every = places.len().div_ceil(MOST_POINTS).max(1);
        let last = places.len().saturating_sub(1);
        let kept = places.iter().enumerate();
        let kept = kept.filter(|(i, _)| i.is_multiple_of(every) || *i == last);
        if !places.is_empty() {
            let kept = kept.map(|(_, place)| *place);
            self.parts.push(stroke(class, kept));
        }
    }

    /// A line through one number for each step.
    pub fn line_over_steps(&mut self, class: &str, values: &[Number]) {
        let points = values.iter().enumerate();
        self.line(class, points.map(|(step, y)| [step as f64, y.0]));
    }

    /// A band between two lines: x, low, high. Where there are more points than are drawn, the
    /// widest of the neighbours is.
    pub fn band(&mut self, class: &str, points: impl IntoIterator<Item = [f64; 3]>) {
        let finite = |point: &[f64; 3]| point.iter().all(|x| x.is_finite());
        let points: Vec<[f64; 3]> = points.into_iter().filter(finite).collect();
        let every = points.len().div_ceil(MOST_POINTS).max(1);
        let groups = points.chunks(every).map(|group| {
            let low = group.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min);
            let high = group.iter().map(|p| p[2]).fold(f64::NEG_INFINITY, f64::max);
            [group[0][0], low, high]
        });
        let groups: Vec<[f64; 3]> = groups.collect();
        let there = groups.iter().map(|[x, low, _]| self.place([*x, *low]));
        let back = groups.iter().rev();
        let back = back.map(|[x, _, high]| self.place([*x, *high]));
        let data = line_data(there.chain(back));
        if !groups.is_empty() {
            let band = html! { path class=(class) d={ (data) "Z" } {} };
            self.parts.push(band);
        }
    }

    /// A band with its two ends for each step, of which the first is number `first`.
    pub fn band_over_steps(&mut self, class: &str, low: &[Number], high: &[Number], first: usize) {
        let ends = low.iter().zip(high).enumerate();
        let points = ends.map(|(step, (low, high))| [(step + first) as f64, low.0, high.0]);
        self.band(class, points);
    }

    /// Dots with radii in the picture's units.
    pub fn dots(&mut self, class: &str, points: impl IntoIterator<Item = ([f64; 2], f64)>) {
        for (point, radius) in points {
            if point.iter().all(|x| x.is_finite()) && radius.is_finite() {
                let dot = dot(class, self.place(point), radius);
                self.parts.push(dot);
            }
        }
    }

    /// A line across at a height.
    pub fn level(&mut self, class: &str, y: f64) {
        let Range { low, high } = self.x;
        self.line(class, [[low, y], [high, y]]);
    }

    /// A line down at a place.
    pub fn plumb(&mut self, class: &str, x: f64) {
        let Range { low, high } = self.y;
        self.line(class, [[x, low], [x, high]]);
    }

    pub fn finish(self) -> Markup {
        let Frame {
            id,
            title,
            description,
            size,
            ..
        } = *self.frame;
        let body = html! { @for part in &self.parts { (part) } };
        described_svg([id, title, description], size, &body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame<'static> = Frame {
        id: "a",
        title: "<t>",
        description: "d",
        size: [270.0, 150.0],
        x_label: "x",
        y_label: "y",
    };

    #[test]
    fn names_stand_evenly_below_their_points() {
        let names = ["1", "20"].map(str::to_owned);
        let mut chart = Chart::over_names(&FRAME, names, Range::exact(0.0, 1.0));
        chart.dots("probe", [([0.0, 0.0], 3.0), ([1.0, 1.0], 3.0)]);
        let text = chart.finish().into_string();
        // 58 to 258 is the axis; its quarters are at 108 and 208.
        for x in ["108.00", "208.00"] {
            for part in [format!("<text x=\"{x}\""), format!("cx=\"{x}\"")] {
                assert_eq!(text.matches(&part).count(), 1, "{part} in {text}");
            }
        }
        assert!(text.contains(">20</text>"));
    }

    #[test]
    fn long_lines_are_thinned_and_keep_their_end() {
        let frame = Frame {
            size: [400.0, 200.0],
            ..FRAME
        };
        let mut chart = Chart::new(&frame, Range::exact(0.0, 1e4), Range::exact(0.0, 1.0));
        chart.line("probe", (0..=10_000).map(|i| [f64::from(i), 0.5]));
        let text = chart.finish().into_string();
        let probe = text.split("class=\"probe\"").nth(1).unwrap_or_default();
        let probe = probe.split('>').next().unwrap_or_default();
        assert!(probe.matches('L').count() < 320);
        assert!(probe.contains("L388.00 85.00\""), "{probe}");
        assert!(text.contains("&lt;t&gt;"));
    }
}
