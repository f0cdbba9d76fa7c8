//! Line charts as SVG in the colours of the page's style sheet, which changes
//! with the reader's light or dark setting.

use super::html::readable;
use crate::figure::svg::{Element, line_data};

/// The most points of a line: more than the eye can tell apart.
const MOST_POINTS: usize = 300;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 40.0;

/// What a chart says to those who do not see it, and its axes.
pub(in crate::report) struct Frame<'a> {
    /// Unique on the page.
    pub id: &'a str,
    /// Its name.
    pub title: &'a str,
    /// What it shows.
    pub description: &'a str,
    /// Width and height.
    pub size: [f64; 2],
    /// The name of the horizontal axis.
    pub x_label: &'a str,
    /// The name of the vertical axis.
    pub y_label: &'a str,
}

/// A chart under way.
pub(in crate::report) struct Chart {
    size: [f64; 2],
    x: Range,
    y: Range,
    body: Element,
}

/// What an axis spans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct Range {
    low: f64,
    high: f64,
}

/// Steps between ticks from which on they are written with an exponent.
const LARGE: f64 = 1e5;

impl Range {
    /// The finite ones of these numbers, with a little room; never empty.
    pub(in crate::report) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut range = Self {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        };
        // Beyond this a difference would not be finite.
        let drawable = |value: &f64| value.abs() < 1e300;
        for value in values.into_iter().filter(drawable) {
            range.low = range.low.min(value);
            range.high = range.high.max(value);
        }
        if range.low > range.high {
            return Self {
                low: 0.0,
                high: 1.0,
            };
        }
        let width = range.high - range.low;
        let room = if width > 1e-9 * range.high.abs().max(1e-9) {
            0.05 * width
        } else {
            0.5 * range.high.abs().max(1e-6)
        };
        Self {
            low: range.low - room,
            high: range.high + room,
        }
    }

    /// Exactly from here to there.
    pub(in crate::report) fn exact(low: f64, high: f64) -> Self {
        Self {
            low,
            high: high.max(low + 1e-9),
        }
    }

    /// Where a number lies: 0 at the low end, 1 at the high one.
    pub(in crate::report) fn share(&self, value: f64) -> f64 {
        // Wild data must not overflow the picture's numbers.
        ((value - self.low) / (self.high - self.low)).clamp(-1.0, 2.0)
    }

    /// Whether a number lies inside.
    pub(in crate::report) fn holds(&self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }

    /// The distance of about `wanted` round numbers.
    fn step(&self, wanted: f64) -> f64 {
        let rough = (self.high - self.low) / wanted;
        let power = 10_f64.powf(rough.log10().floor());
        match rough / power {
            part if part < 1.5 => power,
            part if part < 3.0 => 2.0 * power,
            part if part < 7.0 => 5.0 * power,
            _ => 10.0 * power,
        }
    }

    /// Round numbers inside, about `wanted` of them.
    pub(in crate::report) fn ticks(&self, wanted: f64) -> Vec<f64> {
        let step = self.step(wanted);
        let first = (self.low / step).ceil();
        let ticks = (0..50).map(|i| (first + f64::from(i)) * step);
        ticks
            .take_while(|tick| *tick <= self.high + 1e-9 * step)
            .collect()
    }

    /// A tick in as many digits as tell it from its neighbours.
    pub(in crate::report) fn label(&self, tick: f64, wanted: f64) -> String {
        let step = self.step(wanted);
        // What is left of zero by rounding.
        let tick = if tick.abs() < 1e-6 * step { 0.0 } else { tick };
        if step >= LARGE && tick != 0.0 {
            let digits = (tick.abs().log10().floor() - step.log10().floor()).max(0.0);
            return format!("{tick:.0$e}", digits as usize).replace('-', "−");
        }
        if tick != 0.0 && !(1e-4..1e7).contains(&tick.abs()) {
            return readable(tick);
        }
        let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
        format!("{tick:.decimals$}").replace('-', "−")
    }
}

impl Chart {
    /// A frame with axes and a grid.
    pub(in crate::report) fn new(frame: &Frame<'_>, x: Range, y: Range) -> Self {
        let wanted = (frame.size[0] / 90.0).max(2.0);
        let ticks = x.ticks(wanted).into_iter();
        let ticks = ticks.map(|tick| (tick, x.label(tick, wanted)));
        Self::with_ticks(frame, x, y, &ticks.collect::<Vec<_>>())
    }

