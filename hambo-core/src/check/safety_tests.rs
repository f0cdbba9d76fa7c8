//! Evidence that must not deploy: each test fails if one line of the way from
//! a step to the verdict is taken out.

// Whole checks take minutes each under Miri.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, reason = "tests")]

use super::Outcome;
use super::tests::{check, check_with, reward};
use crate::estimate::Margin;
use crate::example;
use crate::gate::Reason;
use crate::image::Image;
use crate::model::{Calibration, Ensemble, StatisticalModel};
use crate::numeric::network::{Activation, NetworkShape};
use crate::task::Variant;
use crate::task::expression::{Op, Program};

/// The constraint `limit − |s|` instead of 2 − |s|.
fn within(limit: f32) -> Outcome {
    check_with(|task| {
        let mut ops = task.program.ops().to_vec();
        ops[3] = Op::Constant(limit);
        task.program = Program::new(&ops, 1, 1).unwrap();
    })
}

#[test]
fn a_constraint_that_the_adversary_violates_is_a_reject() {
    // The mean of |s| is 0.469 without an adversary, and 0.575 with the worst.
    let outcome = within(0.5);
    assert_eq!(outcome.verdict.name(), "reject");
    assert_eq!(outcome.reasons, [Reason::ConstraintViolated(0)]);
    let outcome = within(0.6);
    assert_eq!(outcome.reasons, []);
    assert_eq!(outcome.verdict.name(), "deploy");
}

#[test]
fn a_number_that_is_not_finite_abstains_wherever_it_turns_up() {
    // 1 / exp(1000) − s²: the return is what it was, but exp(1000) is not.
    let outcome = check_with(|task| {
        let size = task.program.ops().len() as u16;
        reward(
            task,
            &[
                Op::Constant(1.0),
                Op::Constant(1000.0),
                Op::Exponential(size + 1),
                Op::Divide(size, size + 2),
                Op::Subtract(size + 3, 1),
            ],
        );
    });
    assert!((outcome.bound + 1.61).abs() < 1e-3, "{}", outcome.bound);
    assert_eq!(outcome.verdict.name(), "abstain");
    assert_eq!(outcome.reasons, [Reason::NotFinite]);
}

#[test]
fn a_sum_that_is_not_finite_abstains() {
    // Each reward is a number, four of them are none.
    let outcome = check_with(|task| reward(task, &[Op::Constant(f32::MAX)]));
    assert_eq!(outcome.verdict.name(), "abstain");
    assert!(outcome.reasons.contains(&Reason::NotFinite));
}

#[test]
fn a_model_that_is_not_calibrated_abstains() {
    for calibration in [
        Calibration::Failed,
        Calibration::TooFewRows,
        Calibration::Blind(4),
    ] {
        let mut model = example::model().unwrap();
        model.confidence.calibration = calibration;
        let image = Image::of(model, example::task().unwrap(), example::policy().unwrap());
        let outcome = check(&image);
        assert_eq!(outcome.verdict.name(), "abstain");
        assert_eq!(outcome.reasons, [Reason::NotCalibrated(calibration)]);
    }
}

/// The example with a log of one row at the origin, and steps farther away
/// than `limit` outside: they begin at 1.12, 0.56, 0.28 and 0.14 from it.
fn within_the_log(limit: f32) -> Outcome {
    let mut model = example::model().unwrap();
    model.support.limit = limit;
    let image = Image::of(model, example::task().unwrap(), example::policy().unwrap());
    check(&image)
}

#[test]
fn a_share_of_steps_outside_the_log_abstains() {
    let all = Reason::TrajectoriesOutside(100);
    let far: [&[Reason]; 2] = [&[], &[all]];
    for (limit, percent, far) in [(1.0, 25, far[0]), (0.3, 50, far[1]), (0.1, 100, far[1])] {
        let outcome = within_the_log(limit);
        assert_eq!(outcome.verdict.name(), "abstain");
        let reasons = [&[Reason::OutsideSupport(percent)], far].concat();
        assert_eq!(outcome.reasons[..], reasons[..]);
    }
    assert_eq!(within_the_log(1.2).verdict.name(), "deploy");
}

#[test]
fn paths_with_noise_and_the_mean_path_are_held_apart() {
    // The mean goes through 1, 0.5, 0.25 and begins two of four steps beyond 0.55
    // from the log; the members go through 1, 0.6, 0.4 and 1, 0.4, 0.1 and have three
    // of eight there. Together they would be 5 of 12.
    for (limit, percent) in [(0.55, 50), (0.6, 38)] {
        let mut model = example::model().unwrap();
        model.support.limit = limit;
        let mut task = example::task().unwrap();
        task.plan.method.variants = [Variant::DiscreteAdversaryInf].into_iter().collect();
        let image = Image::of(model, task, example::policy().unwrap());
        let all = Reason::TrajectoriesOutside(100);
        let reasons = [Reason::OutsideSupport(percent), all];
        assert_eq!(check(&image).reasons, reasons);
    }
}

