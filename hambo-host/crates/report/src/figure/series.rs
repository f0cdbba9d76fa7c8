//! Panels of lines with error bars, side by side: returns against the size of a log or the
//! horizon.
//!
//! Every line has a colour, a mark and a dash of its own, so that none has to be told by its
//! colour alone.

use super::FigureError;
use super::error::check_finite;
use super::svg::{Element, line_data};

const PANEL: f64 = 430.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 76.0;
const TOP: f64 = 148.0;
const GAP: f64 = 150.0;
const QUIET: &str = "#5b6570";
const GRID: &str = "#dde2e8";
/// No picture is narrower, so that its headings have room.
const LEAST_WIDTH: f64 = 900.0;
/// How far lines stand apart, so that their error bars do not hide each other.
const APART: f64 = 4.0;
/// Where a legend entry begins after the last.
const ENTRY: f64 = 150.0;

/// Lines in panels.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesFigure {
    /// Above all.
    pub title: String,
    /// What the axes mean, in one line or two.
    pub subtitle: Vec<String>,
    /// From left to right.
    pub panels: Vec<SeriesPanel>,
}

/// One panel.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesPanel {
    /// Above it.
    pub title: String,
    /// Below its horizontal axis.
    pub x_label: String,
    /// How that is divided.
    pub x_scale: Scale,
    /// Beside its vertical axis.
    pub y_label: String,
    /// The ends of the vertical axis; what lies below is drawn at the lower edge.
    pub y_range: (f64, f64),
    /// Horizontal lines with their names; those beyond the axis are left out.
    pub levels: Vec<(f64, String)>,
    /// The lines.
    pub series: Vec<Series>,
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, with a tick at round numbers.
    Linear,
    /// By powers, with a tick at every place that has a point.
    Logarithmic,
}

impl Scale {
    fn of(self, x: f64) -> f64 {
        match self {
            Self::Linear => x,
            Self::Logarithmic => x.log10(),
        }
    }
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// In the legend; lines of one name in several panels have one entry.
    pub name: String,
    /// How it is drawn.
    pub style: SeriesStyle,
    /// From left to right.
    pub points: Vec<SeriesPoint>,
}

/// A point with the length of its error bar to each side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesPoint {
    /// Above 0 where the axis is logarithmic.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// Half the error bar.
    pub error: f64,
}

/// Looks of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesStyle {
    /// Of Okabe and Ito's palette, which colour-blind readers can tell apart.
    pub colour: &'static str,
    /// At every point.
    pub mark: Mark,
    /// Dashes of the line, as SVG takes them; empty for none.
    pub dash: &'static str,
}

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A triangle that points up.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A ring.
    Ring,
    /// A cross.
    Cross,
    /// None, for lines of many points.
    None,
}

impl SeriesFigure {
    /// The figure as SVG text.
    ///
    /// # Errors
    /// If there is no panel or no point, or a number is not finite.
    pub fn to_svg(&self) -> Result<String, FigureError> {
        for panel in &self.panels {
            let points = || panel.series.iter().flat_map(|series| &series.points);
            check_finite(
                "points",
                points().map(|p| [panel.x_scale.of(p.x) as f32, p.y as f32, p.error as f32]),
            )?;
            if points().next().is_none() {
                return Err(FigureError::Empty { what: "points" });
            }
        }
        if self.panels.is_empty() {
            return Err(FigureError::Empty { what: "panels" });
        }
        let legend = self.legend();
        let columns = ((self.width() - 2.0 * 40.0) / ENTRY).floor().max(1.0) as usize;
        let rows = legend.len().div_ceil(columns);
        let bottom = TOP + HEIGHT + 92.0;
        let height = bottom + 30.0 * rows as f64 + 8.0;
        let mut svg = Element::new("svg")
            .set("xmlns", "http://www.w3.org/2000/svg")
            .set("width", self.width())
            .set("height", height)
            .set("viewBox", format!("0 0 {} {height}", self.width()))
            .set("role", "img")
            .set("font-family", "Inter, 'Helvetica Neue', Arial, sans-serif")
            .set("font-size", 17.0)
            .set("fill", "#1d232b")
            .with(Element::new("title").text(&self.title))
            .with(rectangle(0.0, 0.0, self.width(), height).set("fill", "#ffffff"))
            .with(text(40.0, 44.0, "start", &self.title).set("font-size", 25.0));
        for (y, line) in [72.0, 96.0].into_iter().zip(&self.subtitle) {
            svg.push(text(40.0, y, "start", line).set("fill", QUIET));
        }
        for (place, panel) in self.panels.iter().enumerate() {
            let left = LEFT + place as f64 * (PANEL + GAP);
            panel.draw(left, &mut svg);
        }
        for (place, (name, style)) in legend.into_iter().enumerate() {
            let x = 40.0 + (place % columns) as f64 * ENTRY;
            let y = bottom + 30.0 * (place / columns) as f64;
            svg.push(stroke([[x, y], [x + 36.0, y]], style));
            if let Some(mark) = mark([x + 18.0, y], style) {
                svg.push(mark);
            }
            svg.push(text(x + 46.0, y + 6.0, "start", name));
        }
        Ok(svg.to_text())
    }

