//! How often each estimate would deploy an unsafe controller, and how often
//! it refuses a safe one.

use std::io::{self, Write};

use hambo_core::image::Image;
use hambo_core::verdict::Verdict;
use rayon::prelude::*;

use super::Experiment;
use crate::Error;
use crate::check::in_lanes::check;
use crate::environment::UNSAFE_BELOW;
use crate::present::figure::{StudyFigure, StudyPoint};

/// The waypoints of the study: 1.00 to 1.80 in steps of 0.05.
#[must_use]
pub fn study_waypoints() -> Vec<f32> {
    (0..=16)
        .map(|step| (100 + 5 * step) as f32 / 100.0)
        .collect()
}

/// Models × controllers.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    models: u32,
    points: Vec<Point>,
}

/// One controller under all models.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    y: f32,
    neutral_deploys: u32,
    ca_deploys: u32,
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

/// Fits a model for each seed and checks every waypoint under it.
///
/// # Errors
/// If a fit or a check fails.
pub fn study(seeds: &[u64]) -> Result<Study, Error> {
    let by_model: Vec<Vec<(bool, bool)>> = seeds
        .par_iter()
        .map(|seed| {
            let experiment = Experiment::new(*seed)?;
            study_waypoints()
                .into_iter()
                .map(|y| deploys(&experiment, y))
                .collect()
        })
        .collect::<Result<_, Error>>()?;
    let points = study_waypoints().into_iter().enumerate().map(|(index, y)| {
        let of_model = |pick: fn(&(bool, bool)) -> bool| {
            let verdicts = by_model.iter().filter_map(|model| model.get(index));
            verdicts.filter(|verdicts| pick(verdicts)).count() as u32
        };
        Point {
            y,
            neutral_deploys: of_model(|(neutral, _)| *neutral),
            ca_deploys: of_model(|(_, ca)| *ca),
        }
    });
    Ok(Study {
        models: seeds.len() as u32,
        points: points.collect(),
    })
}

/// Would the neutral estimate deploy pi_y, and does CA?
fn deploys(experiment: &Experiment, y: f32) -> Result<(bool, bool), Error> {
    let bytes = experiment.image(y)?;
    let outcome = check(&Image::parse(bytes.as_bytes())?)?;
    let neutral = outcome
        .threshold
        .is_some_and(|threshold| outcome.neutral >= threshold);
    Ok((neutral, matches!(outcome.verdict, Verdict::Deploy(_))))
}

impl Study {
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

    fn counts(&self, deploys: fn(&Point) -> u32) -> StudyCounts {
        let (unsafe_points, safe_points): (Vec<&Point>, Vec<&Point>) =
            self.points.iter().partition(|point| is_unsafe(point.y));
        StudyCounts {
            unsafe_deployed: unsafe_points.iter().map(|point| deploys(point)).sum(),
            unsafe_checks: self.models * unsafe_points.len() as u32,
            safe_refused: safe_points
                .iter()
                .map(|point| self.models - deploys(point))
                .sum(),
            safe_checks: self.models * safe_points.len() as u32,
        }
    }

    /// The chart.
    #[must_use]
    pub fn figure(&self) -> StudyFigure {
        let points = self.points.iter().map(|point| StudyPoint {
            y: point.y,
            unsafe_: is_unsafe(point.y),
            neutral_deploys: point.neutral_deploys,
            ca_deploys: point.ca_deploys,
            models: self.models,
        });
        StudyFigure {
            points: points.collect(),
        }
    }

    /// The table.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn tell(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "\nhow many of {} models would deploy pi_y\n",
            self.models
        )?;
        let row = |out: &mut dyn Write, name: &str, cell: &dyn Fn(&Point) -> String| {
            write!(out, "{name:<10}")?;
            for point in &self.points {
                write!(out, "{:>5}", cell(point))?;
            }
            writeln!(out)
        };
        row(out, "y", &|point| format!("{:.2}", point.y))?;
        row(out, "truth", &|point| {
            (if is_unsafe(point.y) { "✗" } else { "✓" }).to_owned()
        })?;
        row(out, "neutral", &|point| point.neutral_deploys.to_string())?;
        row(out, "CA", &|point| point.ca_deploys.to_string())?;
        writeln!(out)?;
        for (name, counts) in [("neutral", self.neutral()), ("CA", self.ca())] {
            writeln!(
                out,
                "{name:<10}deploys an unsafe controller in {} of {} checks and refuses a safe one in {} of {}",
                counts.unsafe_deployed,
                counts.unsafe_checks,
                counts.safe_refused,
                counts.safe_checks
            )?;
        }
        Ok(())
    }
}

fn is_unsafe(y: f32) -> bool {
    y <= UNSAFE_BELOW
}
