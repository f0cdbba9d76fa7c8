//! What decides, and what must not.

// Whole checks take minutes each under Miri.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use heapless::Vec;

use super::{Adversary, Check, Estimate, OfController, Outcome, Progress};
use crate::example;
use crate::floor::Admitted;
use crate::gate::Reason;
use crate::gate::code_words::ADMITTED;
use crate::image::{Bundle, Image};
use crate::task::expression::{Op, Program, Variable as Input};
use crate::task::{
    FoundChoices, InitialKind, InitialState, Limits, Objective, Task, Variant, Wraps,
};

pub(super) fn check(image: &Image<'_>) -> Outcome {
    let mut rows = vec![[0.0; 4]; Check::<4>::rows_needed(image).unwrap()];
    let mut check = Check::new(image, &mut rows).unwrap();
    match check.advance(u32::MAX) {
        Progress::Finished(outcome) => outcome,
        Progress::Working { .. } => panic!("unfinished"),
    }
}

/// A bundle as if the example's floor had admitted it, whatever it asks.
pub(super) fn admitted<'b>(bundle: &'b Bundle<'b>) -> Admitted<'b> {
    Admitted::of_words([ADMITTED; 2], bundle, [3; 32])
}

/// The check of its controller.
pub(super) fn gated(bundle: &Bundle<'_>) -> Outcome<OfController> {
    let admitted = admitted(bundle);
    let needed = Check::<4>::rows_needed(bundle.image()).unwrap();
    let mut rows = vec![[0.0; 4]; needed];
    let mut check = Check::of_controller(&admitted, &mut rows).unwrap();
    match check.advance(u32::MAX) {
        Progress::Finished(outcome) => outcome,
        Progress::Working { .. } => panic!("unfinished"),
    }
}

