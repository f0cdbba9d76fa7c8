//! The paper's illustrative example over many seeds: the bound is a bound,
//! and the gate opens for the safe controller.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_check::parallel::{LANES, Watch, check};
use hambo_core::gate::Reason;
use hambo_core::image::{Image, ModelManifest, TaskManifest};
use hambo_core::model::Calibration;
use hambo_lab::demo::{Experiment, study};
use hambo_lab::environment::PointSafety;
use hambo_task::image::AlignedBytes;
use hambo_tests::fixture;
use hambo_tests::pages::{ensure_kept, ensure_rows};
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
    let results: Vec<(f32, f32, &str, &str, String)> = (0..SEEDS)
        .into_par_iter()
        .map(|seed| {
            let experiment = Experiment::new(seed).unwrap();
            let run = |y: f32| {
                let bytes = experiment.image(y).unwrap();
                let outcome = check::<LANES>(&Image::parse(bytes.as_bytes()).unwrap(), Watch::NONE)
                    .unwrap()
                    .outcome;
                let truth = experiment
                    .system
                    .walk(&PointSafety::policy(y).unwrap())
                    .value;
                let (neutral, bound) = (outcome.neutral, outcome.bound);
                let (bits, verdict) = (bound.to_bits(), outcome.verdict.name());
                let row =
                    format!("\npi_{y},{truth:.3},{neutral:.3},{bound:.3},{bits:08x},{verdict}");
                (truth - bound, verdict, row)
            };
            let ((danger_gap, danger, one), (safe_gap, safe, other)) = (run(1.1), run(1.6));
            (danger_gap, safe_gap, danger, safe, one + &other)
        })
        .collect();
    // The demo's model.
    let demo = "controller,truth,neutral,bound,bits,verdict".to_owned() + &results[0].4;
    ensure_rows("results/demo.csv", &demo).unwrap();
    for (seed, (danger_gap, safe_gap, danger, ..)) in results.iter().enumerate() {
        assert_eq!(*danger, "reject", "seed {seed}");
        assert!(
            *danger_gap >= 0.0 && *safe_gap >= 0.0,
            "seed {seed}: bound above the truth"
        );
    }
    let deployed = results
        .iter()
        .filter(|(.., safe, _)| *safe == "deploy")
        .count();
    println!("pi_1.6 deployed in {deployed} of {SEEDS} seeds");
    assert_eq!(deployed as u64, SEEDS);
}

#[test]
fn the_study_deploys_nothing_unsafe() {
    // Those of the demo.
    let seeds: Vec<u64> = (1000..1010).collect();
    let study = study(&seeds).unwrap();
    assert_eq!(study.ca().unsafe_checks, 40);
    assert_eq!(study.ca().safe_checks, 130);
    for (name, count) in [
        ("study-unsafe", study.ca().unsafe_deployed),
        ("study-refused", study.ca().safe_refused),
        ("study-neutral-unsafe", study.neutral().unsafe_deployed),
        ("study-neutral-refused", study.neutral().safe_refused),
    ] {
        ensure_kept(name, f64::from(count), 0.0).unwrap();
    }
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
    let outcome = |bytes: AlignedBytes| {
        check::<LANES>(&Image::parse(bytes.as_bytes()).unwrap(), Watch::NONE)
            .unwrap()
            .outcome
    };
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
