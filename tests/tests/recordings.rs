//! One recording is one sample of whatever is drawn when it begins. A payload that is drawn once
//! cannot be seen in 3,000 rows of it, however many stretches these are cut into.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::observer::Unobserved;
use hambo_check::adversary::EffortLevel;
use hambo_check::case::ensure_model_fits;
use hambo_check::{CheckOptions, CheckResult, Verdict, run};
use hambo_core::model::Calibration;
use hambo_data::Log;
use hambo_learn::calibration::CalibrationStatus;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_learn::model_file::ModelFile;
use hambo_task::task::TaskFile;
use hambo_tests::fixture::Draw;
use hambo_tests::study::assumption::{Assumption, Case};
use hambo_tests::study::simulate::{Controller, Quantity, log, truth};

const ROWS: usize = 3000;
/// Of the spread between a reasonable controller and none: by how much the threshold is missed,
/// or cleared.
const MISSED: f64 = 0.05;
const CLEARED: f64 = 0.2;
const LOGGING: Controller = Controller {
    gain: [-1.0, -0.5, 0.0, 0.0],
};
/// Of the logs with a payload: the one that was drawn is smaller than this, as it is in one of
/// three, so that it is not seen from the starts either.
const SMALL: f32 = 0.4;
const WORD: &str = "nothing of the system changes between recordings (the task says so)";

/// A cart with or without a payload, logged in some recordings of 3,000 rows together, and the
/// return of its own controller.
struct Robot {
    case: Case,
    log: Log,
    seed: u64,
    truth: f64,
    spread: f64,
}

impl Robot {
    fn new(assumption: Assumption, recordings: usize, seed: u64) -> Self {
        let mut case = assumption.case(&mut Draw::new(seed));
        case.logging.episodes = recordings;
        case.logging.steps = ROWS / recordings;
        // So soft and so noisy that long recordings stay about where the task starts.
        case.logging.controllers = vec![LOGGING];
        case.logging.exploration = 0.6;
        let value = |plant, controller| {
            let (horizon, quantity) = (case.horizon, Quantity::Action);
            truth(plant, controller, horizon, quantity, 4000, !seed)
                .value
                .mean
        };
        let [good, idle] = [&case.controller, &Controller::IDLE].map(|one| value(&case.sound, one));
        Self {
            log: log(&case.logged, &case.logging, seed ^ 1).unwrap(),
            truth: value(&case.real, &case.controller),
            spread: good - idle,
            case,
            seed,
        }
    }

    /// The threshold lies so far above the truth, in parts of the spread.
    fn task(&self, above: f64, first_line: &str) -> TaskFile {
        let threshold = self.truth + above * self.spread;
        let text = (self.case.real).task_text(self.case.horizon, threshold as f32, "");
        TaskFile::parse(&format!("{first_line}\n{text}"), "recordings.toml").unwrap()
    }

    /// As `hambo fit` does it, with small networks.
    fn model(&self, task: &TaskFile) -> ModelFile {
        let networks = EnsembleOptions {
            hidden: vec![32; 2],
            steps: 3000,
            batch: 128,
            seed: self.seed,
            ..EnsembleOptions::for_board("stm32f405").unwrap()
        };
        let options = FitOptions {
            backtest_windows: 200,
            ..FitOptions::new(ModelOptions::Networks(networks))
        };
        fit(task, &self.log, &options, &mut Unobserved).unwrap().0
    }

    fn check(&self, task: &TaskFile, model: &ModelFile) -> CheckResult {
        let options = CheckOptions {
            effort: EffortLevel::Quick,
            trajectories: Some(1000),
            seed: self.seed,
            ..CheckOptions::default()
        };
        let policy = self.case.controller.policy(task).unwrap();
        run(task, model, &policy, &options, &mut Unobserved)
            .unwrap()
            .result
    }
}

fn calibration(model: &ModelFile) -> Calibration {
    model.model().unwrap().confidence.calibration
}

