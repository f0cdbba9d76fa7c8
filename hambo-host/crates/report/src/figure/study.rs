//! Which controllers pi_y would be deployed, by the neutral estimate and by the lower bound.

use std::path::{Path, PathBuf};

use super::error::FigureError;
use super::files::write_picture;
use super::series::{Mark, Scale, Series, SeriesFigure, SeriesPanel, SeriesPoint, SeriesStyle};

/// Models × controllers: how many models would deploy each controller.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Models asked about every controller.
    pub models: u32,
    /// Up to this waypoint a controller really is unsafe.
    pub unsafe_up_to: f32,
    /// The controllers, in the order in which they are joined by lines.
    pub points: Vec<StudyPoint>,
}

/// One controller under all models.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudyPoint {
    /// The controller's waypoint (0, y).
    pub y: f32,
    /// Models whose neutral estimate would deploy it.
    pub neutral_deploys: u32,
    /// Models whose lower bound (HAMBO-CA) would deploy it.
    pub ca_deploys: u32,
}

/// What an estimate got wrong, of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyCounts {
    /// Unsafe controllers deployed.
    pub unsafe_deployed: u32,
    /// Checks of unsafe controllers.
    pub unsafe_checks: u32,
    /// Safe controllers refused.
    pub safe_refused: u32,
    /// Checks of safe controllers.
    pub safe_checks: u32,
}

/// What is counted of a controller.
type Count = fn(&StudyPoint) -> u32;

impl Study {
    /// Whether pi_y really is unsafe.
    #[must_use]
    pub fn is_unsafe(&self, y: f32) -> bool {
        y <= self.unsafe_up_to
    }

    /// What the neutral estimate got wrong.
    #[must_use]
    pub fn neutral(&self) -> StudyCounts {
        self.counts(|point| point.neutral_deploys)
    }

    /// What CA got wrong.
    #[must_use]
    pub fn ca(&self) -> StudyCounts {
        self.counts(|point| point.ca_deploys)
    }

    fn counts(&self, deploys: Count) -> StudyCounts {
        let sum = |unsafe_: bool, count: &dyn Fn(&StudyPoint) -> u32| {
            let points = self.points.iter();
            let points = points.filter(|point| self.is_unsafe(point.y) == unsafe_);
            points.map(count).sum()
        };
        StudyCounts {
            unsafe_deployed: sum(true, &deploys),
            unsafe_checks: sum(true, &|_| self.models),
            safe_refused: sum(false, &|point| self.models.saturating_sub(deploys(point))),
            safe_checks: sum(false, &|_| self.models),
        }
    }

    /// The chart as SVG text.
    ///
    /// # Errors
    /// If there are no points, or their numbers make no sense.
    pub fn to_svg(&self) -> Result<String, FigureError> {
        let too_many = |p: &StudyPoint| p.neutral_deploys.max(p.ca_deploys) > self.models;
        if let Some(index) = self.points.iter().position(too_many) {
            return Err(FigureError::MoreDeploymentsThanModels { index });
        }
        let most = f64::from(self.models.max(1));
        let figure = SeriesFigure {
            title: "Which controllers would be deployed?".to_owned(),
            subtitle: vec![format!(
                "How many of {} models would deploy the new controller with the waypoint (0, y)",
                self.models
            )],
            panels: vec![SeriesPanel {
                title: String::new(),
                x_label: "height y of the waypoint".to_owned(),
                x_scale: Scale::Linear,
                y_label: "models that deploy".to_owned(),
                y_range: (-0.06 * most, 1.18 * most),
                levels: Vec::new(),
                zone: Some((
                    f64::from(self.unsafe_up_to),
                    ["unsafe: y ≤ 2/√3", "safe"].map(str::to_owned),
                )),
                series: vec![
                    self.line("neutral estimate", NEUTRAL, |p| p.neutral_deploys),
                    self.line("HAMBO-CA", CA, |p| p.ca_deploys),
                ],
            }],
        };
        figure.to_svg()
    }

    fn line(&self, name: &str, style: SeriesStyle, deploys: Count) -> Series {
        let StudyCounts {
            unsafe_deployed,
            unsafe_checks,
            safe_refused,
            safe_checks,
        } = self.counts(deploys);
        let points = self.points.iter().map(|point| SeriesPoint {
            x: f64::from(point.y),
            y: f64::from(deploys(point)),
            error: 0.0,
        });
        Series {
            name: format!(
                "{name}: deploys {unsafe_deployed} of {unsafe_checks} unsafe and {} of \
                 {safe_checks} safe",
                safe_checks - safe_refused
            ),
            style,
            points: points.collect(),
        }
    }

    /// Writes `<path_stem>.svg`, and with the feature `png` also `<path_stem>.png`; returns
    /// the last.
    ///
    /// # Errors
    /// As [`Self::to_svg`], or if a file cannot be written.
    pub fn write_picture(&self, path_stem: &Path) -> Result<PathBuf, FigureError> {
        write_picture(&self.to_svg()?, path_stem)
    }
}

const NEUTRAL: SeriesStyle = SeriesStyle {
    colour: "#E69F00",
    mark: Mark::LargeDisc,
    dash: "",
};
const CA: SeriesStyle = SeriesStyle {
    colour: "#0072B2",
    mark: Mark::Disc,
    dash: "",
};

#[cfg(all(test, feature = "png"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::figure::png::render;

    fn study() -> Study {
        let points = [(1.0, 0, 0), (1.1, 4, 0), (1.2, 9, 2), (1.3, 10, 8)];
        Study {
            models: 10,
            unsafe_up_to: 1.15,
            points: points
                .map(|(y, neutral_deploys, ca_deploys)| StudyPoint {
                    y,
                    neutral_deploys,
                    ca_deploys,
                })
                .to_vec(),
        }
    }

    #[test]
    fn the_chart_counts_what_each_estimate_got_wrong() {
        let svg = study().to_svg().unwrap();
        for text in [
            "estimate: deploys 4 of 20 unsafe and 19 of 20 safe",
            "CA: deploys 0 of 20 unsafe and 10 of 20 safe",
        ] {
            assert_eq!(svg.matches(text).count(), 1, "{text}");
        }
    }

    #[test]
    fn bad_counts_are_errors_and_one_point_is_a_chart() {
        let mut bad = study();
        bad.points[1].ca_deploys = 11;
        assert!(matches!(
            bad.to_svg(),
            Err(FigureError::MoreDeploymentsThanModels { index: 1 })
        ));
        bad.points.clear();
        assert!(matches!(bad.to_svg(), Err(FigureError::Empty { .. })));
        let mut one = study();
        one.points.truncate(1);
        render(&one.to_svg().unwrap(), 0.5).unwrap();
    }

    #[test]
    fn files_keep_their_dots_and_errors_name_the_file() {
        let name = format!("hambo-figure-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let picture = study().write_picture(&folder.join("pi_1.1")).unwrap();
        assert!(picture.ends_with("pi_1.1.png") && picture.is_file());
        assert!(folder.join("pi_1.1.svg").is_file());
        std::fs::remove_dir_all(&folder).unwrap();
        let error = study().write_picture(&folder.join("gone"));
        assert!(error.unwrap_err().to_string().contains("gone.svg"));
    }
}