    /// The same where the horizontal axis has names, evenly spaced: the first is at 0, the
    /// next at 1.
    pub(in crate::report) fn over_names(
        frame: &Frame<'_>,
        names: impl IntoIterator<Item = String>,
        y: Range,
    ) -> Self {
        let ticks: Vec<(f64, String)> = (0..).map(f64::from).zip(names).collect();
        let x = Range::exact(-0.5, ticks.len() as f64 - 0.5);
        Self::with_ticks(frame, x, y, &ticks)
    }

    fn with_ticks(frame: &Frame<'_>, x: Range, y: Range, ticks: &[(f64, String)]) -> Self {
        let [width, height] = frame.size;
        let ids = [format!("{}-title", frame.id), format!("{}-text", frame.id)];
        let body = Element::new("svg")
            .set("viewBox", format!("0 0 {width:.0} {height:.0}"))
            .set("width", format!("{width:.0}"))
            .set("height", format!("{height:.0}"))
            .set("role", "img")
            .set("aria-labelledby", ids.join(" "))
            .with(
                Element::new("title")
                    .set("id", ids[0].clone())
                    .text(frame.title),
            )
            .with(
                Element::new("desc")
                    .set("id", ids[1].clone())
                    .text(frame.description),
            );
        let mut chart = Self {
            size: frame.size,
            x,
            y,
            body,
        };
        chart.axes(frame, ticks);
        chart
    }

    fn axes(&mut self, frame: &Frame<'_>, ticks: &[(f64, String)]) {
        let [width, height] = self.size;
        for tick in self.y.ticks(4.0) {
            let [_, y] = self.place([self.x.low, tick]);
            self.stroke("grid", &[[LEFT, y], [width - RIGHT, y]]);
            self.label([LEFT - 6.0, y + 4.0], "end", &self.y.label(tick, 4.0));
        }
        for (tick, text) in ticks {
            let [x, _] = self.place([*tick, self.y.low]);
            self.stroke("tick", &[[x, height - BOTTOM], [x, height - BOTTOM + 4.0]]);
            self.label([x, height - BOTTOM + 17.0], "middle", text);
        }
        self.stroke(
            "axis",
            &[[LEFT, height - BOTTOM], [width - RIGHT, height - BOTTOM]],
        );
        let middle = 0.5 * (LEFT + width - RIGHT);
        self.label([middle, height - 6.0], "middle", frame.x_label);
        let turned = Element::new("text")
            .set("x", -0.5 * (TOP + height - BOTTOM))
            .set("y", 12.0)
            .set("transform", "rotate(-90)")
            .set("text-anchor", "middle");
        self.body.push(turned.text(frame.y_label));
    }

