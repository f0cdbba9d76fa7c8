//! What the log does not show and a check would not meet step by step: starts outside it, and
//! horizons longer than any window that was tested. The truth of both plants is known.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::task::Allocation;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions};
use hambo_learn::model_file::ModelFile;
use hambo_task::task::TaskFile;
use hambo_tests::study::judge::{Judgement, Samples, judge, model};
use hambo_tests::study::plant::{Feature, MOST, Plant, State};
use hambo_tests::study::simulate::{Controller, Felt, Logging, Quantity, log, truth};

const SAMPLES: Samples = Samples {
    trajectories: Some(500),
    searched: Some(4),
    allocation: Some(Allocation::Even),
};

fn logging(controller: Controller, episodes: usize, steps: usize) -> Logging {
    Logging {
        controllers: vec![controller],
        exploration: 0.2,
        episodes,
        steps,
        hole: None,
        calm: None,
        felt: Felt::AtOnce,
    }
}

/// Small networks on a log of the plant.
fn fitted(plant: &Plant, horizon: usize, logging: &Logging) -> ModelFile {
    let task = task(plant, horizon, -1e30);
    let networks = EnsembleOptions {
        hidden: vec![16; 2],
        steps: 1000,
        batch: 128,
        ..EnsembleOptions::demo()
    };
    let options = FitOptions::new(ModelOptions::Networks(networks));
    model(&task, &log(plant, logging, 1).unwrap(), &options).unwrap()
}

fn task(plant: &Plant, horizon: usize, threshold: f32) -> TaskFile {
    let text = plant.task_text(horizon, threshold, "");
    TaskFile::parse(&text, "plant.toml").unwrap()
}

fn judged(
    (plant, horizon, threshold): (&Plant, usize, f32),
    model: &ModelFile,
    logging: &Logging,
    controller: &Controller,
) -> Judgement {
    let task = task(plant, horizon, threshold);
    let log = log(plant, logging, 1).unwrap();
    judge(&task, &log, model, controller, SAMPLES, 0).unwrap()
}

fn true_return(plant: &Plant, horizon: usize, controller: &Controller) -> f64 {
    let of = truth(plant, controller, horizon, Quantity::Action, 4000, 7);
    of.value.mean
}

const GENTLE: Controller = Controller {
    gain: [-0.5, -0.5, 0.0, 0.0],
};

/// Two states that settle within three steps; far from all that was logged the first kicks the
/// second.
fn kicked(start: [State; 2]) -> Plant {
    let mut matrix = [[0.0; MOST]; MOST];
    matrix[0][0] = 0.2;
    matrix[1][1] = 0.5;
    let mut plant = Plant::linear("kicked", 2, matrix, [0.1, 0.1, 0.0, 0.0]);
    plant.noise = [0.3, 0.1, 0.0, 0.0];
    plant.feature = Feature::Hill {
        height: 20.0,
        place: 2.1,
        width: 0.35,
    };
    plant.cost.state = [1.0, 1.0, 0.0, 0.0];
    plant.start = start;
    plant
}

#[test]
fn starts_outside_the_log_abstain_though_they_come_back_at_once() {
    let inside = kicked([[-1.0, -1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]);
    // Three standard deviations of the log beyond the edge.
    let outside = kicked([[2.0, -1.0, 0.0, 0.0], [2.2, 1.0, 0.0, 0.0]]);
    let (horizon, threshold) = (50, -100.0);
    let logging = logging(GENTLE, 60, horizon);
    let model = fitted(&inside, horizon, &logging);
    let check = |plant| judged((plant, horizon, threshold), &model, &logging, &GENTLE);

    let good = check(&inside);
    let truth = true_return(&inside, horizon, &GENTLE);
    assert!(
        f64::from(threshold) < good.bound && good.bound <= truth,
        "{good:?} {truth}"
    );
    assert_eq!(good.verdict, "deploy", "{good:?}");

    let bad = check(&outside);
    let truth = true_return(&outside, horizon, &GENTLE);
    // The share of steps does not show it; that of trajectories does. (Whether the bound does
    // depends on how the networks extrapolate: in the study of broken assumptions it lies
    // above the truth.)
    assert!(truth < -300.0, "{truth}");
    assert_eq!(bad.verdict, "abstain", "{bad:?}");
    assert!(!bad.reasons.contains("% of the steps"), "{bad:?}");
    assert!(
        bad.reasons.contains("in 100 % of the trajectories"),
        "{bad:?}"
    );
    assert!(bad.reasons.contains("at step 0 with x0 = 2."), "{bad:?}");
}

/// A cart with a payload that pushes all the way through an episode, too little for ten steps to
/// show it.
fn pushed() -> Plant {
    let mut matrix = [[0.0; MOST]; MOST];
    matrix[0] = [1.0, 0.1, 0.0, 0.0];
    matrix[1] = [0.0, 1.0, 0.0, 0.0];
    let mut plant = Plant::linear("pushed", 2, matrix, [0.0, 0.1, 0.0, 0.0]);
    plant.start = [[-1.0, -0.5, 0.0, 0.0], [1.0, 0.5, 0.0, 0.0]];
    plant.noise = [0.002, 0.02, 0.0, 0.0];
    plant.payload = 0.05;
    plant
}

#[test]
fn a_horizon_that_no_window_tested_abstains() {
    let plant = pushed();
    let logging = logging(GENTLE, 150, 10);
    // So low that only the horizon decides.
    let threshold = -1e6;
    let checked = |horizon| {
        let model = fitted(&plant, horizon, &logging);
        // A window of all ten steps, since twice eight would not do.
        let tested = model.model().unwrap().confidence.tested_steps;
        assert_eq!(tested, 10, "{horizon}");
        judged((&plant, horizon, threshold), &model, &logging, &GENTLE)
    };
    let within = checked(20);
    assert_eq!((within.verdict, &*within.reasons), ("deploy", ""));
    let beyond = checked(40);
    assert!(beyond.bound > f64::from(threshold), "{beyond:?}");
    assert_eq!(beyond.verdict, "abstain", "{beyond:?}");
    for part in [
        "goes on for 40 steps",
        "up to 10 steps were tested",
        "of 20 steps or more",
        "at most 20 steps",
    ] {
        assert!(beyond.reasons.contains(part), "no `{part}` in {beyond:?}");
    }
}
