//! Panels of lines with error bars, side by side: returns against the size of a log or the
//! horizon.
//!
//! Every line has a colour, a mark and a dash of its own, so that none has to be told by its
//! colour alone.

use maud::{Markup, html};

use super::error::{FigureError, check_finite};
use crate::range::Range;
use crate::svg::{label, line_data, px, sheet, stroke};

/// The width of a panel beside others, and of one alone.
const PANEL: [f64; 2] = [430.0, 760.0];
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 108.0;
const TOP: f64 = 160.0;
/// Between panels: room for names of levels, the next axis' name and its ticks.
const GAP: f64 = 196.0;
/// At the left and right of titles and the legend.
const MARGIN: f64 = 40.0;
/// No picture is narrower, so that its headings have room.
const LEAST_WIDTH: f64 = 900.0;
/// How far lines stand apart, so that their error bars do not hide each other.
const APART: f64 = 4.0;
/// At least the width of a letter, on average.
const LETTER: f64 = 9.5;

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
    /// A shaded part, left of an x, and the names of both sides.
    pub zone: Option<(f64, [String; 2])>,
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
    Disc,
    /// A large disc on a broad line, on which another line still shows.
    LargeDisc,
    Square,
    /// A triangle that points up.
    Triangle,
    /// A square on its corner.
    Diamond,
    Ring,
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
        let panel = PANEL[usize::from(self.panels.len() == 1)];
        let named = self.panels.iter().any(|panel| !panel.levels.is_empty());
        let right = if named { 136.0 } else { MARGIN };
        let width = LEFT + self.panels.len() as f64 * (panel + GAP) - GAP + right;
        let width = width.max(LEAST_WIDTH);
        let legend = self.legend();
        let longest = legend.iter().map(|(name, _)| name.chars().count()).max();
        let entry = 76.0 + LETTER * longest.unwrap_or(0) as f64;
        let columns = ((width - 2.0 * MARGIN) / entry).floor().max(1.0) as usize;
        let bottom = TOP + HEIGHT + 96.0;
        let height = bottom + 30.0 * legend.len().div_ceil(columns) as f64 + 8.0;
        let body = html! {
            (label("title", [MARGIN, 50.0], "start", &self.title))
            @for (y, line) in [80.0, 104.0].into_iter().zip(&self.subtitle) {
                (label("quiet", [MARGIN, y], "start", line))
            }
            @for (place, one) in self.panels.iter().enumerate() {
                (one.draw(LEFT + place as f64 * (panel + GAP), panel))
            }
            @for (place, (name, style)) in legend.into_iter().enumerate() {
                @let x = MARGIN + (place % columns) as f64 * entry;
                @let y = bottom + 30.0 * (place / columns) as f64;
                (style.line([[x, y], [x + 36.0, y]]))
                (style.mark([x + 18.0, y]))
                (label("", [x + 46.0, y + 6.0], "start", name))
            }
        };
        Ok(sheet([width, height], &self.title, "", &body))
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
    width: f64,
    scale: Scale,
    x: Range,
    y: Range,
}

impl Axes {
    fn x(&self, x: f64) -> f64 {
        self.left + 24.0 + self.x.share(self.scale.of(x)) * (self.width - 48.0)
    }

    fn y(&self, y: f64) -> f64 {
        TOP + HEIGHT * (1.0 - self.y.share(y).clamp(0.0, 1.0))
    }
}