pub(super) fn check_with(change: impl FnOnce(&mut Task<'static>)) -> Outcome {
    check(&example::image_with(change).unwrap())
}

fn variants(task: &mut Task<'_>, variants: &[Variant]) {
    task.plan.method.variants = Vec::from_slice(variants).unwrap();
}

fn of(outcome: &Outcome, variant: Variant) -> Estimate {
    let mut all = outcome.estimates.iter();
    let found = all.find(|one| one.variant == variant && one.objective == Objective::Return);
    *found.unwrap()
}

/// Another reward: ops that follow the example's, of which the last counts.
pub(super) fn reward(task: &mut Task<'_>, ops: &[Op]) {
    let all = [task.program.ops(), ops].concat();
    task.reward = (all.len() - 1) as u16;
    task.program = Program::new(&all, 1, 1).unwrap();
}

#[test]
fn no_adversary_no_verdict() {
    for variant in [
        Variant::Mean,
        Variant::DistributionSampling,
        Variant::TrajectorySampling1,
        Variant::TrajectorySamplingInf,
        Variant::Penalised,
    ] {
        let outcome = check_with(|task| {
            variants(task, &[variant]);
            task.threshold = Some(-100.0);
        });
        assert_eq!(outcome.verdict.name(), "abstain", "{variant:?}");
        assert!(outcome.reasons.contains(&Reason::NoAdversary));
        assert!(outcome.bound.is_nan());
    }
    // Beside an adversary a neutral estimate is shown and does not decide.
    let outcome = check_with(|task| {
        variants(
            task,
            &[Variant::TrajectorySampling1, Variant::ContinuousAdversary],
        );
    });
    assert_eq!(outcome.verdict.name(), "deploy");
}

#[test]
fn a_search_without_sweeps_or_trajectories_never_deploys() {
    let none: [fn(&mut Task<'_>); 3] = [
        |task| task.plan.effort.iterations = 0,
        |task| task.plan.effort.searched = 0,
        |task| task.plan.effort.searched = 1,
    ];
    for change in none {
        let outcome = check_with(change);
        assert_eq!(outcome.verdict.name(), "abstain");
        assert!(outcome.reasons.contains(&Reason::NoSearch));
    }
}

#[test]
fn a_set_without_width_decides_nothing() {
    let mut model = example::model().unwrap();
    model.confidence.beta = 0.0;
    let image = Image::of(model, example::task().unwrap(), example::policy().unwrap());
    let outcome = check(&image);
    assert_eq!(outcome.verdict.name(), "abstain");
    assert_eq!(outcome.reasons, [Reason::NoWidth]);
}

#[test]
fn what_the_host_refused_never_deploys() {
    let outcome = check_with(|task| task.plan.refused_by_host = true);
    assert_eq!(outcome.verdict.name(), "abstain");
    assert_eq!(outcome.reasons, [Reason::RefusedByHost]);
}

#[test]
fn one_step_outside_the_bounds_is_seen() {
    // The rewards are −1, −1/4, −1/16, −1/64 without an adversary; the sum
    // −1.61 lies well within four times −0.9.
    let outcome = check_with(|task| task.reward_bounds = Some([-0.9, 0.0]));
    assert_eq!(outcome.verdict.name(), "abstain");
    assert!(outcome.reasons.contains(&Reason::OutsideRewardBounds));
    let outcome = check_with(|task| task.reward_bounds = Some([-2.0, 0.0]));
    assert!(!outcome.reasons.contains(&Reason::OutsideRewardBounds));
    let outcome =
        check_with(|task| task.constraint_bounds = [Some([1.5, 2.0])].into_iter().collect());
    assert!(outcome.reasons.contains(&Reason::OutsideRewardBounds));
    let outcome = check_with(|task| task.return_bounds = Some([-1.5, 0.0]));
    assert!(outcome.reasons.contains(&Reason::OutsideRewardBounds));
}

#[test]
fn a_reward_at_its_bound_passes_in_spite_of_rounding() {
    // A hundred times −0.1 is −10.000002 in f32.
    let outcome = check_with(|task| {
        reward(task, &[Op::Constant(-0.1)]);
        task.horizon = 100;
        task.reward_bounds = Some([-0.1, 0.0]);
        task.threshold = Some(-11.0);
    });
    assert_eq!(outcome.reasons, []);
    assert_eq!(outcome.verdict.name(), "deploy");
}

/// The reward −exp(1e4 · max(s′ − limit, 0)), which overflows beyond the limit.
fn overflow_beyond(limit: f32) -> Outcome {
    check_with(|task| {
        let size = task.program.ops().len() as u16;
        reward(
            task,
            &[
                Op::Variable(Input::Next(0)),
                Op::Constant(limit),
                Op::Subtract(size, size + 1),
                Op::Constant(0.0),
                Op::Maximum(size + 2, size + 3),
                Op::Constant(1e4),
                Op::Multiply(size + 4, size + 5),
                Op::Exponential(size + 6),
                Op::Negate(size + 7),
            ],
        );
    })
}

#[test]
fn an_overflow_under_the_adversary_is_a_reject_and_without_one_abstains() {
    // s′ is 0.5 at first, and only a push takes it beyond 0.55.
    let outcome = overflow_beyond(0.55);
    assert_eq!(outcome.verdict.name(), "reject", "{:?}", outcome.reasons);
    assert_eq!(outcome.reasons, [Reason::ReturnBelowThreshold]);
    assert_eq!(outcome.bound, f32::NEG_INFINITY);
    let outcome = overflow_beyond(0.45);
    assert_eq!(outcome.verdict.name(), "abstain");
    assert!(outcome.reasons.contains(&Reason::NotFinite));
}

#[test]
fn a_search_that_is_blind_abstains() {
    // The root of (0 · s′)²: its value is 0, its slope infinity times 0.
    let outcome = check_with(|task| {
        let size = task.program.ops().len() as u16;
        reward(
            task,
            &[
                Op::Variable(Input::Next(0)),
                Op::Constant(0.0),
                Op::Multiply(size, size + 1),
                Op::Multiply(size + 2, size + 2),
                Op::Constant(0.5),
                Op::Power(size + 3, size + 4),
            ],
        );
    });
    assert_eq!(outcome.verdict.name(), "abstain");
    assert_eq!(outcome.reasons, [Reason::SearchFailed]);
}

#[test]
fn five_logged_starts_are_enough_and_four_are_not() {
    static STARTS: [f32; 6] = [1.0, 0.9, 0.8, 0.7, 0.6, 1.0];
    let logged = |states: &'static [f32], kind| {
        check_with(|task| {
            task.initial = InitialState {
                kind,
                first: states,
                second: &[],
            };
            task.plan.effort.trajectories = 12;
            task.plan.effort.searched = 6;
        })
    };
    let outcome = logged(&STARTS, InitialKind::Logged);
    assert_eq!(outcome.verdict.name(), "deploy", "{:?}", outcome.reasons);
    // Twelve trajectories are six values: two from each start.
    let estimate = of(&outcome, Variant::ContinuousAdversary);
    assert_eq!(estimate.sampled.count, 6);
    assert!(estimate.lower < estimate.mean);
    let outcome = logged(&STARTS[..4], InitialKind::Logged);
    assert_eq!(outcome.verdict.name(), "abstain");
    assert_eq!(outcome.reasons, [Reason::FewStarts(4)]);
    // The robot always starts from these: nothing more is to be known.
    let outcome = logged(&STARTS[..4], InitialKind::Listed);
    assert_eq!(outcome.verdict.name(), "deploy");
}

#[test]
fn every_logged_start_counts_the_same() {
    static STARTS: [f32; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
    // T = 1 and the reward −s²: the mean over the starts is −0.375, whatever
    // the number of trajectories.
    for trajectories in [5, 7, 12, 50] {
        let outcome = check_with(|task| {
            task.horizon = 1;
            task.initial = InitialState {
                kind: InitialKind::Logged,
                first: &STARTS,
                second: &[],
            };
            task.plan.effort.trajectories = trajectories;
        });
        assert!(
            (outcome.neutral + 0.375).abs() < 1e-6,
            "{}",
            outcome.neutral
        );
    }
}

#[test]
fn a_check_starts_inside_the_interval_of_what_wraps() {
    let from = |first: &'static [f32], kind| {
        check_with(|task| {
            task.wraps = Wraps {
                low: &[-1.5],
                period: &[3.0],
            };
            task.initial = InitialState {
                kind,
                first,
                second: &[],
            };
        })
    };
    for kind in [InitialKind::Point, InitialKind::Logged] {
        let (home, away) = (from(&[1.0], kind), from(&[7.0], kind));
        assert!((home.neutral + 1.328).abs() < 1e-3);
        assert_eq!(home.neutral.to_bits(), away.neutral.to_bits());
    }
}

#[test]
fn ca_tries_the_members_whatever_variants_run() {
    // The members push by ±0.1 · (1, …): CA alone is at most what DAinf finds.
    let alone = check_with(|task| variants(task, &[Variant::ContinuousAdversary]));
    let members = check_with(|task| variants(task, &[Variant::DiscreteAdversaryInf]));
    let ca = of(&alone, Variant::ContinuousAdversary);
    let dainf = of(&members, Variant::DiscreteAdversaryInf);
    assert!(ca.mean <= dainf.mean + 1e-6);
    let member = ca.found.member.unwrap();
    assert!(
        (member - dainf.mean).abs() < 1e-4,
        "{member} {}",
        dainf.mean
    );
}

#[test]
fn what_was_found_elsewhere_is_tried_on_every_trajectory() {
    static PUSH: [f32; 4] = [1.0; 4];
    let outcome = check_with(|task| {
        let found = FoundChoices::new(Variant::ContinuousAdversary, 0, 4, &PUSH);
        task.plan.found.push(found).unwrap();
    });
    let estimate = of(&outcome, Variant::ContinuousAdversary);
    // The push all the way up is the worst there is.
    let found = estimate.found.elsewhere.unwrap();
    assert!((found + 1.61).abs() < 1e-3, "{found}");
    assert_eq!(estimate.sampled.mean, estimate.mean);
    assert_ne!(estimate.adversary, Adversary::None);
}

/// delta is 0.1, the return has a constraint beside it: 0.025 for each, half
/// of it for the correction.
#[test]
fn the_margin_spends_its_share_of_delta() {
    let outcome = check_with(|task| {
        task.initial = InitialState {
            kind: InitialKind::Gaussian,
            first: &[0.0],
            second: &[0.5],
        };
        task.state_limits = Limits {
            low: &[f32::NEG_INFINITY],
            high: &[f32::INFINITY],
        };
        task.plan.effort.trajectories = 16;
        variants(
            task,
            &[Variant::ContinuousAdversary, Variant::DiscreteAdversaryInf],
        );
    });
    let ca = of(&outcome, Variant::ContinuousAdversary);
    let margin = (ca.sampled.mean - ca.sampled.lower) / ca.sampled.standard_error;
    // t of 15 degrees of freedom at 0.0125 is 2.490.
    assert!((2.49..2.51).contains(&margin), "{margin}");
    let mean = outcome.estimates[0];
    let margin = (mean.mean - mean.lower) / mean.standard_error;
    // A neutral estimate has no correction: 2.131 at 0.025.
    assert!((2.13..2.15).contains(&margin), "{margin}");
}

/// Three starts, the second worst: with every level and adversary it is the one that counts.
#[test]
fn the_worst_of_listed_starts_counts() {
    let starts = |first: &'static [f32], kind| {
        check_with(|task| {
            task.initial = InitialState {
                kind,
                first,
                second: &[],
            };
            task.plan.effort.trajectories = 6;
            task.plan.effort.searched = 12;
            variants(
                task,
                &[
                    Variant::ContinuousAdversary,
                    Variant::DiscreteAdversary1,
                    Variant::DiscreteAdversaryInf,
                ],
            );
        })
    };
    let worst = starts(&[1.0, 1.5, -0.5], InitialKind::Worst);
    let alone = starts(&[1.5], InitialKind::Listed);
    for (one, other) in worst.estimates.iter().zip(&alone.estimates) {
        let case = (one.variant, one.objective);
        assert_eq!((one.mean, one.lower), (other.mean, other.lower), "{case:?}");
    }
    assert_eq!(worst.estimates[1].sampled.count, 2);
    assert_eq!(worst.bound, alone.bound);
}
