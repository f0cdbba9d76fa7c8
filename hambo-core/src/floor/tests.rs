//! What the floor compares. Whole bundles, lax in every field, meet it in the tests of
//! the device.

use heapless::Vec;

use super::{constraint_identity, question};
use crate::example;
use crate::task::expression::{Op, Program, Variable};
use crate::task::{Constraint, ConstraintKind, Task};

/// The example's task with another tape.
fn with_tape(ops: &[Op], reward: u16, constraint: u16) -> Task<'static> {
    let mut task = example::task().unwrap();
    task.program = Program::new(ops, 1, 1).unwrap();
    task.reward = reward;
    task.constraints = Vec::from_slice(&[Constraint::mean(constraint)]).unwrap();
    task
}

#[test]
fn the_same_expressions_elsewhere_on_the_tape_are_the_same_question() {
    let task = example::task().unwrap();
    // The constraint first, an op that nobody reads, and s twice.
    let ops = [
        Op::Constant(2.0),
        Op::Variable(Variable::State(0)),
        Op::Absolute(1),
        Op::Subtract(0, 2),
        Op::Constant(9.0),
        Op::Multiply(1, 1),
        Op::Negate(5),
    ];
    let other = with_tape(&ops, 6, 3);
    assert_eq!(question(&task), question(&other));
    let identity = |task: &Task<'_>| constraint_identity(task, &task.constraints[0]);
    assert_eq!(identity(&task), identity(&other));
}

#[test]
fn other_expressions_are_other_questions() {
    let task = example::task().unwrap();
    let own = question(&task).unwrap();
    let base = |changed: Op, place: usize| {
        let mut ops = task.program.ops().to_vec();
        ops[place] = changed;
        with_tape(&ops, 2, 5)
    };
    // -s * 1 in place of -s * s, and another constant in the constraint.
    let laxer = base(Op::Absolute(0), 1);
    assert_ne!(question(&laxer).unwrap().reward, own.reward);
    let wider = base(Op::Constant(3.0), 3);
    assert_eq!(question(&wider).unwrap(), own);
    let identity = |task: &Task<'_>| constraint_identity(task, &task.constraints[0]);
    assert_ne!(identity(&wider), identity(&task));
    // Operands in another order.
    let turned = base(Op::Subtract(4, 3), 5);
    assert_ne!(identity(&turned), identity(&task));
    // Another kind, and another probability.
    let mut other = task.clone();
    other.constraints[0].kind = ConstraintKind::Always;
    assert_ne!(identity(&other), identity(&task));
    other.constraints[0].probability = Some(0.9);
    assert_ne!(identity(&other), identity(&task));
}

#[test]
fn every_number_of_the_question_counts() {
    let own = question(&example::task().unwrap()).unwrap();
    let changed = |change: fn(&mut Task<'static>)| {
        let mut task = example::task().unwrap();
        change(&mut task);
        question(&task).unwrap()
    };
    assert_ne!(changed(|task| task.discount = 0.9).reward, own.reward);
    assert_ne!(
        changed(|task| task.termination = Some(1)).termination,
        own.termination
    );
    assert_ne!(
        changed(|task| task.power_off = Some(1)).power_off,
        own.power_off
    );
    assert_ne!(
        changed(|task| task.state_limits.high = &[6.0]).state_limits,
        own.state_limits
    );
    assert_ne!(
        changed(|task| task.action_limits.low = &[-2.0]).action_limits,
        own.action_limits
    );
    assert_ne!(
        changed(|task| task.initial.first = &[0.0]).initial,
        own.initial
    );
    // What the floor compares by amount is no part of the question.
    assert_eq!(changed(|task| task.threshold = None), own);
    assert_eq!(changed(|task| task.horizon = 1), own);
}

/// Two operands each, all shared: as a tree it would have 2^126 leaves.
#[test]
fn shared_operands_are_added_once() {
    let mut ops = vec![Op::Variable(Variable::State(0))];
    for slot in 0..126 {
        ops.push(Op::Add(slot, slot));
    }
    let task = with_tape(&ops, 126, 0);
    assert!(question(&task).is_some());
}
