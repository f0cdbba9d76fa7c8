//! What calibration and backtest find is in the bytes that a check reads.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::network::{Activation, Layer, Standardisation};
use hambo_base::observer::Unobserved;
use hambo_base::random::Random;
use hambo_core::model::Calibration;
use hambo_data::{Log, LogPart, Transition};
use hambo_task::image::LoggedRegion;
use hambo_task::task::TaskFile;

use super::{FitOptions, ModelOptions, Rows, Trained, calibrated};
use crate::backtest::Verdict;
use crate::calibration::noise_width;
use crate::calibration::outcome::{Beta, CalibrationStatus};
use crate::ensemble::encode::encode_ensemble;
use crate::ensemble::options::EnsembleOptions;
use crate::ensemble::{Member, TrainedEnsemble};
use crate::model_file::{DataSummary, ModelFile, NetworkSummary, TrainingSummary};
use crate::prediction::predict;

/// One step, so that windows are rows; one in a hundred may leave the tube.
const TASK: &str = "name = 'point'\nhorizon = 1\ndelta = 0.01\n[state]\nnames = ['s']\n\
     low = [-100]\nhigh = [100]\n[action]\nnames = ['a']\nlow = [-1]\nhigh = [1]\n\
     [reward]\nexpr = '-abs(s)'\n[initial]\nkind = 'point'\nvalue = [0]\n";

/// The noise that the model knows of, and half the distance of its members.
const NOISE: f32 = 0.05;
const APART: f32 = 0.1;

/// Two members that say of a point: s' = s + a ± 0.1, with noise of 0.05.
fn trained() -> Trained {
    let member = |offset: f32| Member {
        layers: vec![Layer {
            inputs: 2,
            outputs: 2,
            weights: vec![0.0, 1.0, 0.0, 0.0],
            bias: vec![offset, -20.0],
        }],
    };
    let ensemble = TrainedEnsemble {
        activation: Activation::Relu,
        standardisation: Standardisation {
            input_mean: vec![0.0; 2],
            input_scale: vec![1.0; 2],
            output_mean: vec![0.0],
            output_scale: vec![1.0],
        },
        std_floor: NOISE,
        std_cap: 1.0,
        priors: Vec::new(),
        losses: vec![0.0; 2],
        members: vec![member(APART), member(-APART)],
        widths: vec![2, 2],
    };
    Trained {
        summary: TrainingSummary::Networks(NetworkSummary {
            options: EnsembleOptions::demo(),
            losses: ensemble.losses.clone(),
            validation_loss: None,
            best_step: 0,
        }),
        beta: Beta::Nested { members: 2 },
        validation: None,
        encode: Box::new(move |uncertainty| Ok(encode_ensemble(&ensemble, uncertainty)?)),
    }
}

/// What the robot does that the model does not know.
#[derive(Clone, Copy)]
struct Robot {
    noise: f32,
    /// A difference that stays through half of an episode, one way, and then the other way.
    bias: f32,
    /// The share of the steps with a push, far beyond set and noise.
    pushed: f32,
}

/// As the model says: its own noise, and no difference that stays.
const AS_MODELLED: Robot = Robot {
    noise: NOISE,
    bias: 0.0,
    pushed: 0.0,
};

/// 50 episodes of 20 rows.
fn rows(robot: Robot, seed: u64) -> LogPart {
    let random = &mut Random::new(seed, 3);
    let mut log = Log::new(1, 1);
    for episode in 0..50 {
        let mut state = 0.0_f32;
        for step in 0..20 {
            let bias = if step < 10 { robot.bias } else { -robot.bias };
            let action = 0.3 * random.normal();
            let is_pushed = random.uniform() < robot.pushed;
            let push = if is_pushed { 10.0 } else { 0.0 };
            let next = state + action + bias + robot.noise * random.normal() + push;
            log.push(Transition {
                state: &[state],
                action: &[action],
                next_state: &[next],
                reward: 0.0,
                episode,
            })
            .unwrap();
            state = next;
        }
    }
    LogPart::whole(&log)
}

/// The file of a model whose scales one robot chose and that another one judged.
fn file(choosing: Robot, judging: Robot) -> (ModelFile, LogPart) {
    let task = TaskFile::parse(TASK, "point.toml").unwrap();
    let (choosing, judging) = (rows(choosing, 1), rows(judging, 2));
    let data = DataSummary {
        hash: [0; 32],
        rows: judging.log.len(),
        training_rows: 0,
        validation_rows: 0,
        withheld_rows: judging.log.len(),
        split_by_episodes: true,
        judging: judging.group_numbers(),
        exploration: vec![None],
        recordings: 20,
        stationary: false,
    };
    let log = judging.log.clone();
    let rows = Rows {
        shown: choosing.clone(),
        choosing,
        judging: judging.clone(),
        support: LoggedRegion::everywhere(2),
        data,
    };
    let options = FitOptions {
        backtest_windows: 200,
        ..FitOptions::new(ModelOptions::Networks(EnsembleOptions::demo()))
    };
    let trained = trained();
    let with = (&trained, &rows);
    let (file, _) = calibrated(&task, &log, &options, with, &mut Unobserved).unwrap();
    (file, judging)
}

#[test]
fn a_backtest_that_fails_is_in_the_model_that_a_check_reads() {
    // One row in twenty lies far outside: few enough for the gate, which asks for 90 %.
    let pushed = Robot {
        pushed: 0.05,
        ..AS_MODELLED
    };
    let (failed, _) = file(AS_MODELLED, pushed);
    let about = failed.metadata();
    assert_eq!(about.calibration.status, CalibrationStatus::Calibrated);
    let backtest = about.backtest.as_ref().unwrap();
    assert_eq!(backtest.verdict, Verdict::Failed { length: 1 });
    let calibration = failed.model().unwrap().confidence.calibration;
    assert_eq!(calibration, Calibration::Blind(1));
    assert!(!calibration.serves(1));
    // A robot that is as the model says passes both.
    let (passed, _) = file(AS_MODELLED, AS_MODELLED);
    let calibration = passed.model().unwrap().confidence.calibration;
    assert_eq!(calibration, Calibration::Passed);
}

/// Noise that is twice as large and a bias of three times sigma_e: neither the set nor the noise
/// of the training would hold the rows.
#[test]
fn the_scales_that_calibration_chose_are_in_the_model_that_a_check_reads() {
    let robot = Robot {
        noise: 2.0 * NOISE,
        bias: 3.0 * APART,
        ..AS_MODELLED
    };
    let (file, judging) = file(robot, robot);
    let task = TaskFile::parse(TASK, "point.toml").unwrap();
    let model = file.model().unwrap();
    let said = predict(&model, &judging.log, &task.model_view());
    // Differences of residuals show the noise alone.
    for noise in &said.aleatoric_std {
        assert!((noise / robot.noise - 1.0).abs() < 0.1, "{noise}");
    }
    let radius = model.confidence.radii().next().unwrap();
    assert!(radius >= 2.5, "{radius}");
    let width = noise_width(1);
    let held = judging.log.rows().zip(&said.mean).zip(&said.epistemic_std);
    let held = held
        .zip(&said.aleatoric_std)
        .filter(|(((row, mean), set), noise)| {
            (row.next_state[0] - *mean).abs() <= radius * **set + width * **noise
        });
    let share = held.count() as f64 / judging.log.len() as f64;
    assert!(share >= 0.97, "{share}");
}
