//! A model fitted and a linear controller checked as the command does it, small enough for a test.

use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_check::adversary::EffortLevel;
use hambo_check::{CheckOptions, CheckResult, run};
use hambo_data::Log;
use hambo_learn::calibration::ModelCalibration;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

/// A model of a log, calibrated, with a backtest of 60 windows.
///
/// # Errors
/// As the fit.
pub fn fitted(
    task: &TaskFile,
    log: &Log,
    model: ModelOptions,
) -> Result<(ModelFile, ModelCalibration), Error> {
    let options = FitOptions {
        backtest_windows: 60,
        ..FitOptions::new(model)
    };
    fit(task, log, &options, &mut Unobserved)
}

/// A check of u = gain · s + bias with 200 trajectories.
///
/// # Errors
/// As the check.
pub fn checked(
    task: &TaskFile,
    model: &ModelFile,
    (gain, bias): (&[f32], f32),
    searched: u32,
) -> Result<CheckResult, Error> {
    let options = CheckOptions {
        effort: EffortLevel::Quick,
        trajectories: Some(200),
        searched: Some(searched),
        ..CheckOptions::default()
    };
    let text = format!("kind = 'linear'\ngain = [{gain:?}]\nbias = [{bias}]");
    let policy = HostPolicy::parse(&text, "linear", task)?;
    Ok(run(task, model, &policy, &options, &mut Unobserved)?.result)
}