    fn width(&self) -> f64 {
        let panels = LEFT + self.panels.len() as f64 * (PANEL + GAP);
        panels.max(LEAST_WIDTH)
    }

    /// Each name once, in order.
    fn legend(&self) -> Vec<(&str, SeriesStyle)> {
        let mut entries: Vec<(&str, SeriesStyle)> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if !entries.iter().any(|(name, _)| *name == series.name) {
                entries.push((&series.name, series.style));
            }
        }
        entries
    }
}

/// The scales of a panel.
struct Axes {
    left: f64,
    scale: Scale,
    x: (f64, f64),
    y: (f64, f64),
}

impl Axes {
    fn x(&self, x: f64) -> f64 {
        let share = (self.scale.of(x) - self.x.0) / (self.x.1 - self.x.0);
        self.left + 24.0 + share * (PANEL - 48.0)
    }

    fn y(&self, y: f64) -> f64 {
        let share = (y.clamp(self.y.0, self.y.1) - self.y.0) / (self.y.1 - self.y.0);
        TOP + HEIGHT - share * HEIGHT
    }
}

impl SeriesPanel {
    fn draw(&self, left: f64, svg: &mut Element) {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let scale = self.x_scale;
        let lowest = points().map(|p| scale.of(p.x)).fold(f64::MAX, f64::min);
        let highest = points().map(|p| scale.of(p.x)).fold(f64::MIN, f64::max);
        let axes = Axes {
            left,
            scale,
            // One place alone stands in the middle.
            x: match highest - lowest < 1e-9 {
                true => (lowest - 0.5, highest + 0.5),
                false => (lowest, highest),
            },
            y: self.y_range,
        };
        svg.push(text(left, TOP - 16.0, "start", &self.title).set("font-weight", "600"));
        for tick in ticks(self.y_range) {
            let y = axes.y(tick);
            svg.push(path([[left, y], [left + PANEL, y]], GRID));
            let words = tick_text(tick);
            svg.push(text(left - 10.0, y + 6.0, "end", &words).set("fill", QUIET));
        }
        let mut places: Vec<f64> = match scale {
            Scale::Linear => ticks((lowest, highest)),
            Scale::Logarithmic => points().map(|p| p.x).collect(),
        };
        places.sort_by(f64::total_cmp);
        places.dedup();
        let mut last = f64::MIN;
        for place in places {
            let x = axes.x(place);
            svg.push(path([[x, TOP + HEIGHT], [x, TOP + HEIGHT + 6.0]], QUIET));
            // Names that would run into each other are left out.
            if x - last > 52.0 {
                let label = text(x, TOP + HEIGHT + 26.0, "middle", &place_text(place));
                svg.push(label.set("fill", QUIET));
                last = x;
            }
        }
        let middle = left + 0.5 * PANEL;
        svg.push(text(middle, TOP + HEIGHT + 52.0, "middle", &self.x_label));
        let (x, y) = (left - 56.0, TOP + 0.5 * HEIGHT);
        let turned = format!("rotate(-90 {x:.2} {y:.2})");
        svg.push(text(x, y, "middle", &self.y_label).set("transform", turned));
        let seen = self.y_range.0..=self.y_range.1;
        for (level, name) in self.levels.iter().filter(|(level, _)| seen.contains(level)) {
            let y = axes.y(*level);
            svg.push(path([[left, y], [left + PANEL, y]], "#1d232b").set("stroke-width", 1.5));
            svg.push(text(left + PANEL + 6.0, y + 5.0, "start", name).set("font-size", 15.0));
        }
        for (place, series) in self.series.iter().enumerate() {
            let aside = match scale {
                Scale::Linear => 0.0,
                Scale::Logarithmic => {
                    APART * (place as f64 - 0.5 * (self.series.len() as f64 - 1.0))
                }
            };
            let at = |p: &SeriesPoint| [axes.x(p.x) + aside, axes.y(p.y)];
            svg.push(stroke(series.points.iter().map(at), series.style));
            for point in &series.points {
                let [x, y] = at(point);
                let Some(mark) = mark([x, y], series.style) else {
                    break;
                };
                if point.y < self.y_range.0 {
                    svg.push(below([x, y], series.style));
                    continue;
                }
                let (low, high) = (axes.y(point.y - point.error), axes.y(point.y + point.error));
                svg.push(path([[x, low], [x, high]], series.style.colour));
                svg.push(mark);
            }
        }
    }
}

/// About five round numbers.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    let step = steps.into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

fn tick_text(tick: f64) -> String {
    // Rounded first: no minus before a zero.
    let rounded = (1000.0 * tick).round() / 1000.0 + 0.0;
    rounded.to_string().replace('-', "−")
}

