//! Figure 1 of the paper: the adversary finds the danger that the neutral estimate misses.

mod backdrop;
mod close_up;
mod labels;
mod notes;
mod numbers;
mod scene;

use std::path::{Path, PathBuf};

use super::FigureError;
use super::error::check_finite;
use super::files::write_svg_and_png;
use super::style::{QUIET, document, label, with_controller};
use super::svg::Element;
use super::view::View;
use close_up::CloseUp;
use scene::Scene;

const WIDTH: f64 = 1400.0;
const HEIGHT: f64 = 866.0;
/// The edges of the left and of the right column.
pub(super) const COLUMNS: [[f64; 2]; 2] = [[48.0, 912.0], [940.0, 1352.0]];
const TOP: f64 = 122.0;
/// Pixels per SVG unit of the PNG that is written beside the SVG.
const PNG_SCALE: f32 = 1.5;

/// The whole plane that matters.
const OVERVIEW: View = View {
    min: [-2.4, -0.6],
    max: [2.4, 2.0],
    corner: [COLUMNS[0][0], TOP],
    scale: 180.0,
};

/// The states that the model holds possible after one step: an axis-aligned rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceSet {
    /// The model's mean prediction.
    pub center: [f32; 2],
    /// How far the set reaches from the centre in each dimension.
    pub half_width: [f32; 2],
}

/// What the PointSafety picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSafetyFigure {
    /// Logged transitions (s, s′). Of more than 1,500 an even selection is drawn.
    pub logged: Vec<[[f32; 2]; 2]>,
    /// What the evaluated controller really does.
    pub true_path: Vec<[f32; 2]>,
    /// What the mean model predicts.
    pub neutral_path: Vec<[f32; 2]>,
    /// What the adversary makes of it (HAMBO-CA).
    pub adversarial_path: Vec<[f32; 2]>,
    /// The confidence set of every step of the adversarial path.
    pub confidence_sets: Vec<ConfidenceSet>,
    /// The true return.
    pub true_return: f32,
    /// The neutral estimate of the return.
    pub neutral_return: f32,
    /// The lower bound on the return.
    pub bound: f32,
    /// The return that a controller must reach to be deployed.
    pub threshold: f32,
    /// The verdict in a word: `deploy`, `reject` or `abstain`.
    pub verdict: String,
    /// The evaluated controller; `pi_1.1` is drawn as a Greek letter with an index.
    pub controller: String,
}

impl PointSafetyFigure {
    /// The picture as SVG text.
    pub fn to_svg(&self) -> Result<String, FigureError> {
        self.check()?;
        let scene = Scene::new(self);
        let close_up = CloseUp::new(&scene);
        let mut picture = document(
            WIDTH,
            HEIGHT,
            "Would the new controller hit the danger zone?",
            "True, neutral and adversarial paths of a new controller around a danger zone, \
             with the model's confidence set of every step, and the resulting numbers.",
        );
        picture.push(heading(&self.controller));
        picture.push(scene.draw_overview(&OVERVIEW, &close_up.view));
        picture.push(scene.draw_close_up(&close_up));
        picture.push(numbers::draw(self));
        Ok(picture.to_text())
    }

    /// Writes `<path_stem>.svg` and `<path_stem>.png` and returns both paths.
    pub fn write_svg_and_png(&self, path_stem: &Path) -> Result<[PathBuf; 2], FigureError> {
        write_svg_and_png(&self.to_svg()?, path_stem, PNG_SCALE)
    }

    fn check(&self) -> Result<(), FigureError> {
        for (what, path) in [
            ("true_path", &self.true_path),
            ("neutral_path", &self.neutral_path),
            ("adversarial_path", &self.adversarial_path),
        ] {
            if path.is_empty() {
                return Err(FigureError::Empty { what });
            }
            check_finite(what, path.iter().copied())?;
        }
        check_finite(
            "logged",
            self.logged.iter().map(|[s, n]| [s[0], s[1], n[0], n[1]]),
        )?;
        let sets = &self.confidence_sets;
        check_finite("confidence_sets", sets.iter().map(|c| c.center))?;
        check_finite("confidence_sets", sets.iter().map(|c| c.half_width))?;
        if let Some(index) = sets
            .iter()
            .position(|c| c.half_width.iter().any(|h| *h < 0.0))
        {
            return Err(FigureError::NegativeHalfWidth { index });
        }
        let steps = self.adversarial_path.len() - 1;
        if steps != sets.len() {
            let sets = sets.len();
            return Err(FigureError::SetsDoNotMatchSteps { steps, sets });
        }
        check_finite("true_return", [[self.true_return]])?;
        check_finite("neutral_return", [[self.neutral_return]])?;
        check_finite("bound", [[self.bound]])?;
        check_finite("threshold", [[self.threshold]])
    }
}

fn heading(controller: &str) -> Element {
    let title = label([48.0, 62.0], 36.0, "start")
        .set("font-weight", "600")
        .text("Would the new controller ");
    let title = with_controller(title, controller, 36.0);
    let up = Element::new("tspan").set(
        "dy",
        if controller.starts_with("pi_") {
            -0.22 * 36.0
        } else {
            0.0
        },
    );
    let subtitle = label([48.0, 96.0], 19.0, "start").set("fill", QUIET).text(
        "The model knows only a safe controller’s log. The adversary may pick any next state inside the model’s confidence sets.",
    );
    Element::new("g")
        .with(title.with(up.text(" hit the danger zone?")))
        .with(subtitle)
}
