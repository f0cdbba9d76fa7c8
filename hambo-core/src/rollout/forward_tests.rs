//! The forward sweep by hand: sums, discounts, means, ends, and what is noted on
//! the way.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::Returns;
use super::test_walk::with_rollout;
use crate::example;
use crate::task::expression::{Op, Program, Variable};
use crate::task::{ConstraintKind, Objective, Task, Variant};

/// The example's walk 1, 1/2, 1/4, 1/8 under mean propagation, with a task that
/// `change` has made another one of.
fn walk(objective: Objective, change: impl FnOnce(&mut Task<'static>)) -> Returns<1> {
    walk_smoothly(false, objective, change)
}

/// The same walk, with the smooth objective if `smooth`.
fn walk_smoothly(
    smooth: bool,
    objective: Objective,
    change: impl FnOnce(&mut Task<'static>),
) -> Returns<1> {
    let mut task = example::task().unwrap();
    change(&mut task);
    with_rollout(
        &task,
        (Variant::Mean, objective),
        |rollout, buffers, streams| {
            buffers.smooth_end = smooth;
            rollout.forward(streams, buffers)
        },
    )
}

/// Ops after the example's own; the last is the reward.
fn reward(task: &mut Task<'_>, ops: &[Op]) {
    let all = [task.program.ops(), ops].concat();
    task.reward = (all.len() - 1) as u16;
    task.program = Program::new(&all, 1, 1).unwrap();
}

/// Ends where s < 0.3, which is at the third step.
fn ends_below(task: &mut Task<'_>) {
    let size = task.program.ops().len() as u16;
    let less = Op::Less {
        left: 0,
        right: size,
        width: 1.0,
    };
    let all = [task.program.ops(), &[Op::Constant(0.3), less]].concat();
    task.termination = Some(size + 1);
    task.program = Program::new(&all, 1, 1).unwrap();
}

#[test]
fn rewards_are_discounted_and_added() {
    let returns = walk(Objective::Return, |task| task.discount = 0.5);
    // −1 − 1/8 − 1/64 − 1/512.
    assert!((returns.value[0] + 1.142_578).abs() < 1e-5);
    assert_eq!((returns.steps, returns.finite), ([4], [true]));
    assert_eq!((returns.width, returns.within_bounds), ([true], [true]));
}

#[test]
fn the_step_that_ends_still_counts_and_none_after_it() {
    let returns = walk(Objective::Return, ends_below);
    assert!((returns.value[0] + 1.3125).abs() < 1e-5);
    assert_eq!(returns.steps, [3]);
    // The constraint 2 − |s| is a mean over the visited steps.
    let returns = walk(Objective::Constraint(0), ends_below);
    assert!((returns.value[0] - (2.0 - 1.75 / 3.0)).abs() < 1e-5);
}

#[test]
fn a_sum_that_overflows_is_not_finite() {
    let returns = walk(Objective::Return, |task| {
        reward(task, &[Op::Constant(f32::MAX)]);
    });
    assert_eq!(returns.finite, [false]);
    // What happens after the end does not count.
    let returns = walk(Objective::Return, |task| {
        reward(task, &[Op::Constant(f32::MAX)]);
        task.termination = Some(0);
    });
    assert_eq!((returns.finite, returns.steps), ([true], [1]));
}

#[test]
fn a_step_beyond_the_bounds_is_noted_and_stays_noted() {
    // The rewards are −1, −1/4, −1/16, −1/64: the first lies below, then the last above.
    for bounds in [[-0.9, 0.0], [-2.0, -0.02]] {
        let returns = walk(Objective::Return, |task| task.reward_bounds = Some(bounds));
        assert_eq!(returns.within_bounds, [false], "{bounds:?}");
    }
    let returns = walk(Objective::Return, |task| {
        task.reward_bounds = Some([-1.0, 0.0]);
    });
    assert_eq!(returns.within_bounds, [true]);
}

/// A constant as the termination: how far every step ends the trajectory.
fn ends_by(task: &mut Task<'_>, share: f32) {
    let all = [task.program.ops(), &[Op::Constant(share)]].concat();
    task.termination = Some((all.len() - 1) as u16);
    task.program = Program::new(&all, 1, 1).unwrap();
}

#[test]
fn a_smooth_end_weighs_each_step_by_what_survives() {
    let smooth = |objective, share| {
        let returns = walk_smoothly(true, objective, |task| {
            task.discount = 0.5;
            ends_by(task, share);
        });
        returns.smooth[0]
    };
    // A quarter ends at each step: −1 − 0.75 / 8 − 0.5625 / 64 − 0.421875 / 512.
    let wanted = -1.0 - 0.093_75 - 0.008_789_06 - 0.000_823_97;
    let found = smooth(Objective::Return, 0.25);
    assert!((found - wanted).abs() < 1e-5, "{found}");
    // The constraint 2 − |s| is 1, 1.5, 1.75 and 1.875; 2.734375 steps are visited.
    let wanted = (1.0 + 0.75 * 1.5 + 0.5625 * 1.75 + 0.421_875 * 1.875) / 2.734_375;
    let found = smooth(Objective::Constraint(0), 0.25);
    assert!((found - wanted).abs() < 1e-5, "{found}");
    // Less than nothing does not end.
    assert!((smooth(Objective::Return, -3.0) + 1.142_578).abs() < 1e-5);
    // Without an end, or if nobody asks, there is none.
    let returns = walk_smoothly(true, Objective::Return, |_| {});
    assert_eq!(returns.smooth, [0.0]);
    let returns = walk(Objective::Return, |task| ends_by(task, 0.25));
    assert_eq!(returns.smooth, [0.0]);
}

/// The example's constraint 2 − |s|, which is 1, 1.5, 1.75 and 1.875, of another kind.
fn of_kind(kind: ConstraintKind) -> impl Fn(&mut Task<'static>) {
    move |task| task.constraints[0].kind = kind
}

#[test]
fn the_least_the_last_and_the_greatest_margin() {
    for (kind, whole, ended) in [
        (ConstraintKind::Always, 1.0, 1.0),
        (ConstraintKind::Finally, 1.875, 1.75),
        (ConstraintKind::Eventually, 1.875, 1.75),
    ] {
        let returns = walk(Objective::Constraint(0), of_kind(kind));
        assert_eq!(returns.value, [whole], "{kind:?}");
        let returns = walk(Objective::Constraint(0), |task| {
            of_kind(kind)(task);
            ends_below(task);
        });
        assert_eq!(returns.value, [ended], "{kind:?}");
        // The other way round: |s| − 2 falls where 2 − |s| grows.
        let returns = walk(Objective::Constraint(0), |task| {
            of_kind(kind)(task);
            let size = task.program.ops().len() as u16;
            reward(task, &[Op::Negate(5)]);
            task.constraints[0].slot = size;
        });
        let wanted = match kind {
            ConstraintKind::Eventually => -1.0,
            _ => -1.875,
        };
        assert_eq!(returns.value, [wanted], "{kind:?}");
    }
}

#[test]
fn a_margin_that_is_not_finite_is_noted_wherever_it_is() {
    // 1 / (s − 1/2) is infinite in the second step only.
    for kind in [
        ConstraintKind::Always,
        ConstraintKind::Finally,
        ConstraintKind::Eventually,
    ] {
        let returns = walk(Objective::Constraint(0), |task| {
            of_kind(kind)(task);
            let size = task.program.ops().len() as u16;
            let ops = [
                Op::Constant(0.5),
                Op::Subtract(0, size),
                Op::Constant(1.0),
                Op::Divide(size + 2, size + 1),
            ];
            reward(task, &ops);
            task.constraints[0].slot = task.reward;
        });
        assert_eq!(returns.finite, [false], "{kind:?}");
    }
}

#[test]
fn the_step_is_counted_from_zero() {
    let returns = walk(Objective::Return, |task| {
        reward(task, &[Op::Variable(Variable::Step)]);
    });
    assert_eq!(returns.value, [6.0]);
}

#[test]
fn a_smooth_end_weighs_what_was_reached_by_the_share_that_ends() {
    let smooth = |kind, share| {
        let returns = walk_smoothly(true, Objective::Constraint(0), |task| {
            of_kind(kind)(task);
            ends_by(task, share);
        });
        returns.smooth[0]
    };
    // A quarter of what is left ends at each step, and the rest at the last one.
    let wanted = 0.25 + 0.1875 * 1.5 + 0.140_625 * 1.75 + 0.421_875 * 1.875;
    for kind in [ConstraintKind::Finally, ConstraintKind::Eventually] {
        assert!((smooth(kind, 0.25) - wanted).abs() < 1e-5, "{kind:?}");
        assert_eq!(smooth(kind, 0.0), 1.875);
        assert_eq!(smooth(kind, 1.0), 1.0);
    }
    assert!((smooth(ConstraintKind::Always, 0.25) - 1.0).abs() < 1e-6);
}

#[test]
fn beyond_a_smooth_end_numbers_may_be_anything() {
    let returns = walk_smoothly(true, Objective::Return, |task| {
        let size = task.program.ops().len() as u16;
        // 1 / (s − 1/2): 2, and then infinity.
        let ops = [
            Op::Constant(0.5),
            Op::Subtract(0, size),
            Op::Constant(1.0),
            Op::Divide(size + 2, size + 1),
        ];
        reward(task, &ops);
        ends_by(task, 1.0);
    });
    assert_eq!((returns.value, returns.smooth), ([2.0], [2.0]));
}
