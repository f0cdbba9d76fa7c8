//! The whole story on PointSafety: log, fit, check on the host and on the
//! device, study, picture.

mod controller;
mod study;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hambo_core::policy::Waypoints;

use super::environment::point_safety::PointSafety;
use controller::CheckedController;
use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_check::CheckOptions;
use hambo_check::adversary::adversaries;
use hambo_check::case::Case;
use hambo_check::trace::{Trace, neutral_traces, traces};
use hambo_data::Log;
use hambo_device::Qemu;
use hambo_learn::calibration::ModelCalibration;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_learn::model_file::ModelFile;
use hambo_report::figure::{AdversarialStep, PointSafetyFigure};
use hambo_task::image::AlignedBytes;
use hambo_task::policy::HostPolicy;
pub use study::{study, study_waypoints};

/// The behaviour policy's waypoint.
const BEHAVIOUR: f32 = 1.6;
/// Standard deviation of its action noise.
const ACTION_NOISE: f32 = 0.1;
const EPISODES: u32 = 60;
/// Sweeps of the search.
const SWEEPS: u32 = 12;
/// Trajectories that are sampled, as by default on a device.
const TRAJECTORIES: u32 = 400;
/// Trajectories that are searched, likewise.
const SEARCHED: u32 = 8;
/// Models of the study.
const STUDY_MODELS: u64 = 10;

/// What the demo may be told.
#[derive(Clone, Debug)]
pub struct DemoOptions {
    /// Where files go.
    pub output: PathBuf,
    /// The firmware's ELF file; without one the device column stays empty.
    pub firmware: Option<PathBuf>,
    /// Seed of the log, the training and the check.
    pub seed: u64,
}

/// A PointSafety model with all that checks need.
#[derive(Debug)]
pub struct Experiment {
    /// The system.
    pub system: PointSafety,
    /// The log.
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
            searched: SEARCHED,
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
        let (_, adversaries) = adversaries(&case, None, &mut Unobserved)?;
        case.image(&adversaries)
    }
}

fn policy(y: f32) -> Result<Waypoints, Error> {
    let bad = || format!("the waypoint {y} is not a finite number; give one that is");
    PointSafety::policy(y).ok_or_else(|| Error::Usage(bad()))
}

/// Runs the demo and prints what happens to `out`.
///
/// # Errors
/// If a file cannot be written, the device cannot be started, or host and
/// device disagree.
pub fn run(options: &DemoOptions, out: &mut impl Write) -> Result<(), Error> {
    let start = Instant::now();
    let folder = &options.output;
    std::fs::create_dir_all(folder).map_err(|error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
    })?;

    let experiment = Experiment::new(options.seed)?;
    let task = experiment.system.task();
    let log_file = folder.join("log.csv");
    experiment
        .log
        .write_csv(&log_file, &task.state_names, &task.action_names)?;
    experiment.model.write(&folder.join("model.hambo"))?;
    print_fit(&experiment, &log_file, out)?;

    let qemu = options.firmware.as_ref().map(Qemu::new);
    let where_ = if qemu.is_some() {
        "on the host and on the device"
    } else {
        "on the host"
    };
    writeln!(out, "checking pi_1.1 and pi_1.6 {where_} …")?;
    let check = |y| CheckedController::check(&experiment, y, qemu.as_ref(), Some(folder));
    let (unsafe_one, safe_one) = rayon::join(|| check(1.1), || check(1.6));
    let controllers = [unsafe_one?, safe_one?];
    let picture = draw(&experiment, &controllers[0], &folder.join("point_safety"))?;

    writeln!(
        out,
        "study: {STUDY_MODELS} models × {} controllers …",
        study_waypoints().len()
    )?;
    let seeds: Vec<u64> = (0..STUDY_MODELS)
        .map(|seed| options.seed + 1000 + seed)
        .collect();
    let study = study(&seeds)?;
    study.write_picture(&folder.join("study"))?;
    study::print_table(&study, out)?;

    controller::print_table(&controllers, task.threshold, out)?;
    writeln!(
        out,
        "\npicture: {}   files: {}   {:.1} s",
        picture.display(),
        folder.display(),
        start.elapsed().as_secs_f32()
    )?;
    Ok(())
}

/// Figure 1: the unsafe controller, its neutral trajectory and the adversary's, and what the
/// checks of both controllers say on the host. Returns the picture's path.
///
/// # Errors
/// If a file cannot be written.
pub fn figure_1(stem: &Path, out: &mut impl Write) -> Result<PathBuf, Error> {
    let experiment = Experiment::new(0)?;
    let check = |y| CheckedController::check(&experiment, y, None, None);
    let controllers = [check(1.1)?, check(1.6)?];
    controller::print_table(&controllers, experiment.system.task().threshold, out)?;
    draw(&experiment, &controllers[0], stem)
}

fn print_fit(experiment: &Experiment, log_file: &Path, out: &mut impl Write) -> Result<(), Error> {
    let calibration = &experiment.calibration;
    let data = &experiment.model.metadata().data;
    let networks = EnsembleOptions::demo().members;
    writeln!(
        out,
        "log: {} transitions of pi_{BEHAVIOUR} with action noise {ACTION_NOISE} → {}",
        experiment.log.len(),
        log_file.display()
    )?;
    writeln!(
        out,
        "fit: {} networks on {} transitions; {} withheld: calibration scale {:.2?}, beta {:.3}, {:.0} % inside set and noise",
        networks,
        data.training_rows,
        data.withheld_rows,
        calibration.scales(),
        calibration.beta,
        100.0 * calibration.gate.share
    )?;
    Ok(())
}

fn plane(state: &[f32]) -> [f32; 2] {
    [state[0], state[1]]
}

/// Figure 1: what the controller does, what the mean model thinks, and what
/// the adversary finds.
fn draw(
    experiment: &Experiment,
    controller: &CheckedController,
    stem: &Path,
) -> Result<PathBuf, Error> {
    let bytes = experiment.image(controller.y)?;
    let image = hambo_core::image::Image::parse(bytes.as_bytes())?;
    let first = |traces: Vec<Trace>| traces.into_iter().next().unwrap_or_default();
    let (neutral, adversarial) = match controller.findings.first() {
        Some(found) => (neutral_traces(&image, found)?, traces(&image, found)?),
        None => (Vec::new(), Vec::new()),
    };
    let (neutral, adversarial) = (first(neutral), first(adversarial));
    let sets = adversarial.sets(&image);
    let figure = PointSafetyFigure {
        waypoint: controller.y,
        logged: experiment
            .log
            .rows()
            .map(|row| [plane(row.state), plane(row.next_state)])
            .collect(),
        true_path: controller.truth.states.clone(),
        neutral_path: neutral.states.iter().map(|state| plane(state)).collect(),
        adversarial_steps: sets
            .iter()
            .zip(adversarial.states.iter().skip(1))
            .map(|(set, next_state)| AdversarialStep {
                mean: plane(&set.center),
                half_width: plane(&set.half_width),
                next_state: plane(next_state),
            })
            .collect(),
        true_return: controller.truth.value,
        neutral_return: controller.outcome.neutral,
        bound: controller.outcome.bound,
        threshold: controller.outcome.threshold.unwrap_or(f32::NAN),
        verdict: controller.outcome.verdict.name(),
    };
    Ok(figure.write_picture(stem)?)
}
