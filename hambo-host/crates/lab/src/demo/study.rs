//! How often each estimate would deploy an unsafe controller, and how often
//! it refuses a safe one.

use std::io::{self, Write};

use hambo_core::gate::Verdict;
use hambo_core::image::Image;
use rayon::prelude::*;

use super::Experiment;
use crate::environment::UNSAFE_BELOW;
use hambo_base::Error;
use hambo_check::in_lanes::check;
use hambo_report::figure::{Study, StudyPoint};

/// The waypoints of the study: 1.00 to 1.80 in steps of 0.05.
#[must_use]
pub fn study_waypoints() -> Vec<f32> {
    (0..=16)
        .map(|step| (100 + 5 * step) as f32 / 100.0)
        .collect()
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
        StudyPoint {
            y,
            neutral_deploys: of_model(|(neutral, _)| *neutral),
            ca_deploys: of_model(|(_, ca)| *ca),
        }
    });
    Ok(Study {
        models: seeds.len() as u32,
        unsafe_up_to: UNSAFE_BELOW,
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
    Ok((neutral, outcome.verdict == Verdict::Deploy))
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
