//! What all networks get wrong in the same way where a controller goes: the check looks at the
//! withheld rows near its path, widens the set or abstains. The error is put into the rows that
//! the model file keeps, so that its size is known.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::observer::Unobserved;
use hambo_check::adversary::EffortLevel;
use hambo_check::{CheckOptions, CheckResult, Verdict, run};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions};
use hambo_learn::model_file::ModelFile;
use hambo_task::task::TaskFile;
use hambo_tests::fixture::Draw;
use hambo_tests::study::assumption::{Assumption, Case};
use hambo_tests::study::judge::model;
use hambo_tests::study::simulate::log;

/// Position, speed and action.
const INPUTS: usize = 3;
const STATES: usize = 2;
const SPEED: usize = 1;

fn fitted(case: &Case, task: &TaskFile) -> ModelFile {
    let networks = EnsembleOptions {
        hidden: vec![32; 2],
        steps: 2000,
        batch: 128,
        ..EnsembleOptions::for_board("stm32f405").unwrap()
    };
    let options = FitOptions::new(ModelOptions::Networks(networks));
    model(
        task,
        &log(&case.logged, &case.logging, 3).unwrap(),
        &options,
    )
    .unwrap()
}

/// The same model whose rows say that the speed is wrong by this many half widths of the set, with
/// the sign of the action.
fn wrong_by(model: &ModelFile, times: f32) -> ModelFile {
    let mut metadata = model.metadata().clone();
    let radius = model
        .model()
        .unwrap()
        .confidence
        .radii()
        .nth(SPEED)
        .unwrap();
    let rows = &mut metadata.judging_rows;
    for row in 0..rows.episodes.len() {
        let place = row * STATES + SPEED;
        let action = rows.inputs[row * INPUTS + 2];
        let error = times * radius * rows.epistemic_std[place];
        rows.residuals[place] += error.copysign(action);
    }
    ModelFile::new(metadata, model.model_part()).unwrap()
}

fn checked(case: &Case, task: &TaskFile, model: &ModelFile) -> CheckResult {
    let options = CheckOptions {
        effort: EffortLevel::Quick,
        trajectories: Some(400),
        searched: Some(4),
        ..CheckOptions::default()
    };
    let policy = case.checked.policy(task).unwrap();
    let outcome = run(task, model, &policy, &options, &mut Unobserved).unwrap();
    outcome.result
}

#[test]
fn a_shared_error_near_the_path_widens_the_set_or_makes_the_check_abstain() {
    let case = Assumption::Nothing.case(&mut Draw::new(5));
    let text = case.real.task_text(case.horizon, -1e30, "");
    let task = TaskFile::parse(&text, "cart.toml").unwrap();
    let model = fitted(&case, &task);
    let right = checked(&case, &task, &model);
    let near = right.evidence.near_path.clone().unwrap();
    assert!(near.rows >= 100 && near.episodes >= 19, "{near:?}");
    assert_eq!((near.widened.0, near.found.as_deref()), (1.0, None));
    assert_eq!(right.decision.verdict, Some(Verdict::Deploy));

    // Noise hides an error of the set's own size, and not one of four times it.
    let wide = checked(&case, &task, &wrong_by(&model, 4.0));
    let near = wide.evidence.near_path.clone().unwrap();
    assert!((2.0..6.0).contains(&near.widened.0), "{near:?}");
    assert!(
        near.sentence().contains("set widened"),
        "{}",
        near.sentence()
    );
    assert!(near.found.unwrap().contains("x1"));
    assert!(wide.decision.bound.0 < right.decision.bound.0);

    // More than any width that calibration allows.
    let refused = checked(&case, &task, &wrong_by(&model, 40.0));
    assert_eq!(refused.decision.verdict, Some(Verdict::Abstain));
    assert!(refused.evidence.near_path.unwrap().refused);
    let reasons = refused.decision.reasons.join("; ");
    assert!(
        reasons.contains("wrong where this controller goes"),
        "{reasons}"
    );
}
