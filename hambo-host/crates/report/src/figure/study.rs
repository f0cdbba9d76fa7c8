//! Which controllers pi_y would be deployed, by the neutral estimate and by the lower bound.

use std::path::{Path, PathBuf};

use super::FigureError;
use super::error::check_finite;
use super::files::write_picture;
use super::template::{Point, dot, fill, line};

/// The edges of the chart.
const LEFT: f32 = 92.0;
const RIGHT: f32 = 1056.0;
/// A region narrower than this gets no name.
const NAME_ROOM: f32 = 185.0;

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
        check_finite("points", self.points.iter().map(|p| [p.y]))?;
        let too_many = |p: &StudyPoint| p.neutral_deploys.max(p.ca_deploys) > self.models;
        if let Some(index) = self.points.iter().position(too_many) {
            return Err(FigureError::MoreDeploymentsThanModels { index });
        }
        let axes = Axes::new(self).ok_or(FigureError::Empty { what: "points" })?;
        let [border, _] = axes.place(self.unsafe_up_to, 0);
        let border = border.clamp(LEFT, RIGHT);
        let mut values = vec![
            ("models", self.models.to_string()),
            ("zone_width", (border - LEFT).to_string()),
            ("border", border.to_string()),
            ("ticks", axes.ticks(self)),
            ("sides", sides(border)),
        ];
        values.extend(heading(
            ["neutral_class", "neutral_unsafe", "neutral_safe"],
            self.neutral(),
        ));
        values.extend(heading(["ca_class", "ca_unsafe", "ca_safe"], self.ca()));
        let series: [(_, _, _, Count); 2] = [
            ("neutral", "neutral", 9.0, |p| p.neutral_deploys),
            ("ca", "adversary", 5.0, |p| p.ca_deploys),
        ];
        for (name, class, radius, count) in series {
            let places = self.points.iter().map(|p| axes.place(p.y, count(p)));
            let dots: String = places.clone().map(|at| dot(class, at, radius)).collect();
            let path = format!("<path class=\"{class}\" d=\"{}\"/>\n", line(places));
            values.push((name, path + &dots));
        }
        Ok(fill(include_str!("study.svg"), &values))
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

/// How often an estimate would deploy an unsafe and a safe controller.
fn heading(names: [&'static str; 3], counts: StudyCounts) -> [(&'static str, String); 3] {
    let StudyCounts {
        unsafe_deployed,
        unsafe_checks,
        safe_refused,
        safe_checks,
    } = counts;
    let class = if unsafe_deployed > 0 {
        "danger"
    } else {
        "truth"
    };
    let safe_deployed = safe_checks - safe_refused;
    let [class_name, unsafe_name, safe_name] = names;
    [
        (class_name, class.to_owned()),
        (
            unsafe_name,
            format!("deploys {unsafe_deployed} of {unsafe_checks} unsafe"),
        ),
        (
            safe_name,
            format!("and {safe_deployed} of {safe_checks} safe"),
        ),
    ]
}

/// The names of the two sides, where there is room.
fn sides(border: f32) -> String {
    let mut names = String::new();
    if border - LEFT > NAME_ROOM {
        let x = border - 12.0;
        names += &format!(
            "<text class=\"name end danger\" x=\"{x}\" y=\"186\">unsafe: y ≤ 2/√3</text>\n"
        );
    }
    if RIGHT - border > NAME_ROOM {
        let x = border + 12.0;
        names += &format!("<text class=\"name safe\" x=\"{x}\" y=\"186\">safe</text>\n");
    }
    names
}

/// The chart's scales.
struct Axes {
    first: f32,
    last: f32,
    models: u32,
}

impl Axes {
    /// `None` without points.
    fn new(study: &Study) -> Option<Self> {
        let waypoints = || study.points.iter().map(|p| p.y);
        let first = waypoints().reduce(f32::min)?;
        Some(Self {
            first,
            last: waypoints().fold(first + 1e-3, f32::max),
            models: study.models.max(1),
        })
    }

    fn place(&self, y: f32, count: u32) -> Point {
        let across = (y - self.first) / (self.last - self.first);
        let up = count as f32 / self.models as f32;
        [
            LEFT + 32.0 + across * (RIGHT - LEFT - 64.0),
            482.0 - up * 276.0,
        ]
    }

    fn ticks(&self, study: &Study) -> String {
        let step = self.models.div_ceil(5) as usize;
        let counts = (0..=self.models).step_by(step).map(|count| {
            let [_, y] = self.place(self.first, count);
            format!("<path class=\"grid\" d=\"M{LEFT} {y:.2}H{RIGHT}\"/><text class=\"note quiet end\" x=\"80\" y=\"{:.2}\">{count}</text>\n", y + 6.0)
        });
        let every = study.points.len().div_ceil(9);
        let waypoints = study.points.iter().step_by(every).map(|p| {
            let [x, _] = self.place(p.y, 0);
            format!("<path class=\"tick\" d=\"M{x:.2} 500V506\"/><text class=\"note quiet middle\" x=\"{x:.2}\" y=\"527\">{:.2}</text>\n", p.y)
        });
        counts.chain(waypoints).collect()
    }
}

#[cfg(all(test, feature = "png"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::figure::png::{parse, render};

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
        assert!(!svg.contains("{{"), "a place of the template is not filled");
        let tree = parse(&svg).unwrap();
        assert!(tree.node_by_id("neutral").is_some() && tree.node_by_id("ca").is_some());
        for text in [
            "deploys 4 of 20 unsafe",
            "and 19 of 20 safe",
            "deploys 0 of 20 unsafe",
            "and 10 of 20 safe",
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