    /// A data point in the picture.
    fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [width, height] = self.size;
        [
            LEFT + self.x.share(x) * (width - LEFT - RIGHT),
            height - BOTTOM - self.y.share(y) * (height - TOP - BOTTOM),
        ]
    }

    fn stroke(&mut self, class: &str, places: &[[f64; 2]]) {
        let data = line_data(places.iter().copied());
        let path = Element::new("path").set("class", class).set("d", data);
        self.body.push(path);
    }

    fn label(&mut self, at: [f64; 2], anchor: &str, text: &str) {
        let label = Element::new("text")
            .set("x", at[0])
            .set("y", at[1])
            .set("text-anchor", anchor);
        self.body.push(label.text(text));
    }

    /// A line through data points; numbers that are not finite are left out.
    pub(in crate::report) fn line(
        &mut self,
        class: &str,
        points: impl IntoIterator<Item = [f64; 2]>,
    ) {
        let points = points
            .into_iter()
            .filter(|[x, y]| x.is_finite() && y.is_finite());
        let places: Vec<[f64; 2]> = points.map(|point| self.place(point)).collect();
        let every = places.len().div_ceil(MOST_POINTS).max(1);
        let last = places.len().saturating_sub(1);
        let kept = places.iter().enumerate();
        let kept = kept.filter(|(i, _)| i.is_multiple_of(every) || *i == last);
        let kept: Vec<[f64; 2]> = kept.map(|(_, place)| *place).collect();
        if !kept.is_empty() {
            self.stroke(class, &kept);
        }
    }

    /// A band between two lines: x, low, high. Where there are more points
    /// than are drawn, the widest of the neighbours is.
    pub(in crate::report) fn band(
        &mut self,
        class: &str,
        points: impl IntoIterator<Item = [f64; 3]>,
    ) {
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
        let back = groups
            .iter()
            .rev()
            .map(|[x, _, high]| self.place([*x, *high]));
        let data = line_data(there.chain(back));
        if !groups.is_empty() {
            let path = Element::new("path").set("class", class);
            self.body.push(path.set("d", format!("{data}Z")));
        }
    }

    /// Dots with radii in the picture's units.
    pub(in crate::report) fn dots(
        &mut self,
        class: &str,
        points: impl IntoIterator<Item = ([f64; 2], f64)>,
    ) {
        for (point, radius) in points {
            if !point.iter().all(|x| x.is_finite()) || !radius.is_finite() {
                continue;
            }
            let [x, y] = self.place(point);
            let dot = Element::new("circle")
                .set("class", class)
                .set("cx", x)
                .set("cy", y)
                .set("r", radius);
            self.body.push(dot);
        }
    }

    /// A line across at a height.
    pub(in crate::report) fn level(&mut self, class: &str, y: f64) {
        let (low, high) = (self.x.low, self.x.high);
        if y.is_finite() {
            self.line(class, [[low, y], [high, y]]);
        }
    }

    /// A line down at a place.
    pub(in crate::report) fn plumb(&mut self, class: &str, x: f64) {
        let (low, high) = (self.y.low, self.y.high);
        if x.is_finite() {
            self.line(class, [[x, low], [x, high]]);
        }
    }

    /// The chart as text.
    pub(in crate::report) fn finish(self) -> String {
        self.body.to_text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(
            Range::exact(0.0, 10.0).ticks(5.0),
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        );
        assert_eq!(
            Range::exact(-150.0, 40.0).ticks(4.0),
            [-150.0, -100.0, -50.0, 0.0]
        );
    }

    #[test]
    fn labels_tell_neighbours_apart() {
        let range = Range::exact(1000.0, 1001.0);
        let labels: Vec<String> = range
            .ticks(4.0)
            .iter()
            .map(|x| range.label(*x, 4.0))
            .collect();
        assert_eq!(
            labels,
            ["1000.0", "1000.2", "1000.4", "1000.6", "1000.8", "1001.0"]
        );
        // Long numbers would run into the name of the axis.
        let range = Range::exact(-1.4e7, 0.0);
        assert_eq!(range.label(-1.4e7, 7.0), "−1.4e7");
        assert_eq!(range.label(-2e6, 7.0), "−2e6");
        assert_eq!(range.label(0.0, 7.0), "0");
        let range = Range::exact(-1.0, 1.0);
        let labels: Vec<String> = range
            .ticks(4.0)
            .iter()
            .map(|x| range.label(*x, 4.0))
            .collect();
        assert_eq!(labels, ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
    }

    #[test]
    fn names_stand_evenly_below_their_points() {
        let frame = Frame {
            id: "a",
            title: "t",
            description: "d",
            size: [270.0, 150.0],
            x_label: "x",
            y_label: "y",
        };
        let names = ["1", "20"].map(str::to_owned);
        let mut chart = Chart::over_names(&frame, names, Range::exact(0.0, 1.0));
        chart.dots("probe", [([0.0, 0.0], 3.0), ([1.0, 1.0], 3.0)]);
        let text = chart.finish();
        // 58 to 258 is the axis; its quarters are at 108 and 208.
        for x in ["108.00", "208.00"] {
            assert_eq!(
                text.matches(&format!("<text x=\"{x}\"")).count(),
                1,
                "{text}"
            );
            assert_eq!(text.matches(&format!("cx=\"{x}\"")).count(), 1, "{text}");
        }
        assert!(text.contains(">20</text>"));
    }

    #[test]
    fn wild_numbers_leave_a_range() {
        let range = Range::of([f64::NAN, f64::INFINITY]);
        assert_eq!((range.low, range.high), (0.0, 1.0));
        let range = Range::of([3.0, f64::NAN, 3.0]);
        assert!(range.low < 3.0 && range.high > 3.0 && !range.ticks(4.0).is_empty());
    }

    #[test]
    fn long_lines_are_thinned_and_keep_their_end() {
        let frame = Frame {
            id: "a",
            title: "<t>",
            description: "d",
            size: [400.0, 200.0],
            x_label: "x",
            y_label: "y",
        };
        let mut chart = Chart::new(&frame, Range::exact(0.0, 1e4), Range::exact(0.0, 1.0));
        chart.line("probe", (0..=10_000).map(|i| [f64::from(i), 0.5]));
        let text = chart.finish();
        let probe = text.split("class=\"probe\"").nth(1).unwrap_or_default();
        let probe = probe.split("/>").next().unwrap_or_default();
        assert!(probe.matches('L').count() < 320);
        assert!(probe.contains("L388.00 85.00\""), "{probe}");
        assert!(text.contains("&lt;t&gt;"));
    }
}
