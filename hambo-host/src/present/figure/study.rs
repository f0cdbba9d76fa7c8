//! Which controllers pi_y would be deployed, by the neutral estimate and by the lower bound.

use std::path::{Path, PathBuf};

use super::FigureError;
use super::error::check_finite;
use super::files::write_svg_and_png;
use super::geometry::Point;
use super::style::{
    ADVERSARY, DANGER, DANGER_TEXT, FRAME, GRID, INK, NEUTRAL, NEUTRAL_TEXT, PANEL, QUIET,
    SAFE_TEXT, document, dot, label, line,
};
use super::svg::Element;

const WIDTH: f64 = 1100.0;
const HEIGHT: f64 = 590.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 1056.0;
const TOP: f64 = 160.0;
const BOTTOM: f64 = 500.0;
/// Room between the frame and the first and last point.
const INSET: f64 = 32.0;
/// Pixels per SVG unit of the PNG that is written beside the SVG.
const PNG_SCALE: f32 = 1.5;

/// A region narrower than this gets no label.
const LABEL_ROOM: f64 = 185.0;

/// Up to this waypoint the controller's segments enter the disc: 2/√3.
const UNSAFE_UP_TO: f64 = 1.154_700_538_379_251_5;

/// One controller of the study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudyPoint {
    /// The controller's waypoint (0, y).
    pub y: f32,
    /// Whether the controller really is unsafe.
    pub unsafe_: bool,
    /// Models whose neutral estimate would deploy it.
    pub neutral_deploys: u32,
    /// Models whose lower bound (HAMBO-CA) would deploy it.
    pub ca_deploys: u32,
    /// Models asked.
    pub models: u32,
}

/// What is counted of a point.
type Count = fn(&StudyPoint) -> u32;

/// Deployments over a range of controllers.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyFigure {
    /// The controllers, in the order in which they are joined by lines.
    pub points: Vec<StudyPoint>,
}

impl StudyFigure {
    /// The chart as SVG text.
    pub fn to_svg(&self) -> Result<String, FigureError> {
        self.check()?;
        let axes = Axes::new(&self.points);
        let mut picture = document(
            WIDTH,
            HEIGHT,
            "Which controllers would be deployed?",
            "For every waypoint y the number of models that would deploy the controller, \
             by the neutral estimate and by the lower bound of HAMBO-CA.",
        );
        picture.push(axes.draw());
        let series: [(Count, _, _, _, _); 2] = [
            (|p| p.neutral_deploys, "neutral", NEUTRAL, 6.0, 9.0),
            (|p| p.ca_deploys, "ca", ADVERSARY, 2.6, 5.0),
        ];
        for (count, id, color, width, radius) in series {
            let places: Vec<Point> = self
                .points
                .iter()
                .map(|p| axes.place(p.y.into(), count(p).into()))
                .collect();
            let mut group = Element::new("g").set("id", id);
            group.push(line(places.iter().copied(), color, width));
            for at in places {
                group.push(marker(at, radius, color));
            }
            picture.push(group);
        }
        picture.push(self.heading());
        Ok(picture.to_text())
    }

    /// Writes `<path_stem>.svg` and `<path_stem>.png` and returns both paths.
    pub fn write_svg_and_png(&self, path_stem: &Path) -> Result<[PathBuf; 2], FigureError> {
        write_svg_and_png(&self.to_svg()?, path_stem, PNG_SCALE)
    }

    fn check(&self) -> Result<(), FigureError> {
        if self.points.is_empty() {
            return Err(FigureError::Empty { what: "points" });
        }
        check_finite("points", self.points.iter().map(|p| [p.y]))?;
        let too_many = |p: &StudyPoint| p.neutral_deploys.max(p.ca_deploys) > p.models;
        match self.points.iter().position(too_many) {
            Some(index) => Err(FigureError::MoreDeploymentsThanModels { index }),
            None => Ok(()),
        }
    }