/// What deployed a controller that misses its threshold when stretches counted as recordings
/// abstains; and where the task says that they do, the verdict's line repeats it.
#[test]
fn one_recording_calibrates_nothing_unless_the_task_says_that_nothing_changes() {
    let mut wrong = 0;
    // The payload is the first number of a log.
    let small = |seed: &u64| Draw::new(seed ^ 1).normal().abs() < SMALL;
    for seed in (0..).filter(small).take(3) {
        let robot = Robot::new(Assumption::Payload, 1, seed);
        let task = robot.task(MISSED, "");
        let model = robot.model(&task);
        let found = &model.metadata().calibration;
        assert_eq!(
            found.status,
            CalibrationStatus::TooFewRecordings {
                recordings: 1,
                needed: 38
            }
        );
        // One sample, however many stretches were withheld.
        assert_eq!(found.gate.episodes, 1);
        assert_eq!(model.metadata().backtest.as_ref().unwrap().episodes, 1);
        assert_eq!(calibration(&model), Calibration::TooFewRows);
        let result = robot.check(&task, &model);
        assert_eq!(result.decision.verdict, Some(Verdict::Abstain));
        assert!(!result.decision.assumes.contains(WORD) && !result.setting.stationary);

        // The same with the word, which is wrong here.
        let said = robot.task(MISSED, "stationary = true");
        let model = robot.model(&said);
        assert!(model.metadata().calibration.gate.episodes > 1);
        let result = robot.check(&said, &model);
        assert!(result.decision.assumes.contains(WORD) && result.setting.stationary);
        println!(
            "payload {seed}: {:?}, truth {:.1}, bound {:.1}, threshold {:.1}: {:?}",
            model.metadata().calibration.status,
            robot.truth,
            result.decision.bound.0,
            task.threshold.unwrap(),
            result.decision.verdict
        );
        wrong += u32::from(result.decision.verdict == Some(Verdict::Deploy));
        // Without the word nobody may use that model.
        let refused = ensure_model_fits(&task, &model).unwrap_err().to_string();
        assert!(
            refused.contains("calibrated on 1 recording because")
                && refused.contains("help: write stationary = true"),
            "{refused}"
        );
    }
    assert!(wrong >= 1, "{wrong}");
}

#[test]
fn forty_recordings_of_the_same_rows_deploy_a_good_controller() {
    for seed in 0..2 {
        let robot = Robot::new(Assumption::Nothing, 40, seed);
        let task = robot.task(-CLEARED, "");
        let model = robot.model(&task);
        let status = model.metadata().calibration.status;
        assert_eq!(status, CalibrationStatus::Calibrated);
        let result = robot.check(&task, &model);
        assert_eq!(
            result.decision.verdict,
            Some(Verdict::Deploy),
            "{} of {}: {:?}",
            result.decision.bound,
            robot.truth,
            result.decision.reasons
        );
        // Where there are recordings enough, the word is not what the bound rests on.
        let said = robot.task(-CLEARED, "stationary = true");
        ensure_model_fits(&said, &model).unwrap();
        let result = robot.check(&said, &model);
        assert!(!result.decision.assumes.contains(WORD));
    }
}

/// One recording of a system of which nothing changes, with the word: as good as ever.
#[test]
fn one_recording_of_a_stationary_system_deploys_with_the_word() {
    let robot = Robot::new(Assumption::Nothing, 1, 0);
    let task = robot.task(-CLEARED, "stationary = true");
    let model = robot.model(&task);
    let status = model.metadata().calibration.status;
    assert_eq!(status, CalibrationStatus::Calibrated);
    let result = robot.check(&task, &model);
    assert_eq!(
        result.decision.verdict,
        Some(Verdict::Deploy),
        "{:?}",
        result.decision.reasons
    );
    assert!(result.decision.assumes.contains(WORD));
}
