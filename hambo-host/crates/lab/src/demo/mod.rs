//! The whole story on PointSafety: log, fit, check on the host and on the
//! device, study, picture.

mod controller;
mod experiment;
mod picture;
mod study;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::environment::UNSAFE_BELOW;
use controller::CheckedController;
use experiment::{ACTION_NOISE, BEHAVIOUR};
use hambo_base::Error;
use hambo_device::Qemu;
use hambo_learn::ensemble::EnsembleOptions;
use study::{counted, judge, study_seeds};

pub use experiment::Experiment;
pub use study::{study, study_waypoints};

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

    let (seeds, waypoints) = (study_seeds(options.seed), study_waypoints());
    writeln!(
        out,
        "study: {} models × {} controllers …",
        seeds.len(),
        waypoints.len()
    )?;
    let by_model = judge(&seeds, &waypoints)?;
    let study = counted(&by_model);
    study.write_picture(&folder.join("study"))?;
    study::print_table(&study, out)?;
    let usual = (&experiment, &controllers[0]);
    let picture = picture::draw(&seeds, &by_model, usual, &folder.join("point_safety"))?;

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

/// Figure 1, as the demo draws it, and what the checks of both controllers say on the host.
/// Returns the picture's path.
///
/// # Errors
/// If a file cannot be written.
pub fn figure_1(stem: &Path, out: &mut impl Write) -> Result<PathBuf, Error> {
    let experiment = Experiment::new(0)?;
    let check = |y| CheckedController::check(&experiment, y, None, None);
    let controllers = [check(1.1)?, check(1.6)?];
    controller::print_table(&controllers, experiment.system.task().threshold, out)?;
    let seeds = study_seeds(0);
    let mut waypoints = study_waypoints();
    waypoints.retain(|y| *y <= UNSAFE_BELOW);
    let by_model = judge(&seeds, &waypoints)?;
    picture::draw(&seeds, &by_model, (&experiment, &controllers[0]), stem)
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