    /// Title, and per method how often it would deploy an unsafe and a safe controller.
    fn heading(&self) -> Element {
        let total = |unsafe_: bool, count: Count| -> u64 {
            let points = self.points.iter().filter(|p| p.unsafe_ == unsafe_);
            points.map(|p| u64::from(count(p))).sum()
        };
        let mut group = Element::new("g").with(
            label([40.0, 52.0], 28.0, "start")
                .set("font-weight", "600")
                .text("Which controllers would be deployed?"),
        );
        let rows: [(&str, Count, _, _, f64, f64); 2] = [
            (
                "neutral estimate",
                |p| p.neutral_deploys,
                NEUTRAL,
                NEUTRAL_TEXT,
                9.0,
                96.0,
            ),
            (
                "HAMBO-CA",
                |p| p.ca_deploys,
                ADVERSARY,
                ADVERSARY,
                5.0,
                128.0,
            ),
        ];
        for (title, count, color, text_color, radius, y) in rows {
            let middle = y - 6.0;
            group.push(line([[44.0, middle], [78.0, middle]], color, 0.6 * radius));
            group.push(marker([61.0, middle], radius, color));
            let name = label([94.0, y], 18.0, "start").set("font-weight", "600");
            group.push(name.set("fill", text_color).text(title));
            let wrong = format!(
                "deploys {} of {} unsafe",
                total(true, count),
                total(true, |p| p.models)
            );
            let right = format!(
                "and {} of {} safe",
                total(false, count),
                total(false, |p| p.models)
            );
            let color = if total(true, count) > 0 {
                DANGER_TEXT
            } else {
                INK
            };
            group.push(
                label([264.0, y], 18.0, "start")
                    .set("fill", color)
                    .text(&wrong),
            );
            group.push(label([490.0, y], 18.0, "start").text(&right));
        }
        group
    }
}

fn marker(at: Point, radius: f64, color: &'static str) -> Element {
    dot(at, radius, color)
        .set("stroke", PANEL)
        .set("stroke-width", 1.5)
}

/// The chart's frame and scales.
struct Axes {
    first: f64,
    last: f64,
    models: u32,
    ticks: Vec<f64>,
}

impl Axes {
    fn new(points: &[StudyPoint]) -> Self {
        let waypoints = || points.iter().map(|p| f64::from(p.y));
        let (first, last) = (
            waypoints().fold(f64::INFINITY, f64::min),
            waypoints().fold(f64::NEG_INFINITY, f64::max),
        );
        let every = points.len().div_ceil(9).max(1);
        Self {
            first,
            last: last.max(first + 1e-3),
            models: points.iter().map(|p| p.models).max().unwrap_or(0).max(1),
            ticks: waypoints().step_by(every).collect(),
        }
    }

    fn place(&self, y: f64, count: f64) -> Point {
        let across = (y - self.first) / (self.last - self.first);
        let up = count / f64::from(self.models);
        [
            LEFT + INSET + across * (RIGHT - LEFT - 2.0 * INSET),
            BOTTOM - 18.0 - up * (BOTTOM - TOP - 64.0),
        ]
    }

    fn draw(&self) -> Element {
        let frame = |left: f64, right: f64| {
            Element::new("rect")
                .set("x", left)
                .set("y", TOP)
                .set("width", right - left)
                .set("height", BOTTOM - TOP)
        };
        let border = self.place(UNSAFE_UP_TO, 0.0)[0].clamp(LEFT, RIGHT);
        let mut group = Element::new("g")
            .with(frame(LEFT, RIGHT).set("fill", PANEL))
            .with(
                frame(LEFT, border)
                    .set("fill", DANGER)
                    .set("fill-opacity", 0.14),
            );
        let step = self.models.div_ceil(5).max(1) as usize;
        for count in (0..=self.models).step_by(step) {
            let y = self.place(self.first, count.into())[1];
            group.push(line([[LEFT, y], [RIGHT, y]], GRID, 1.2));
            let text = label([LEFT - 12.0, y + 6.0], 17.0, "end").set("fill", QUIET);
            group.push(text.text(&count.to_string()));
        }
        for tick in &self.ticks {
            let x = self.place(*tick, 0.0)[0];
            group.push(line([[x, BOTTOM], [x, BOTTOM + 6.0]], QUIET, 1.2));
            let text = label([x, BOTTOM + 27.0], 17.0, "middle").set("fill", QUIET);
            group.push(text.text(&format!("{tick:.2}")));
        }
        group.push(line([[border, TOP], [border, BOTTOM]], DANGER, 2.0));
        group.push(frame(LEFT, RIGHT).set("fill", "none").set("stroke", FRAME));
        let side = |x: f64, anchor, color| {
            label([x, TOP + 26.0], 18.0, anchor)
                .set("font-weight", "600")
                .set("fill", color)
        };
        if border - LEFT > LABEL_ROOM {
            group.push(side(border - 12.0, "end", DANGER_TEXT).text("unsafe: y ≤ 2/√3"));
        }
        if RIGHT - border > LABEL_ROOM {
            group.push(side(border + 12.0, "start", SAFE_TEXT).text("safe"));
        }
        group.push(
            label([0.5 * (LEFT + RIGHT), HEIGHT - 26.0], 18.0, "middle")
                .set("fill", INK)
                .text("height y of the waypoint (0, y) of the new controller"),
        );
        let turned = label([-0.5 * (TOP + BOTTOM), 46.0], 18.0, "middle")
            .set("transform", "rotate(-90)")
            .set("fill", INK);
        group.push(turned.text(&format!("models that deploy (of {})", self.models)));
        group
    }
}
