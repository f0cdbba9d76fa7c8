//! The bound that holds for any distribution: beside the one that decides, or in its place.

// Whole checks take minutes each under Miri.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, reason = "tests")]

use heapless::Vec;

use super::tests::check_with;
use super::{Estimate, Outcome};
use crate::estimate::Margin;
use crate::gate::Reason;
use crate::task::{
    Constraint, DistributionFree, InitialKind, InitialState, Objective, Task, Variant,
};

/// The example with bounds of its return and its constraint, the wider the worse.
fn bounded(task: &mut Task<'_>, low: f32) {
    task.return_bounds = Some([low, 0.0]);
    task.constraint_bounds = Vec::from_slice(&[Some([-3.0, 2.0])]).unwrap();
    task.plan.effort.trajectories = 2000;
    task.plan.effort.searched = 200;
}

fn ca(outcome: &Outcome, objective: Objective) -> Estimate {
    let mut all = outcome.estimates.iter();
    let found =
        all.find(|one| one.variant == Variant::ContinuousAdversary && one.objective == objective);
    *found.unwrap()
}

#[test]
fn it_stands_beside_students_and_decides_where_the_task_asks_for_it() {
    for (low, asked, verdict) in [
        // All trajectories are the same: Student's t takes nothing off.
        (-100.0, false, "deploy"),
        (-100.0, true, "reject"),
        (-2.4, true, "deploy"),
    ] {
        let outcome = check_with(|task| {
            bounded(task, low);
            task.distribution_free = DistributionFree::of(Some(asked), true);
        });
        assert_eq!(outcome.verdict.name(), verdict, "{low} {asked}");
        let estimate = ca(&outcome, Objective::Return);
        let free = estimate.distribution_free().unwrap();
        // Of the range 0.3 % for the sampled trajectories and 2.6 % for the searched ones.
        let cost = (estimate.mean - free) / -low;
        assert!((0.026..0.030).contains(&cost), "{cost}");
        if asked {
            assert_eq!(outcome.bound.to_bits(), free.to_bits());
            assert_eq!(estimate.margin, Margin::Betting);
            let correction = estimate.correction.unwrap();
            assert_eq!(correction.margin, Margin::Betting);
            assert!(correction.lower < 0.0);
            assert_eq!(outcome.reasons.is_empty(), verdict == "deploy");
        } else {
            assert!(outcome.bound > free);
            assert_eq!(estimate.margin, Margin::StudentT);
        }
    }
}

#[test]
fn what_has_no_bounds_abstains_where_the_task_asks_for_it() {
    let outcome = check_with(|task| task.distribution_free = DistributionFree::Everything);
    assert_eq!(outcome.verdict.name(), "abstain");
    assert_eq!(outcome.reasons, [Reason::Unbounded(0)]);
    assert_eq!(ca(&outcome, Objective::Return).distribution_free(), None);
    // The return has bounds, the constraint has none.
    let unbounded = |task: &mut Task<'_>| {
        bounded(task, -2.4);
        task.constraint_bounds.clear();
        task.distribution_free = DistributionFree::Everything;
    };
    let outcome = check_with(unbounded);
    assert_eq!(outcome.verdict.name(), "abstain");
    assert_eq!(outcome.reasons, [Reason::Unbounded(1)]);
    // A share of the trajectories lies between 0 and 1.
    let outcome = check_with(|task| {
        unbounded(task);
        let share = Constraint {
            probability: Some(0.9),
            ..task.constraints[0]
        };
        task.constraints = Vec::from_slice(&[share]).unwrap();
    });
    assert_eq!(outcome.verdict.name(), "deploy", "{:?}", outcome.reasons);
    let share = ca(&outcome, Objective::Constraint(0));
    assert_eq!(share.margin, Margin::ClopperPearson);
    assert_eq!(share.distribution_free(), Some(share.lower));
    // What 200 searched trajectories cannot show is not taken for granted.
    assert!((0.96..0.98).contains(&share.lower), "{}", share.lower);
}

#[test]
fn the_least_of_members_and_of_initial_states_counts() {
    static STARTS: [f32; 3] = [1.0, 1.1, 0.9];
    let worst = |variant: Variant, asked: bool| {
        check_with(|task| {
            bounded(task, -20.0);
            task.constraints.clear();
            task.distribution_free = DistributionFree::of(Some(asked), true);
            task.plan.method.variants = Vec::from_slice(&[variant]).unwrap();
            task.initial = InitialState {
                kind: InitialKind::Worst,
                first: &STARTS,
                second: &[],
            };
        })
    };
    for variant in [
        Variant::ContinuousAdversary,
        Variant::DiscreteAdversary1,
        Variant::DiscreteAdversaryInf,
    ] {
        let [beside, asked] = [false, true].map(|asked| worst(variant, asked));
        let free = beside.estimates[1].distribution_free().unwrap();
        assert_eq!(asked.bound.to_bits(), free.to_bits(), "{variant:?}");
        assert!(free < beside.bound, "{variant:?}");
    }
}
