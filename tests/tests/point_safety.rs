//! The paper's illustrative example over many seeds: the bound is a bound,
//! and the gate opens for the safe controller.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_check::in_lanes::check;
use hambo_core::gate::Reason;
use hambo_core::image::{Image, ModelManifest, TaskManifest};
use hambo_core::model::Calibration;
use hambo_lab::demo::{Experiment, study};
use hambo_lab::environment::PointSafety;
use hambo_task::image::AlignedBytes;
use hambo_tests::fixture;
use rayon::prelude::*;

const SEEDS: u64 = 20;

/// Nearest distance of the segments between states to the origin.
fn nearest_approach(states: &[[f32; 2]]) -> f32 {
    let segments = states.windows(2).map(|pair| {
        let ([x, y], [nx, ny]) = (pair[0], pair[1]);
        let (dx, dy) = (nx - x, ny - y);
        let square = (dx * dx + dy * dy).max(1e-12);
        let t = (-(x * dx + y * dy) / square).clamp(0.0, 1.0);
        (x + t * dx).hypot(y + t * dy)
    });
    segments.fold(f32::INFINITY, f32::min)
}

#[test]
fn the_true_system_is_as_the_design_says() {
    let system = PointSafety::new().unwrap();
    for (y, safe) in [
        (1.0, false),
        (1.15, false),
        (1.154, false),
        (1.156, true),
        (1.6, true),
    ] {
        let path = system.walk(&PointSafety::policy(y).unwrap());
        assert_eq!(path.value > -60.0, safe, "pi_{y}: {}", path.value);
        assert_eq!(nearest_approach(&path.states) >= 1.0, safe, "pi_{y}");
        let end = path.states.last().unwrap();
        assert!(
            (end[0] - 2.0).abs() < 1e-5 && end[1].abs() < 1e-5,
            "{end:?}"
        );
    }
    assert!(PointSafety::policy(f32::NAN).is_none());
}

#[test]
fn bounds_hold_over_twenty_seeds() {
    let results: Vec<(f32, f32, &str, &str)> = (0..SEEDS)
        .into_par_iter()
        .map(|seed| {
            let experiment = Experiment::new(seed).unwrap();
            let run = |y: f32| {
                let bytes = experiment.image(y).unwrap();
                let outcome = check(&Image::parse(bytes.as_bytes()).unwrap()).unwrap();
                let truth = experiment
                    .system
                    .walk(&PointSafety::policy(y).unwrap())
                    .value;
                (truth - outcome.bound, outcome.verdict.name())
            };
            let ((danger_gap, danger), (safe_gap, safe)) = (run(1.1), run(1.6));
            (danger_gap, safe_gap, danger, safe)
        })
        .collect();
    for (seed, (danger_gap, safe_gap, danger, _)) in results.iter().enumerate() {
        assert_eq!(*danger, "reject", "seed {seed}");
        assert!(
            *danger_gap >= 0.0 && *safe_gap >= 0.0,
            "seed {seed}: bound above the truth"
        );
    }
    let deployed = results
        .iter()
        .filter(|(.., safe)| *safe == "deploy")
        .count();
    println!("pi_1.6 deployed in {deployed} of {SEEDS} seeds");
    assert_eq!(deployed as u64, SEEDS);
}

#[test]
fn the_study_deploys_nothing_unsafe() {
    let seeds: Vec<u64> = (0..4).collect();
    let study = study(&seeds).unwrap();
    assert_eq!(study.ca().unsafe_deployed, 0);
    assert_eq!(study.ca().unsafe_checks, 16);
    assert!(
        study.ca().safe_refused <= study.ca().safe_checks / 4,
        "{:?}",
        study.ca()
    );
}

#[test]
fn evidence_that_is_unfit_abstains() {
    let experiment = Experiment::new(3).unwrap();
    // A waypoint far outside the log.
    let outcome = |bytes: AlignedBytes| check(&Image::parse(bytes.as_bytes()).unwrap()).unwrap();
    let far = outcome(experiment.image(4.8).unwrap());
    assert_eq!(far.verdict.name(), "abstain");
    let outside = |reason: &Reason| matches!(reason, Reason::OutsideSupport(_));
    assert!(far.reasons.iter().any(outside), "{:?}", far.reasons);

    // A model without calibration, otherwise the same.
    let bytes = experiment.image(1.6).unwrap();
    let rewritten = |change: &dyn Fn(&mut ModelManifest, &mut TaskManifest<'_>)| {
        outcome(fixture::rewritten(bytes.as_bytes(), change).unwrap())
    };
    assert_eq!(rewritten(&|_, _| {}).verdict.name(), "deploy");
    for calibration in [Calibration::Failed, Calibration::TooFewRows] {
        let outcome = rewritten(&|model, _| model.calibration = calibration);
        assert_eq!(outcome.verdict.name(), "abstain");
        assert!(
            outcome
                .reasons
                .contains(&Reason::NotCalibrated(calibration))
        );
    }
    let aimless = rewritten(&|_, task| task.threshold = None);
    assert_eq!(aimless.verdict.name(), "abstain");
    // A single trajectory says nothing about the spread.
    let single = rewritten(&|_, task| {
        task.threshold = Some(-1000.0);
        task.effort.trajectories = 1;
    });
    assert_ne!(single.verdict.name(), "deploy");
}
