//! What becomes of estimates: who found them, which take over from which, and
//! the bounds of a return that the task states.

// Whole checks take minutes each under Miri.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, reason = "tests")]

use heapless::Vec;

use super::judge::{Decisive, nest};
use super::tests::{check_with, reward};
use super::{Adversary, Estimate, Outcome};
use crate::gate::Reason;
use crate::task::expression::{Op, Variable};
use crate::task::{Objective, Task, Variant};

const ADVERSARIES: [Variant; 3] = [
    Variant::ContinuousAdversary,
    Variant::DiscreteAdversary1,
    Variant::DiscreteAdversaryInf,
];

fn adversaries(task: &mut Task<'_>) {
    task.plan.method.variants = Vec::from_slice(&ADVERSARIES).unwrap();
}

fn of(outcome: &Outcome, variant: Variant) -> Estimate {
    let mut all = outcome.estimates.iter();
    let found = all.find(|one| one.variant == variant && one.objective == Objective::Return);
    *found.unwrap()
}

#[test]
fn whoever_found_the_minimum_is_named() {
    let outcome = check_with(adversaries);
    assert_eq!(of(&outcome, Variant::Mean).adversary, Adversary::None);
    // A push up all the way is the worst for −s², and so is the member that pushes up.
    let adversary = of(&outcome, Variant::ContinuousAdversary).adversary;
    assert_eq!(adversary, Adversary::Constant(2));
    for variant in [Variant::DiscreteAdversary1, Variant::DiscreteAdversaryInf] {
        assert_eq!(of(&outcome, variant).adversary, Adversary::Member(0));
    }
}

/// −100 max(s − 0.55, 0) − 10 max(0.2 − s, 0): up first, then down.
fn up_then_down(task: &mut Task<'static>) {
    adversaries(task);
    let size = task.program.ops().len() as u16;
    reward(
        task,
        &[
            Op::Variable(Variable::State(0)),
            Op::Constant(0.0),
            Op::Constant(0.55),
            Op::Subtract(size, size + 2),
            Op::Maximum(size + 3, size + 1),
            Op::Constant(-100.0),
            Op::Multiply(size + 4, size + 5),
            Op::Constant(0.2),
            Op::Subtract(size + 7, size),
            Op::Maximum(size + 8, size + 1),
            Op::Constant(10.0),
            Op::Multiply(size + 9, size + 10),
            Op::Subtract(size + 6, size + 11),
        ],
    );
}

#[test]
fn a_search_that_finds_more_than_its_starts_is_named() {
    let outcome = check_with(up_then_down);
    let found = of(&outcome, Variant::ContinuousAdversary);
    assert_eq!(found.adversary, Adversary::Adjoint, "{found:?}");
    assert!(found.mean < found.found.constant.unwrap());
    let found = of(&outcome, Variant::DiscreteAdversary1);
    assert_eq!(found.adversary, Adversary::Sequence, "{found:?}");
    let found = of(&outcome, Variant::DiscreteAdversaryInf);
    assert!(matches!(found.adversary, Adversary::Member(_)));
}

/// Estimates of all adversaries with the given mean, and a bound 1 below it.
fn estimates(means: [f32; 3]) -> std::vec::Vec<Decisive> {
    let outcome = check_with(adversaries);
    let mut estimates: std::vec::Vec<Decisive> =
        outcome.estimates.iter().map(Decisive::of).collect();
    for estimate in &mut estimates {
        let place = ADVERSARIES.iter().position(|one| *one == estimate.variant);
        if let Some(place) = place.filter(|_| estimate.objective == Objective::Return) {
            estimate.mean = means[place];
            estimate.lower = means[place] - 1.0;
            estimate.adversary = Adversary::Found(place as u16);
        } else {
            // A constraint knows nothing of the return.
            estimate.mean = 50.0;
            estimate.lower = 49.0;
        }
    }
    estimates
}

fn returns(estimates: &[Decisive]) -> std::vec::Vec<(f32, f32, Adversary)> {
    let all = estimates
        .iter()
        .filter(|one| one.objective == Objective::Return && ADVERSARIES.contains(&one.variant));
    all.map(|one| (one.mean, one.lower, one.adversary))
        .collect()
}

#[test]
fn what_a_member_did_the_others_could_have_done() {
    let [ca, da1, dainf] = [0, 1, 2].map(Adversary::Found);
    let nested = |means: [f32; 3], holds_members: bool| {
        let mut estimates = estimates(means);
        nest(&mut estimates, holds_members);
        let constraints = estimates.iter();
        assert!({ constraints }.all(|one| {
            one.objective == Objective::Return || (one.mean, one.lower) == (50.0, 49.0)
        }));
        returns(&estimates)
    };
    let all = [(-9.0, -10.0, dainf); 3];
    assert_eq!(nested([-5.0, -6.0, -9.0], true), all);
    // A set that does not hold every member could not have followed it.
    let kept = [(-5.0, -6.0, ca), all[1], all[2]];
    assert_eq!(nested([-5.0, -6.0, -9.0], false), kept);
    // What is no less changes nothing, not even the name.
    let own = [(-5.0, -6.0, ca), (-5.0, -6.0, da1), (-5.0, -6.0, dainf)];
    assert_eq!(nested([-5.0; 3], true), own);
    let own = [(-7.0, -8.0, ca), (-6.0, -7.0, da1), (-5.0, -6.0, dainf)];
    assert_eq!(nested([-7.0, -6.0, -5.0], true), own);
}

#[test]
fn a_digest_is_of_the_estimates() {
    let digest = |horizon| check_with(|task| task.horizon = horizon).digest();
    assert_eq!(digest(4), digest(4));
    assert_ne!(digest(4), digest(3));
}

#[test]
fn a_return_at_its_bounds_passes_in_spite_of_rounding() {
    // A hundred times 0.1 is 10.000002 in f32.
    for (step, bounds) in [(-0.1, [-10.0, 0.0]), (0.1, [0.0, 10.0])] {
        let outcome = check_with(|task| {
            reward(task, &[Op::Constant(step)]);
            task.horizon = 100;
            task.return_bounds = Some(bounds);
            task.threshold = Some(-11.0);
        });
        assert_eq!(outcome.reasons, [], "{bounds:?}");
    }
}

#[test]
fn a_return_beyond_either_bound_is_seen() {
    // −1.328 without an adversary, −1.61 with the worst.
    for (bounds, seen) in [
        ([-1.6, 0.0], true),
        ([-2.0, -1.4], true),
        ([-1.7, -1.1], false),
    ] {
        let outcome = check_with(|task| task.return_bounds = Some(bounds));
        let found = outcome.reasons.contains(&Reason::OutsideRewardBounds);
        assert_eq!(found, seen, "{bounds:?}");
    }
}

#[test]
fn what_is_no_less_changes_no_bit() {
    let mut estimates = estimates([0.0, 0.0, -0.0]);
    for estimate in &mut estimates {
        // Both zeros are equal, and keep their signs.
        let found = estimate.variant == Variant::DiscreteAdversaryInf;
        estimate.lower = if found { -0.0 } else { 0.0 };
        estimate.mean = estimate.lower;
    }
    nest(&mut estimates, true);
    for estimate in &estimates {
        let found = estimate.variant == Variant::DiscreteAdversaryInf;
        let (mean, lower) = (estimate.mean, estimate.lower);
        assert_eq!([mean, lower].map(f32::is_sign_negative), [found; 2]);
    }
}
