//! How often each estimate would deploy an unsafe controller, and how often
//! it refuses a safe one.

use std::io::{self, Write};

use hambo_core::gate::Verdict;
use hambo_core::image::Image;
use rayon::prelude::*;

use super::experiment::{Experiment, policy};
use crate::environment::UNSAFE_BELOW;
use hambo_base::Error;
use hambo_check::parallel::{LANES, Watch, check};
use hambo_report::figure::{Study, StudyPoint};

/// Models of the demo's study.
const MODELS: u64 = 10;

/// What is said of one controller under one model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub y: f32,
    /// The neutral estimate.
    pub neutral: f32,
    /// Whether the true return reaches the threshold.
    pub truth_deploys: bool,
    pub neutral_deploys: bool,
    pub ca_deploys: bool,
}

/// The seeds of the study's models, after the seed of the demo.
pub(super) fn study_seeds(seed: u64) -> Vec<u64> {
    (0..MODELS).map(|model| seed + 1000 + model).collect()
}

/// The waypoints of the study: 1.00 to 1.80 in steps of 0.05.
#[must_use]
pub fn study_waypoints() -> Vec<f32> {
    (0..=16)
        .map(|step| (100 + 5 * step) as f32 / 100.0)
        .collect()
}

/// Fits a model for each seed and checks every waypoint of the study under it.
///
/// # Errors
/// If a fit or a check fails.
pub fn study(seeds: &[u64]) -> Result<Study, Error> {
    Ok(counted(&judge(seeds, &study_waypoints())?))
}

/// Fits a model for each seed and checks every waypoint under it.
pub(super) fn judge(seeds: &[u64], waypoints: &[f32]) -> Result<Vec<Vec<Judged>>, Error> {
    let judged = seeds.par_iter().map(|seed| {
        let experiment = Experiment::new(*seed)?;
        let judged = waypoints.iter().map(|y| judge_one(&experiment, *y));
        judged.collect()
    });
    judged.collect()
}

fn judge_one(experiment: &Experiment, y: f32) -> Result<Judged, Error> {
    let bytes = experiment.image(y)?;
    let outcome = check::<LANES>(&Image::parse(bytes.as_bytes())?, Watch::NONE)?.outcome;
    let truth = experiment.system.walk(&policy(y)?).value;
    let reaches = |value: f32| outcome.threshold.is_some_and(|least| value >= least);
    Ok(Judged {
        y,
        neutral: outcome.neutral,
        truth_deploys: reaches(truth),
        neutral_deploys: reaches(outcome.neutral),
        ca_deploys: outcome.verdict == Verdict::Deploy,
    })
}

/// How many models would deploy each controller.
pub(super) fn counted(by_model: &[Vec<Judged>]) -> Study {
    let points = study_waypoints().into_iter().map(|y| {
        let models = |deploys: fn(&Judged) -> bool| {
            let judged = by_model.iter().flatten().filter(|judged| judged.y == y);
            judged.filter(|judged| deploys(judged)).count() as u32
        };
        StudyPoint {
            y,
            neutral_deploys: models(|judged| judged.neutral_deploys),
            ca_deploys: models(|judged| judged.ca_deploys),
        }
    });
    Study {
        models: by_model.len() as u32,
        unsafe_up_to: UNSAFE_BELOW,
        points: points.collect(),
    }
}

/// How many models would deploy each controller, and what each estimate got wrong.
pub(super) fn print_table(study: &Study, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "\nhow many of {} models would deploy pi_y\n",
        study.models
    )?;
    let row = |out: &mut dyn Write, name: &str, cell: &dyn Fn(&StudyPoint) -> String| {
        write!(out, "{name:<10}")?;
        for point in &study.points {
            write!(out, "{:>5}", cell(point))?;
        }
        writeln!(out)
    };
    row(out, "y", &|point| format!("{:.2}", point.y))?;
    row(out, "truth", &|point| {
        (if study.is_unsafe(point.y) {
            "✗"
        } else {
            "✓"
        })
        .to_owned()
    })?;
    row(out, "neutral", &|point| point.neutral_deploys.to_string())?;
    row(out, "CA", &|point| point.ca_deploys.to_string())?;
    writeln!(out)?;
    for (name, counts) in [("neutral", study.neutral()), ("CA", study.ca())] {
        writeln!(
            out,
            "{name:<10}deploys an unsafe controller in {} of {} checks and refuses a safe one in {} of {}",
            counts.unsafe_deployed, counts.unsafe_checks, counts.safe_refused, counts.safe_checks
        )?;
    }
    Ok(())
}
