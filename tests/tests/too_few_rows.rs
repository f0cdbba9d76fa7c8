//! A model of a log that is too small, from `fit` through its file to the check.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::observer::Unobserved;
use hambo_check::adversary::EffortLevel;
use hambo_check::{CheckOptions, Verdict, run};
use hambo_core::model::Calibration;
use hambo_lab::environment::PointSafety;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;

/// From a log with too few rows to withhold, through the file, to the check.
#[test]
fn a_model_of_too_few_rows_abstains_from_fit_to_check() {
    let system = PointSafety::new().unwrap();
    let mut task = system.task().clone();
    // Any return is good enough: nothing but the calibration stands in the way.
    task.threshold = Some(-1e5);
    let waypoints = PointSafety::policy(1.6).unwrap();
    // Four walks of 16 steps, of which 16 rows are withheld; 20 would be needed.
    let log = system.collect(&waypoints, 4, 0.05, 1).unwrap();
    let mut options = FitOptions::demo();
    if let ModelOptions::Networks(networks) = &mut options.model {
        networks.steps = 300;
    }
    let (fitted, _) = fit(&task, &log, &options, &mut Unobserved).unwrap();
    let name = format!("hambo-few-rows-{}.hambo", std::process::id());
    let path = std::env::temp_dir().join(name);
    fitted.write(&path).unwrap();
    let read = ModelFile::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let calibration = read.model().unwrap().confidence.calibration;
    assert_eq!(calibration, Calibration::TooFewRows);

    let policy = HostPolicy::Waypoints(waypoints);
    let options = CheckOptions {
        effort: EffortLevel::Quick,
        trajectories: Some(20),
        ..CheckOptions::default()
    };
    let result = run(&task, &read, &policy, &options, &mut Unobserved)
        .unwrap()
        .result;
    assert_eq!(result.decision.verdict, Some(Verdict::Abstain));
    let reasons = result.decision.reasons.join("; ");
    assert!(reasons.contains("the model is not calibrated"), "{reasons}");
    assert!(result.decision.bound.0 > -1e5, "{}", result.decision.bound);
}
