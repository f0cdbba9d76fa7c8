//! Constraints in time: what the search finds against every choice of a grid, and what a
//! share of trajectories is worth.

// Whole checks take minutes each under Miri.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, reason = "tests")]

use heapless::Vec;

use super::tests::{check, check_with};
use crate::estimate::{Margin, probability_limit};
use crate::example;
use crate::gate::Reason;
use crate::image::Image;
use crate::rollout::test_walk::with_rollout;
use crate::task::expression::{Op, Program, Variable as Input};
use crate::task::{Constraint, ConstraintKind, Objective, Task, Variant};

const KINDS: [ConstraintKind; 4] = [
    ConstraintKind::Mean,
    ConstraintKind::Always,
    ConstraintKind::Finally,
    ConstraintKind::Eventually,
];

/// The example's task with the constraint that the last of these ops gives, and with an end
/// where s < 0.3 if that is wanted.
fn constrain(task: &mut Task<'_>, ops: &[Op], kind: ConstraintKind, ends: bool) {
    let size = task.program.ops().len() as u16;
    let less = Op::Less {
        left: 0,
        right: size,
        width: 0.2,
    };
    let end = [Op::Constant(0.3), less];
    let all = [task.program.ops(), &end, ops].concat();
    task.termination = ends.then_some(size + 1);
    let slot = (all.len() - 1) as u16;
    task.program = Program::new(&all, 1, 1).unwrap();
    let constraint = Constraint {
        kind,
        ..Constraint::mean(slot)
    };
    task.constraints = Vec::from_slice(&[constraint]).unwrap();
}

/// Margins after the example's six ops and the two of the end: slot 8 is the first.
fn margins() -> [std::vec::Vec<Op>; 4] {
    let state = Op::Variable(Input::State(0));
    let next = Op::Variable(Input::Next(0));
    [
        // 0.6 − |s′|
        std::vec![
            next,
            Op::Absolute(8),
            Op::Constant(0.6),
            Op::Subtract(10, 9)
        ],
        // |s′ − 0.2|: neither up nor down is worst everywhere.
        std::vec![
            next,
            Op::Constant(0.2),
            Op::Subtract(8, 9),
            Op::Absolute(10)
        ],
        // s − 0.1 t
        std::vec![
            state,
            Op::Variable(Input::Step),
            Op::Constant(0.1),
            Op::Multiply(9, 10),
            Op::Subtract(8, 11),
        ],
        // s′ (0.3 − s′)
        std::vec![
            next,
            Op::Constant(0.3),
            Op::Subtract(9, 8),
            Op::Multiply(8, 10)
        ],
    ]
}

/// The least value over all sequences of five pushes.
fn least_of_grid(task: &Task<'_>) -> f32 {
    let ca = (Variant::ContinuousAdversary, Objective::Constraint(0));
    let pushes = [-1.0, -0.5, 0.0, 0.5, 1.0];
    with_rollout(task, ca, |rollout, buffers, streams| {
        let mut least = f32::INFINITY;
        for number in 0..125_usize {
            rollout.start(streams, buffers);
            let [a, b, c] = [number % 5, number / 5 % 5, number / 25].map(|digit| pushes[digit]);
            buffers.eta[0] = [a; 5];
            buffers.eta[1] = [b; 5];
            buffers.eta[2] = [c; 5];
            buffers.eta[3] = pushes;
            let returns = rollout.forward(streams, buffers);
            least = returns.value.into_iter().fold(least, f32::min);
        }
        least
    })
}

#[test]
fn the_search_finds_the_worst_of_every_kind() {
    for (number, ops) in margins().iter().enumerate() {
        for kind in KINDS {
            for ends in [false, true] {
                let change = |task: &mut Task<'static>| {
                    constrain(task, ops, kind, ends);
                    task.plan.effort.iterations = 160;
                };
                let image = example::image_with(change).unwrap();
                let least = least_of_grid(image.task());
                let outcome = check(&image);
                let mut all = outcome.estimates.iter();
                let found = all.find(|one| {
                    one.objective == Objective::Constraint(0) && one.variant.has_adversary()
                });
                let found = found.unwrap().mean;
                let case = (number, kind, ends);
                // Between the grid's pushes there may be worse ones.
                assert!(found <= least + 1e-4, "{case:?}: {found} against {least}");
                assert!(found > least - 0.05, "{case:?}: {found} against {least}");
            }
        }
    }
}