impl SeriesPanel {
    fn draw(&self, left: f64, width: f64) -> Markup {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let places = || points().map(|p| self.x_scale.of(p.x));
        let (low, high) = places().fold((f64::MAX, f64::MIN), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        // One place alone stands in the middle.
        let room = if high - low < 1e-9 { 0.5 } else { 0.0 };
        let axes = Axes {
            left,
            width,
            scale: self.x_scale,
            x: Range::exact(low - room, high + room),
            y: Range::exact(self.y_range.0, self.y_range.1),
        };
        let mut places: Vec<(f64, String)> = match self.x_scale {
            Scale::Linear => Range::exact(low, high).ticks(6.0),
            Scale::Logarithmic => points().map(|p| (p.x, thousands(p.x))).collect(),
        };
        places.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        places.dedup();
        let (right, floor) = (left + width, TOP + HEIGHT);
        let ticks = axes.y.ticks(5.0);
        let longest = ticks.iter().map(|(_, words)| words.chars().count()).max();
        // Left of the longest tick.
        let beside = left - 26.0 - LETTER * longest.unwrap_or(0) as f64;
        let (beside, half) = (px(beside), px(TOP + 0.5 * HEIGHT));
        // Names that would run into each other are left out.
        let mut last = f64::MIN;
        for (place, words) in &mut places {
            if axes.x(*place) - last > 52.0 {
                last = axes.x(*place);
            } else {
                words.clear();
            }
        }
        html! {
            rect class="panel" x=(px(left)) y=(px(TOP)) width=(px(width)) height=(px(HEIGHT)) {}
            (label("name", [left, TOP - 16.0], "start", &self.title))
            @if let Some((border, names)) = &self.zone {
                @let x = axes.x(*border).clamp(left, right);
                rect class="zone" x=(px(left)) y=(px(TOP)) width=(px(x - left)) height=(px(HEIGHT)) {}
                (stroke("danger", [[x, TOP], [x, floor]]))
                (label("name danger", [x - 10.0, TOP + 26.0], "end", &names[0]))
                (label("name safe", [x + 10.0, TOP + 26.0], "start", &names[1]))
            }
            @for (tick, words) in ticks {
                @let y = axes.y(tick);
                (stroke("grid", [[left, y], [right, y]]))
                (label("quiet", [left - 10.0, y + 6.0], "end", &words))
            }
            @for (place, words) in places {
                @let x = axes.x(place);
                (stroke("tick", [[x, floor], [x, floor + 6.0]]))
                (label("quiet", [x, floor + 26.0], "middle", &words))
            }
            (label("", [left + 0.5 * width, floor + 54.0], "middle", &self.x_label))
            text x=(beside) y=(half) text-anchor="middle" transform={ "rotate(-90 " (beside) " " (half) ")" } {
                (self.y_label)
            }
            @for (level, name) in self.levels.iter().filter(|(level, _)| axes.y.contains(*level)) {
                @let y = axes.y(*level);
                (stroke("truth", [[left, y], [right, y]]))
                (label("small", [right + 8.0, y + 5.0], "start", name))
            }
            @for (place, series) in self.series.iter().enumerate() {
                (self.lines(&axes, place, series))
            }
        }
    }

    fn lines(&self, axes: &Axes, place: usize, series: &Series) -> Markup {
        let middle = 0.5 * (self.series.len() as f64 - 1.0);
        let aside = match self.x_scale {
            Scale::Linear => 0.0,
            Scale::Logarithmic => APART * (place as f64 - middle),
        };
        let at = |p: &SeriesPoint| [axes.x(p.x) + aside, axes.y(p.y)];
        let style = series.style;
        html! {
            (style.line(series.points.iter().map(at)))
            @for point in series.points.iter().filter(|_| style.mark != Mark::None) {
                @let [x, y] = at(point);
                @if point.y < self.y_range.0 {
                    // Below the chart: a triangle that points down.
                    (style.polygon(&[[x - 7.0, y - 12.0], [x + 7.0, y - 12.0], [x, y]]))
                } @else {
                    @let ends = [point.y - point.error, point.y + point.error];
                    path d=(line_data(ends.map(|end| [x, axes.y(end)]))) stroke=(style.colour) {}
                    (style.mark([x, y]))
                }
            }
        }
    }
}

/// 30000 as 30k, 1500 as it is.
fn thousands(place: f64) -> String {
    let thousands = place / 1000.0;
    if place >= 10_000.0 && thousands.fract() == 0.0 {
        return format!("{thousands}k");
    }
    place.to_string()
}

impl SeriesStyle {
    fn line(self, points: impl IntoIterator<Item = [f64; 2]>) -> Markup {
        let width = if self.mark == Mark::LargeDisc {
            "6"
        } else {
            "2.5"
        };
        let dash = (!self.dash.is_empty()).then_some(self.dash);
        html! { path d=(line_data(points)) stroke=(self.colour) stroke-width=(width) stroke-dasharray=[dash] {} }
    }

    fn polygon(self, corners: &[[f64; 2]]) -> Markup {
        let data = line_data(corners.iter().copied()) + "Z";
        html! { path d=(data) style={ "fill:" (self.colour) } {} }
    }

    fn disc(self, [x, y]: [f64; 2], radius: &str) -> Markup {
        html! { circle cx=(px(x)) cy=(px(y)) r=(radius) fill=(self.colour) {} }
    }

    fn mark(self, [x, y]: [f64; 2]) -> Markup {
        let corners = |corners: &[[f64; 2]]| -> Markup {
            let moved = corners.iter().map(|[dx, dy]| [x + dx, y + dy]);
            self.polygon(&moved.collect::<Vec<_>>())
        };
        match self.mark {
            Mark::None => Markup::default(),
            Mark::Disc => self.disc([x, y], "6"),
            Mark::LargeDisc => self.disc([x, y], "9"),
            Mark::Ring => html! {
                circle cx=(px(x)) cy=(px(y)) r="5" fill="#ffffff"
                    style={ "stroke:" (self.colour) ";stroke-width:2.5" } {}
            },
            Mark::Square => corners(&[[-5.0, -5.0], [5.0, -5.0], [5.0, 5.0], [-5.0, 5.0]]),
            Mark::Triangle => corners(&[[-6.5, 5.0], [6.5, 5.0], [0.0, -7.0]]),
            Mark::Diamond => corners(&[[-7.0, 0.0], [0.0, -7.0], [7.0, 0.0], [0.0, 7.0]]),
            Mark::Cross => {
                let data = line_data([[x - 5.0, y - 5.0], [x + 5.0, y + 5.0]])
                    + &line_data([[x - 5.0, y + 5.0], [x + 5.0, y - 5.0]]);
                html! { path d=(data) stroke=(self.colour) stroke-width="2.5" {} }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

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
            zone: None,
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
}
