//! Abstains that are certain before any trajectory is walked, whatever the controller.

use hambo_core::check::Assessment;
use hambo_core::gate::Reason;

use crate::case::options::CheckOptions;
use crate::case::{Case, ensure_model_fits};
use crate::outcome::model_summary::calibration_problem;
use crate::outcome::reasons::{certain, of_model};
use hambo_base::Error;
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

/// Why every check with this model abstains, if that is certain: it needs neither log nor
/// controller.
///
/// # Errors
/// If the model was trained for another task.
pub fn certain_of_model(task: &TaskFile, model: &ModelFile) -> Result<Option<String>, Error> {
    ensure_model_fits(task, model)?;
    let parsed = model.model()?;
    let confidence = &parsed.confidence;
    let calibration = confidence.calibration;
    let reason = if !calibration.serves(task.horizon) {
        Reason::NotCalibrated(calibration)
    } else if confidence.is_tested_for(task.horizon) {
        return Ok(None);
    } else {
        Reason::UntestedHorizon(confidence.tested_steps)
    };
    let problem = calibration_problem(model.metadata());
    Ok(of_model(reason, task.horizon).map(|sentence| {
        if problem.is_empty() {
            sentence
        } else {
            format!("{problem}: {sentence}")
        }
    }))
}

/// Why every check with these options abstains, asked of a check that has not begun.
///
/// # Errors
/// As [`run`](crate::run).
pub fn certain_of_options(
    task: &TaskFile,
    model: &ModelFile,
    policy: &HostPolicy,
    options: &CheckOptions<'_>,
) -> Result<Vec<String>, Error> {
    Case::new(task, model, policy, options)?.parsed(|parsed| {
        let system = parsed.system();
        let begun = Assessment::new(system.model, &system.task, system.policy)?;
        Ok(certain(&parsed.case.task, &begun.outcome()))
    })
}
