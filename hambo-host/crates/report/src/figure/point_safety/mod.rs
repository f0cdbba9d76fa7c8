//! Figure 1 of the paper: the adversary finds the danger that the neutral estimate misses.
//!
//! An overview of the plane, a close-up of one step, and the returns with the
//! verdict. `point_safety.svg` is the picture; what depends on the data is here.

mod labels;
mod scene;
#[cfg(all(test, feature = "png"))]
mod tests;
mod view;

use std::path::{Path, PathBuf};

use super::FigureError;
use super::error::check_finite;
use super::files::write_picture;
use super::template::{Point, dot, fill, line, readable};
use scene::Scene;

/// The ends of the scale on which returns are drawn.
const TRACK: [f32; 2] = [258.0, 662.0];

/// What the PointSafety picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSafetyFigure {
    /// The evaluated controller is pi_y with this waypoint (0, y).
    pub waypoint: f32,
    /// Logged transitions (s, s′). Of more than 1,500 an even selection is drawn.
    pub logged: Vec<[Point; 2]>,
    /// What the controller really does.
    pub true_path: Vec<Point>,
    /// What the mean model predicts.
    pub neutral_path: Vec<Point>,
    /// What the adversary makes of it (HAMBO-CA), step by step.
    pub adversarial_steps: Vec<AdversarialStep>,
    /// The true return.
    pub true_return: f32,
    /// The neutral estimate of the return.
    pub neutral_return: f32,
    /// The lower bound on the return.
    pub bound: f32,
    /// The return that a controller must reach to be deployed.
    pub threshold: f32,
    /// The verdict in a word: `deploy`, `reject` or `abstain`.
    pub verdict: &'static str,
}

/// One step under an adversary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdversarialStep {
    /// The model's mean prediction, in the middle of the confidence set.
    pub mean: Point,
    /// How far the set reaches from the mean in each dimension.
    pub half_width: Point,
    /// The state that the adversary picked, plus the model's noise.
    pub next_state: Point,
}

impl PointSafetyFigure {
    /// The picture as SVG text.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn to_svg(&self) -> Result<String, FigureError> {
        self.check()?;
        let scene = Scene::new(self);
        let mut values = vec![("waypoint", self.waypoint.to_string())];
        values.extend(scene.draw());
        values.extend(scene.labels());
        values.extend(self.numbers());
        Ok(fill(include_str!("point_safety.svg"), &values))
    }

    /// Writes `<path_stem>.svg`, and with the feature `png` also `<path_stem>.png`; returns
    /// the last.
    ///
    /// # Errors
    /// If a number is not finite, or a file cannot be written.
    pub fn write_picture(&self, path_stem: &Path) -> Result<PathBuf, FigureError> {
        write_picture(&self.to_svg()?, path_stem)
    }

    fn check(&self) -> Result<(), FigureError> {
        check_finite("logged", self.logged.iter().flatten().copied())?;
        check_finite("true_path", self.true_path.iter().copied())?;
        check_finite("neutral_path", self.neutral_path.iter().copied())?;
        let steps = self.adversarial_steps.iter();
        let sets = steps.clone().flat_map(|step| [step.mean, step.half_width]);
        check_finite("confidence sets", sets)?;
        check_finite("adversarial_steps", steps.map(|step| step.next_state))?;
        let returns = [self.true_return, self.neutral_return, self.bound];
        check_finite("returns", returns.map(|value| [value, self.threshold]))
    }

    /// The returns against the threshold, and the verdict.
    fn numbers(&self) -> Vec<(&'static str, String)> {
        let rows = [
            ("truth", "truth", self.true_return),
            ("neutral", "neutral estimate", self.neutral_return),
            ("adversary", "lower bound", self.bound),
        ];
        let values = rows.map(|row| row.2);
        let low = values.into_iter().fold(self.threshold, f32::min);
        let high = values.into_iter().fold(self.threshold, f32::max);
        // Halved, since the difference of two numbers may be too large for a number.
        let span = (0.5 * high - 0.5 * low).max(1e-6);
        let place = |value: f32| {
            let share = 0.08 + 0.84 * (0.5 * value - 0.5 * low) / span;
            TRACK[0] + share * (TRACK[1] - TRACK[0])
        };
        let decimals = match low.abs().max(high.abs()) {
            largest if largest < 10.0 => 2,
            largest if largest < 1000.0 => 1,
            _ => 0,
        };
        let x = place(self.threshold);
        let mut returns = String::new();
        for (i, (class, name, value)) in rows.into_iter().enumerate() {
            let y = 704.0 + 40.0 * i as f32;
            let end = [place(value), y];
            let (decision, color) = if value >= self.threshold {
                ("deploy", "safe")
            } else {
                ("reject", "danger")
            };
            returns += &format!(
                r#"<path class="grid" d="M{} {y}H{}"/><path class="{class}" d="{}"/>{}
<text class="name" x="68" y="{text_y}">{name}</text>
<text class="name end" x="772" y="{text_y}">{}</text>
<text class="{color}" x="798" y="{text_y}">→ {decision}</text>
"#,
                TRACK[0],
                TRACK[1],
                line([[x, y], end]),
                dot(&format!("{class} value"), end, 9.0),
                readable(value, decimals),
                text_y = y + 6.5,
            );
        }
        let verdict_class = match self.verdict {
            "deploy" => "safe",
            "reject" => "danger",
            _ => "quiet",
        };
        let relation = if self.bound >= self.threshold {
            "≥"
        } else {
            "&lt;"
        };
        vec![
            ("returns", returns),
            ("threshold", readable(self.threshold, decimals)),
            ("threshold_x", format!("{x:.2}")),
            (
                "threshold_text_x",
                x.clamp(TRACK[0] + 70.0, TRACK[1] - 70.0).to_string(),
            ),
            ("zone_width", format!("{:.2}", x - TRACK[0])),
            ("clear_width", format!("{:.2}", TRACK[1] - x)),
            ("verdict", self.verdict.into()),
            ("verdict_class", verdict_class.into()),
            ("relation", relation.into()),
        ]
    }
}