#[test]
fn members_that_agree_leave_no_width_and_no_number_that_is_not_finite() {
    static SAME: [[f32; 4]; 6] = [
        [0.1, -20.0, 0.0, 0.0],
        [0.0; 4],
        [1.0, 0.0, 0.0, 0.0],
        [0.1, -20.0, 0.0, 0.0],
        [0.0; 4],
        [1.0, 0.0, 0.0, 0.0],
    ];
    let shape = NetworkShape::new(2, &[], 2, Activation::Relu).unwrap();
    let mut model = example::model().unwrap();
    let same = Ensemble::new(shape, 1, (1e-3, 1.0), example::UNITS, &SAME).unwrap();
    model.dynamics = StatisticalModel::Ensemble(same).into();
    let image = Image::of(model, example::task().unwrap(), example::policy().unwrap());
    let outcome = check(&image);
    assert_eq!(outcome.reasons, [Reason::NoWidth]);
    assert!((outcome.bound - outcome.neutral).abs() < 1e-6);
}

#[test]
fn what_is_taken_off_the_reward_has_no_bounds() {
    let outcome = check_with(|task| {
        task.plan.method.variants = [Variant::Penalised].into_iter().collect();
        task.reward_bounds = Some([-1.0, 0.0]);
        task.plan.effort.trajectories = 1000;
    });
    let margins = outcome
        .estimates
        .iter()
        .map(|one| (one.variant, one.margin));
    let margins: Vec<_> = margins.take(2).collect();
    let wanted = [
        (Variant::Mean, Margin::Betting),
        (Variant::Penalised, Margin::StudentT),
    ];
    assert_eq!(margins, wanted);
}

/// The example over `horizon` steps, of which the first begins 1.12 from the log, with a log whose
/// own rows go far outside at a rate.
fn first_step_outside(limit: f32, horizon: u32, exit_rate: f32) -> Outcome {
    let mut model = example::model().unwrap();
    model.support.limit = limit;
    model.support.exit_rate = exit_rate;
    let mut task = example::task().unwrap();
    task.horizon = horizon;
    task.threshold = Some(-5.0);
    let image = Image::of(model, task, example::policy().unwrap());
    check(&image)
}

#[test]
fn five_per_cent_outside_the_log_are_allowed() {
    // One step of twenty, in every trajectory, and not far.
    let outcome = first_step_outside(1.0, 20, 0.0);
    let found = (outcome.verdict.name(), &outcome.reasons[..]);
    assert_eq!(found, ("deploy", &[][..]));
    let shares = outcome.outside();
    assert_eq!((shares.steps, shares.far_trajectories), (0.05, 0.0));
}

#[test]
fn trajectories_that_begin_far_outside_abstain_however_soon_they_come_back() {
    // 1.6 times the limit.
    let outcome = first_step_outside(0.7, 20, 0.0);
    assert_eq!(outcome.verdict.name(), "abstain");
    assert_eq!(outcome.reasons, [Reason::TrajectoriesOutside(100)]);
    let shares = outcome.outside();
    assert_eq!((shares.steps, shares.far_trajectories), (0.05, 1.0));
    assert_eq!(shares.allowed_trajectories, 5);
    // The log's own always do.
    let outcome = first_step_outside(0.7, 20, 1.0);
    assert_eq!(outcome.verdict.name(), "deploy");
}

#[test]
fn the_share_of_trajectories_that_is_allowed_grows_with_the_horizon() {
    // 5 % and 1 − exp(−0.01 · T).
    for (horizon, allowed) in [(20, 23), (30, 30), (40, 37)] {
        let outcome = first_step_outside(0.7, horizon, 0.01);
        assert_eq!(outcome.outside().allowed_trajectories, allowed);
        assert_eq!(outcome.reasons, [Reason::TrajectoriesOutside(100)]);
    }
}

#[test]
fn a_horizon_beyond_twice_the_tested_windows_abstains() {
    let checked = |tested, calibration| {
        let mut model = example::model().unwrap();
        model.confidence.tested_steps = tested;
        model.confidence.calibration = calibration;
        let image = Image::of(model, example::task().unwrap(), example::policy().unwrap());
        check(&image)
    };
    // Four steps.
    for tested in [2, 3, 4, u16::MAX] {
        assert_eq!(checked(tested, Calibration::Passed).reasons, []);
    }
    for tested in [0, 1] {
        let outcome = checked(tested, Calibration::Passed);
        assert_eq!(outcome.verdict.name(), "abstain");
        assert_eq!(outcome.reasons, [Reason::UntestedHorizon(tested)]);
    }
    // A calibration that says no itself is all that is said.
    for calibration in [Calibration::Failed, Calibration::Blind(4)] {
        let outcome = checked(1, calibration);
        assert_eq!(outcome.reasons, [Reason::NotCalibrated(calibration)]);
    }
    let outcome = checked(1, Calibration::Blind(5));
    assert_eq!(outcome.reasons, [Reason::UntestedHorizon(1)]);
}
