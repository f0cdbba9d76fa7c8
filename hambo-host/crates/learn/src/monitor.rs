//! What the monitor would have done: the core's [`Monitor`] over the episodes of a log.

use hambo_core::drive::monitor::{
    Measured, Monitor, MonitorCounts, MonitorError, Observation, Trip,
};
use hambo_core::image::Image;
use hambo_core::image::MonitorSettings;
use hambo_core::task::{Allocation, Effort};
use rayon::prelude::*;
use serde::Serialize;

use super::calibration::gate::NOMINAL_SHARE;
use super::calibration::outcome::ModelCalibration;
use super::calibration::scales::noise_width;
use super::replay_image::image_without_controller;
use hambo_base::Error;
use hambo_data::{Log, Transition};
use hambo_task::task::TaskFile;

/// The settings that a model's own withheld rows give: as many surprises are usual as the
/// upper 95 % limit of their share there, by episode, and rare events beside them. What stays
/// for an episode makes the noise wider.
#[must_use]
pub fn settings(calibration: &ModelCalibration, alpha: f32) -> MonitorSettings {
    let ordinary = 1.0 - f64::from(calibration.extreme_share());
    let usual = 1.0 - f64::from(calibration.gate.share_lower) * ordinary;
    let stays = calibration
        .stays
        .iter()
        .fold(0.0_f32, |most, stays| most.max(*stays));
    MonitorSettings {
        noise_width: noise_width(calibration.dimensions.len()) * 1.0_f32.hypot(stays),
        surprise_rate: usual.max(1.0 - NOMINAL_SHARE) as f32,
        alpha,
    }
}

/// One episode as the monitor saw it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drive {
    /// The episode's number.
    pub episode: u32,
    /// Its rows, up to the end also after a trip.
    #[serde(skip)]
    pub observations: Vec<Observation>,
    /// The wealth of the wager on surprises after each row.
    #[serde(skip)]
    pub wealth: Vec<f32>,
    /// How many rows were what.
    pub counts: MonitorCounts,
    /// Where the monitor tripped, from 0, and why.
    pub trip: Option<DriveTrip>,
}

/// The end of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DriveTrip {
    /// The row of the episode, from 0.
    pub step: usize,
    pub why: Trip,
}

/// Lets a monitor watch every episode from its first row.
///
/// # Errors
/// If task and model do not fit together, or a setting is out of its range.
pub fn watch(
    task: &TaskFile,
    model_part: &[u8],
    log: &Log,
    settings: MonitorSettings,
) -> Result<Vec<Drive>, Error> {
    let effort = Effort {
        trajectories: 1,
        searched: 0,
        iterations: 0,
        seed: 0,
        allocation: Allocation::Even,
    };
    let bytes = image_without_controller(task, model_part, effort)?;
    let image = Image::parse(bytes.as_bytes())?;
    let mut episodes: Vec<Vec<Transition<'_>>> = Vec::new();
    for row in log.rows() {
        match episodes.last_mut() {
            Some(rows) if rows.last().is_some_and(|last| last.episode == row.episode) => {
                rows.push(row);
            }
            _ => episodes.push(vec![row]),
        }
    }
    let drives = episodes
        .par_iter()
        .map(|rows| drive(&image, rows, settings));
    drives.collect()
}