/// 30000 as 30k, 1500 as it is.
fn place_text(place: f64) -> String {
    let thousands = place / 1000.0;
    if place >= 10_000.0 && thousands.fract() == 0.0 {
        return format!("{thousands}k");
    }
    place.to_string()
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> Element {
    Element::new("text")
        .set("x", x)
        .set("y", y)
        .set("text-anchor", anchor)
        .text(words)
}

fn rectangle(x: f64, y: f64, width: f64, height: f64) -> Element {
    Element::new("rect")
        .set("x", x)
        .set("y", y)
        .set("width", width)
        .set("height", height)
}

fn path(points: [[f64; 2]; 2], colour: &str) -> Element {
    Element::new("path")
        .set("d", line_data(points))
        .set("stroke", colour)
        .set("fill", "none")
}

fn stroke(points: impl IntoIterator<Item = [f64; 2]>, style: SeriesStyle) -> Element {
    let line = Element::new("path")
        .set("d", line_data(points))
        .set("stroke", style.colour)
        .set("stroke-width", 2.5)
        .set("fill", "none");
    match style.dash {
        "" => line,
        dash => line.set("stroke-dasharray", dash),
    }
}

/// The mark of what lies below the chart: a triangle that points down.
fn below([x, y]: [f64; 2], style: SeriesStyle) -> Element {
    polygon(
        &[[x - 7.0, y - 12.0], [x + 7.0, y - 12.0], [x, y]],
        style.colour,
    )
}

fn polygon(corners: &[[f64; 2]], colour: &str) -> Element {
    let data = line_data(corners.iter().copied()) + "Z";
    Element::new("path").set("d", data).set("fill", colour)
}

fn mark([x, y]: [f64; 2], style: SeriesStyle) -> Option<Element> {
    let disc = Element::new("circle").set("cx", x).set("cy", y);
    let mark = match style.mark {
        Mark::None => return None,
        Mark::Disc => disc.set("r", 5.5).set("fill", style.colour),
        Mark::Ring => disc
            .set("r", 5.0)
            .set("fill", "#ffffff")
            .set("stroke", style.colour)
            .set("stroke-width", 2.5),
        Mark::Square => rectangle(x - 5.0, y - 5.0, 10.0, 10.0).set("fill", style.colour),
        Mark::Triangle => polygon(
            &[[x - 6.5, y + 5.0], [x + 6.5, y + 5.0], [x, y - 7.0]],
            style.colour,
        ),
        Mark::Diamond => polygon(
            &[[x - 7.0, y], [x, y - 7.0], [x + 7.0, y], [x, y + 7.0]],
            style.colour,
        ),
        Mark::Cross => {
            let one = line_data([[x - 5.0, y - 5.0], [x + 5.0, y + 5.0]]);
            let other = line_data([[x - 5.0, y + 5.0], [x + 5.0, y - 5.0]]);
            Element::new("path")
                .set("d", one + &other)
                .set("stroke", style.colour)
                .set("stroke-width", 2.5)
        }
    };
    Some(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> SeriesFigure {
        let style = SeriesStyle {
            colour: "#0072B2",
            mark: Mark::Disc,
            dash: "",
        };
        let point = |x, y| SeriesPoint { x, y, error: 0.05 };
        let series = Series {
            name: "CA".to_owned(),
            style,
            points: vec![point(1e4, -3.0), point(1e5, 0.5)],
        };
        let panel = SeriesPanel {
            title: "Pendulum".to_owned(),
            x_label: "transitions n".to_owned(),
            x_scale: Scale::Logarithmic,
            y_label: "scaled return".to_owned(),
            y_range: (-1.0, 1.2),
            levels: vec![(1.0, "truth".to_owned()), (-2.0, "random".to_owned())],
            series: vec![series],
        };
        SeriesFigure {
            title: "Bounds".to_owned(),
            subtitle: vec!["scaled".to_owned()],
            panels: vec![panel.clone(), panel],
        }
    }

    #[test]
    fn a_name_in_two_panels_has_one_entry_and_what_is_too_low_a_triangle() {
        let figure = figure();
        assert_eq!(figure.legend().len(), 1);
        let svg = figure.to_svg().unwrap();
        assert_eq!(svg.matches(">CA<").count(), 1);
        // One disc in each panel and one in the legend; the low point is a triangle.
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(svg.matches(">10k<").count(), 2);
        assert_eq!(svg.matches(">−0.5<").count(), 2);
        assert_eq!(
            (svg.matches(">truth<").count(), svg.contains(">random<")),
            (2, false)
        );
    }

    #[test]
    fn what_cannot_be_drawn_is_an_error() {
        let mut bad = figure();
        bad.panels[0].series[0].points[0].y = f64::NAN;
        assert!(bad.to_svg().is_err());
        bad.panels[0].series[0].points.clear();
        assert!(matches!(bad.to_svg(), Err(FigureError::Empty { .. })));
        bad.panels.clear();
        assert!(matches!(bad.to_svg(), Err(FigureError::Empty { .. })));
    }

    #[test]
    fn ticks_are_round_and_within_the_range() {
        assert_eq!(
            ticks((0.0, 1.0)),
            [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]
        );
        assert_eq!(tick_text(0.6000000000000001), "0.6");
        assert_eq!(ticks((-700.0, 0.0)).len(), 4);
    }
}
