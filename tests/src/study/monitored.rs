//! The monitor on robots that are as they were logged, and on robots that are not: how often
//! is it wrong, and how soon does it see a fault?
//!
//! A model of 60 episodes, a controller near those that logged, and 100 drives of 100 steps in
//! each condition. The bound is that of the controller on the robot as it was logged.

use hambo_base::Error;
use hambo_core::task::Allocation;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions};
use hambo_learn::monitor::{Drive, settings, watch};

use super::faults::{DRIVE_CONDITIONS, Fault};
use super::judge::{Samples, judge_policy, model};
use super::monitored_summary;
use super::robots::{ROBOTS, Robot};
use super::statistics::median;
use crate::fixture::Draw;
use hambo_base::study::rows::Table;
use hambo_base::study::{Row, Study, Summary, digits};

/// Models of each robot.
pub const SEEDS: usize = 10;
/// The probability of stopping a robot that is as the model says.
pub const ALPHA: f32 = 0.01;
/// Episodes of a log.
const EPISODES: u32 = 60;
/// Drives of a condition.
pub const DRIVES: u32 = 100;
/// Steps of a drive.
const STEPS: usize = 100;
const SAMPLES: Samples = Samples {
    trajectories: Some(1000),
    searched: Some(8),
    allocation: Some(Allocation::Even),
};

/// The study.
pub struct Monitored;

/// What each condition is on a robot; none where the robot has no such fault.
fn faults(robot: &Robot) -> [Option<Fault>; 6] {
    [
        Some(Fault::Nothing),
        Some(Fault::Inertia(1.5)),
        Some(Fault::Gain(0.7)),
        Some(robot.seen_offset),
        robot.unseen_offset,
        Some(Fault::Delay),
    ]
}

impl Study for Monitored {
    fn name(&self) -> &'static str {
        "monitor"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell",
            "system",
            "condition",
            "drives",
            "stopped",
            "at_once",
            "median_step",
            "median_residual",
            "surprises",
            "usual",
            "outside",
            "bound",
            "truth",
            "truth_error",
        ]
    }

    fn cells(&self) -> usize {
        ROBOTS.len() * SEEDS
    }

    fn rows_per_cell(&self) -> usize {
        DRIVE_CONDITIONS.len()
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        let (robot, seed) = (&ROBOTS[cell % ROBOTS.len()], cell as u64);
        let draw = &mut Draw::new(0x4D4F_0000 + seed);
        let log = robot.log(EPISODES, draw)?;
        let checked = robot.gains(0.15, draw);
        let task = robot.task(false, -1000.0)?;
        let options = EnsembleOptions {
            seed,
            ..EnsembleOptions::for_board("stm32f405")?
        };
        let options = FitOptions::new(ModelOptions::Networks(options));
        let model = model(&task, &log, &options)?;
        let policy = robot.policy(&checked, &task)?;
        let bound = judge_policy(&task, &log, &model, &policy, SAMPLES, seed)?.bound;
        let settings = settings(&model.metadata().calibration, ALPHA);
        let conditions = DRIVE_CONDITIONS.iter().zip(faults(robot));
        let rows = conditions.map(|(name, fault)| {
            let driven = match fault {
                Some(fault) => robot.drives(&checked, fault, (DRIVES, STEPS), draw)?,
                None => robot.drives(&checked, Fault::Nothing, (0, STEPS), draw)?,
            };
            let (drives, returns) = driven;
            let drives = watch(&task, model.model_part(), &drives, settings)?;
            let [truth, error] = mean_and_error(&returns);
            let mut row = vec![cell.to_string(), robot.name.to_owned(), (*name).to_owned()];
            row.extend(counted(&drives));
            row.push(digits(f64::from(settings.surprise_rate)));
            let steps = drives.iter().map(|one| f64::from(one.counts.steps));
            let outside = drives.iter().map(|one| f64::from(one.counts.outside));
            row.push(digits(outside.sum::<f64>() / steps.sum::<f64>()));
            row.extend([bound, truth, error].map(digits));
            Ok(row)
        });
        rows.collect()
    }

    fn summary(&self, table: &Table) -> Summary {
        monitored_summary::summary(table)
    }
}

/// Drives, stopped, stopped at once, the median step of a stop and the median residual, and
/// the share of surprises.
fn counted(drives: &[Drive]) -> [String; 6] {
    let stops = || drives.iter().filter_map(|one| one.trip);
    let at_once = drives.iter().filter(|one| one.counts.far > 0).count();
    let seen = || drives.iter().flat_map(|one| &one.observations);
    let surprises = seen().filter(|one| one.surprise).count();
    [
        drives.len().to_string(),
        stops().count().to_string(),
        at_once.to_string(),
        digits(median(stops().map(|trip| trip.step as f64 + 1.0))),
        digits(median(seen().map(|one| f64::from(one.residual)))),
        digits(surprises as f64 / seen().count() as f64),
    ]
}

fn mean_and_error(values: &[f64]) -> [f64; 2] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    [mean, (squares / (count - 1.0) / count).sqrt()]
}