fn drive(
    image: &Image<'_>,
    rows: &[Transition<'_>],
    settings: MonitorSettings,
) -> Result<Drive, Error> {
    let (model, task) = (image.model(), image.task());
    let mut lent = vec![[0.0]; Monitor::rows_needed(model, task)?];
    let mut monitor =
        Monitor::new(model, task, settings, &mut lent).map_err(|error| match error {
            MonitorError::Capacity(error) => Error::from(error),
            MonitorError::Parameter(error) => Error::Usage(format!("the monitor: {error:?}")),
        })?;
    let mut observations = Vec::with_capacity(rows.len());
    let mut wealth = Vec::with_capacity(rows.len());
    let mut trip = None;
    for (step, row) in rows.iter().enumerate() {
        let observation = monitor.observe(&Measured {
            state: row.state,
            action: row.action,
            next_state: row.next_state,
            is_fresh: true,
        });
        let tripped = observation.trip.map(|why| DriveTrip { step, why });
        trip = trip.or(tripped);
        observations.push(observation);
        wealth.push(monitor.wealth());
    }
    Ok(Drive {
        episode: rows.first().map_or(0, |row| row.episode),
        observations,
        wealth,
        counts: monitor.counts(),
        trip,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use hambo_core::numeric::random::Stream;

    use crate::ensemble::options::EnsembleOptions;
    use crate::fit::{FitOptions, ModelOptions, fit};
    use crate::model_file::ModelFile;
    use hambo_base::observer::Unobserved;

    const TASK: &str = r#"
name = "cart"
horizon = 40
[state]
names = ["x", "v"]
[action]
names = ["u"]
low = [-1.0]
high = [1.0]
[reward]
expr = "-x^2"
[initial]
kind = "data"
"#;

    /// Episodes of a cart whose motor has this gain, with noise on the speed, driven by a
    /// noisy controller.
    fn log(episodes: u32, gain: f32, offset: f32, seed: u64) -> Log {
        let mut log = Log::new(2, 1);
        for episode in 0..episodes {
            let mut stream = Stream::new(seed, episode);
            let mut state = [stream.uniform() - 0.5, 0.0];
            for _ in 0..40 {
                let wanted = -state[0] - state[1] + 0.6 * stream.standard_normal();
                let action = [wanted.clamp(-1.0, 1.0)];
                let speed = 0.9 * state[1] + gain * action[0] + 0.01 * stream.standard_normal();
                let next = [
                    state[0] + 0.1 * state[1] + 0.001 * stream.standard_normal(),
                    speed,
                ];
                let measured = [next[0] + offset, next[1]];
                log.push(Transition {
                    state: &[state[0] + offset, state[1]],
                    action: &action,
                    next_state: &measured,
                    reward: 0.0,
                    episode,
                })
                .unwrap();
                state = next;
            }
        }
        log
    }

    fn model(task: &TaskFile, log: &Log) -> ModelFile {
        let networks = EnsembleOptions {
            hidden: vec![16, 16],
            steps: 600,
            ..EnsembleOptions::default()
        };
        let options = FitOptions::new(ModelOptions::Networks(networks));
        fit(task, log, &options, &mut Unobserved).unwrap().0
    }

    #[test]
    fn the_same_robot_drives_on_and_another_is_stopped() {
        let task = TaskFile::parse(TASK, "cart.toml").unwrap();
        let model = model(&task, &log(60, 0.2, 0.0, 1));
        let settings = settings(&model.metadata().calibration, 0.01);
        assert!((0.01..0.1).contains(&settings.surprise_rate));
        let watched = |log: &Log| watch(&task, model.model_part(), log, settings).unwrap();
        let tripped = |drives: &[Drive]| drives.iter().filter(|one| one.trip.is_some()).count();
        let same = watched(&log(100, 0.2, 0.0, 2));
        assert_eq!((same.len(), same[7].episode), (100, 7));
        assert_eq!(same[7].observations.len(), 40);
        assert!(tripped(&same) <= 2, "{}", tripped(&same));
        let weaker = watched(&log(100, 0.1, 0.0, 3));
        assert!(tripped(&weaker) >= 95, "{}", tripped(&weaker));
        let mut steps: Vec<usize> = weaker
            .iter()
            .filter_map(|one| Some(one.trip?.step))
            .collect();
        steps.sort_unstable();
        assert!(steps[steps.len() / 2] < 20, "{steps:?}");
        // What s′ − s does not depend on cannot be seen.
        let moved = watched(&log(100, 0.2, 0.1, 4));
        assert!(tripped(&moved) <= 5, "{}", tripped(&moved));
    }
}
