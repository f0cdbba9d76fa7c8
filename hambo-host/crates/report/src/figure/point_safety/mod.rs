//! Figure 1 of the paper: the adversary finds the danger that the neutral estimate misses.
//!
//! An overview of the plane, a close-up of one step, and the returns with the verdict.

mod contents;
mod labels;
mod scene;
#[cfg(all(test, feature = "png"))]
mod tests;
mod view;

use std::path::{Path, PathBuf};

use maud::{Markup, html};

use super::error::{FigureError, check_finite};
use super::files::write_picture;
use crate::svg::{dot, label, px, sheet, stroke};
use scene::Scene;

pub use contents::{AdversarialStep, PointSafetyFigure};

/// The ends of the scale on which returns are drawn.
const TRACK: [f32; 2] = [258.0, 662.0];

impl PointSafetyFigure {
    /// The picture as SVG text.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn to_svg(&self) -> Result<String, FigureError> {
        self.check()?;
        let body = html! {
            text class="title" x="48" y="62" {
                "Would the new controller π" tspan font-size="26" dy="8" { (self.waypoint) }
                tspan dy="-8" { " hit the danger zone?" }
            }
            (label("quiet", [48.0, 96.0], "start", &self.caption))
            (Scene::new(self).draw())
            (self.returns())
            (self.conclusion())
        };
        let title = "Would the new controller hit the danger zone?";
        let style = include_str!("point_safety.css");
        Ok(sheet([1400.0, 866.0], title, style, &body))
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

    /// The returns against the threshold.
    fn returns(&self) -> Markup {
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
        let words = |value: f32| {
            let text = if value.abs() < 1e7 {
                format!("{value:.decimals$}")
            } else {
                format!("{value:.2e}")
            };
            text.replacen('-', "−", 1)
        };
        let [left, right] = TRACK;
        let x = place(self.threshold);
        let text_x = f64::from(x.clamp(left + 70.0, right - 70.0));
        html! {
            rect class="panel" x="48" y="640" width="864" height="184" rx="10" {}
            text class="quiet" x="68" y="670" {
                "return of π" tspan font-size="12" dy="4" { (self.waypoint) }
            }
            rect class="zone" x=(px(left)) y="684" width=(px(x - left)) height="120" {}
            rect class="clear" x=(px(x)) y="684" width=(px(right - x)) height="120" {}
            (stroke("threshold", [[x, 680.0], [x, 804.0]]))
            (label("", [text_x, 670.0], "middle", &format!("threshold {}", words(self.threshold))))
            g class="returns" {
                @for (i, (class, name, value)) in rows.into_iter().enumerate() {
                    @let y = 704.0 + 40.0 * i as f32;
                    @let end = [place(value), y];
                    @let at = |x: f64| [x, f64::from(y) + 6.5];
                    (stroke("grid", [[left, y], [right, y]]))
                    (stroke(class, [[x, y], end]))
                    (dot(&format!("{class} value"), end, 9.0))
                    (label("name", at(68.0), "start", name))
                    (label("name", at(772.0), "end", &words(value)))
                    @if value >= self.threshold {
                        (label("safe", at(798.0), "start", "→ deploy"))
                    } @else {
                        (label("danger", at(798.0), "start", "→ reject"))
                    }
                }
            }
        }
    }

    fn conclusion(&self) -> Markup {
        let class = match self.verdict {
            "deploy" => "safe",
            "reject" => "danger",
            _ => "quiet",
        };
        let relation = if self.bound >= self.threshold {
            "≥"
        } else {
            "<"
        };
        let because = format!("lower bound {relation} threshold");
        html! {
            rect class="panel" x="940" y="640" width="412" height="184" rx="10" {}
            rect class={ "verdict " (class) } x="940" y="640" width="412" height="184" rx="10"
                fill-opacity="0.07" {}
            (label("quiet", [1146.0, 678.0], "middle", "verdict of the check"))
            (label(&format!("word {class}"), [1146.0, 746.0], "middle", self.verdict))
            (label("", [1146.0, 790.0], "middle", &because))
        }
    }
}