/// The constraint 0.65 − |s′| at every step, kept whatever the adversary does, or
/// 0.59 − |s′|, which it can break; with as many sampled as searched trajectories.
fn kept(limit: f32, probability: f32, trajectories: u32) -> super::Outcome {
    check_with(|task| {
        let next = Op::Variable(Input::Next(0));
        let ops = [
            next,
            Op::Absolute(8),
            Op::Constant(limit),
            Op::Subtract(10, 9),
        ];
        constrain(task, &ops, ConstraintKind::Always, false);
        task.constraints[0].probability = Some(probability);
        task.plan.effort.trajectories = trajectories;
        task.plan.effort.searched = trajectories;
    })
}

#[test]
fn a_share_is_certified_by_as_many_trajectories_as_it_needs() {
    // delta 0.1: a quarter of a half for each level of one of two objectives.
    let limit = probability_limit(875, 0, 0.0125);
    assert!((0.995..0.99501).contains(&limit));
    let outcome = kept(0.65, 0.99, 875);
    assert_eq!(
        (outcome.verdict.name(), outcome.reasons.len()),
        ("deploy", 0)
    );
    let constraint = outcome.estimates[3];
    assert_eq!(constraint.margin, Margin::ClopperPearson);
    let both = limit + (limit - 1.0);
    assert_eq!((constraint.mean, constraint.lower), (1.0, both));
    // One trajectory fewer, or a little more wanted, and it is not.
    for (probability, trajectories) in [(0.99, 874), (0.9901, 875)] {
        let outcome = kept(0.65, probability, trajectories);
        assert_eq!(outcome.verdict.name(), "reject");
        assert_eq!(outcome.reasons, [Reason::ConstraintViolated(0)]);
    }
}

#[test]
fn a_share_that_the_adversary_can_break_is_zero() {
    // s′ = 0.5 ± 0.1 after the first step.
    let outcome = kept(0.59, 0.5, 100);
    assert_eq!(outcome.verdict.name(), "reject");
    let constraint = outcome.estimates[3];
    assert_eq!((constraint.mean, constraint.lower), (0.0, 0.0));
    // Without an adversary every trajectory keeps it.
    assert_eq!(outcome.estimates[2].mean, 1.0);
}

#[test]
fn what_only_the_search_breaks_comes_off_the_share() {
    // Swinging pushes break |s′ − 0.2| > 0.02 in the second step, constants do not.
    let outcome = check_with(|task| {
        constrain(task, &margins()[1], ConstraintKind::Always, false);
        let slot = task.constraints[0].slot;
        let all = [
            task.program.ops(),
            &[Op::Constant(0.02), Op::Subtract(slot, slot + 1)],
        ]
        .concat();
        task.program = Program::new(&all, 1, 1).unwrap();
        task.constraints[0].slot = slot + 2;
        task.constraints[0].probability = Some(0.5);
        task.plan.effort.iterations = 160;
    });
    let constraint = outcome.estimates[3];
    let correction = constraint.correction.unwrap();
    assert_eq!(constraint.sampled.mean + correction.mean, 0.0);
    assert_eq!(constraint.mean, 0.0);
    assert!(outcome.reasons.contains(&Reason::ConstraintViolated(0)));
}

#[test]
fn two_constraints_with_one_margin_are_two() {
    let image: Image<'_> = example::image_with(|task| {
        let constraints = [ConstraintKind::Always, ConstraintKind::Eventually];
        let constraint = |kind| Constraint {
            kind,
            ..Constraint::mean(5)
        };
        task.constraints = constraints.map(constraint).into_iter().collect();
    })
    .unwrap();
    let outcome = check(&image);
    let of = |place| {
        let mut all = outcome.estimates.iter();
        let wanted = Objective::Constraint(place);
        all.find(|one| one.objective == wanted).unwrap().mean
    };
    // 2 − |s| over 1, 1/2, 1/4, 1/8.
    assert_eq!((of(0), of(1)), (1.0, 1.875));
}
