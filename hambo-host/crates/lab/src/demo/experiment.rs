//! A model of PointSafety from the log of a safe controller, and the cases that it checks.

use hambo_core::policy::Waypoints;

use crate::environment::PointSafety;
use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_check::CheckOptions;
use hambo_check::adversary::find_adversaries;
use hambo_check::case::Case;
use hambo_data::Log;
use hambo_learn::calibration::ModelCalibration;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_learn::model_file::ModelFile;
use hambo_task::image::AlignedBytes;
use hambo_task::policy::HostPolicy;

/// The behaviour policy's waypoint.
pub(super) const BEHAVIOUR: f32 = 1.6;
/// Standard deviation of its action noise.
pub(super) const ACTION_NOISE: f32 = 0.1;
const EPISODES: u32 = 60;
/// Sweeps of the search.
const SWEEPS: u32 = 12;
/// Trajectories that are sampled, as by default on a device.
const TRAJECTORIES: u32 = 400;
/// Trajectories that are searched, as by default on a device.
const SEARCHED: u32 = 8;

/// A PointSafety model with all that checks need.
#[derive(Debug)]
pub struct Experiment {
    pub system: PointSafety,
    pub log: Log,
    /// The model.
    pub model: ModelFile,
    /// How its calibration went.
    pub calibration: ModelCalibration,
    /// The seed of the log, the model and the checks.
    pub seed: u64,
}

impl Experiment {
    /// Collects a log under a seed and fits a model to it.
    ///
    /// # Errors
    /// If the training fails.
    pub fn new(seed: u64) -> Result<Self, Error> {
        let system = PointSafety::new()?;
        let log = system.collect(&policy(BEHAVIOUR)?, EPISODES, ACTION_NOISE, seed)?;
        let options = FitOptions {
            model: ModelOptions::Networks(EnsembleOptions {
                seed,
                ..EnsembleOptions::demo()
            }),
            ..FitOptions::demo()
        };
        let (model, calibration) = fit(system.task(), &log, &options, &mut Unobserved)?;
        Ok(Self {
            system,
            log,
            model,
            calibration,
            seed,
        })
    }

    /// The case of pi_y.
    ///
    /// # Errors
    /// If y is not a finite number.
    pub fn case(&self, y: f32) -> Result<Case, Error> {
        let policy = HostPolicy::Waypoints(policy(y)?);
        let options = CheckOptions {
            log: Some(&self.log),
            sweeps: Some(SWEEPS),
            trajectories: Some(TRAJECTORIES),
            searched: Some(SEARCHED),
            seed: self.seed,
            ..CheckOptions::default()
        };
        Case::new(self.system.task(), &self.model, &policy, &options)
    }

    /// The image that checks pi_y.
    ///
    /// # Errors
    /// As [`Self::case`].
    pub fn image(&self, y: f32) -> Result<AlignedBytes, Error> {
        let case = self.case(y)?;
        let found = case.parsed(|case| find_adversaries(&case, None, &mut Unobserved))?;
        case.image(&found)
    }
}

pub(super) fn policy(y: f32) -> Result<Waypoints, Error> {
    let bad = || format!("the waypoint {y} is not a finite number; give one that is");
    PointSafety::policy(y).ok_or_else(|| Error::Usage(bad()))
}
