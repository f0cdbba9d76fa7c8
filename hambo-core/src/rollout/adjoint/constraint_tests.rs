//! The derivative of constraints in time, against differences of the recursion by hand.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::example;
use crate::rollout::test_walk::with_rollout;
use crate::task::expression::{Op, Program, Variable as Input};
use crate::task::{ConstraintKind, Objective, Task, Variant};

const SOFTNESS: f64 = 0.5;
/// Of the comparison s < 0.3.
const WIDTH: f32 = 0.4;

/// The example's walk with pushes: s′ = s / 2 + eta / 10 from s = 1.
fn states(eta: [f64; 4]) -> [f64; 5] {
    let mut states = [1.0; 5];
    for (step, push) in eta.into_iter().enumerate() {
        states[step + 1] = 0.5 * states[step] + 0.1 * push;
    }
    states
}

/// s′ (0.3 − s′) + 0.02 t: up and down along the walk.
fn margin(states: &[f64; 5], step: usize) -> f64 {
    let next = states[step + 1];
    next * (0.3 - next) + 0.02 * step as f64
}

/// V_t of the kind from step `first` on.
fn value(kind: ConstraintKind, eta: [f64; 4], first: usize, ends: bool) -> f64 {
    let states = states(eta);
    let mut later = None;
    for step in (first..4).rev() {
        let margin = margin(&states, step);
        let goes_on = match (kind, later) {
            (_, None) => margin,
            (ConstraintKind::Always, Some(later)) => margin.min(later),
            (ConstraintKind::Eventually, Some(later)) => margin.max(later),
            (_, Some(later)) => later,
        };
        let share = if ends {
            1.0 / (1.0 + (-(0.3 - states[step]) / (f64::from(WIDTH) * SOFTNESS)).exp())
        } else {
            0.0
        };
        later = Some(share * margin + (1.0 - share) * goes_on);
    }
    later.unwrap()
}

fn task(kind: ConstraintKind, ends: bool) -> Task<'static> {
    let mut task = example::task().unwrap();
    let less = Op::Less {
        left: 0,
        right: 6,
        width: WIDTH,
    };
    let more = [
        Op::Constant(0.3),
        less,
        Op::Variable(Input::Next(0)),
        Op::Subtract(6, 8),
        Op::Multiply(8, 9),
        Op::Variable(Input::Step),
        Op::Constant(0.02),
        Op::Multiply(11, 12),
        Op::Add(10, 13),
    ];
    let all = [task.program.ops(), &more].concat();
    task.program = Program::new(&all, 1, 1).unwrap();
    task.termination = ends.then_some(7);
    task.constraints[0].kind = kind;
    task.constraints[0].slot = 14;
    task
}

/// The derivative in every push.
fn gradient(task: &Task<'_>, eta: [f64; 4]) -> [f64; 4] {
    let ca = (Variant::ContinuousAdversary, Objective::Constraint(0));
    with_rollout(task, ca, |rollout, buffers, streams| {
        for (row, push) in buffers.eta.iter_mut().zip(eta) {
            *row = [push as f32];
        }
        let returns = rollout.forward(streams, buffers);
        let mut found = [f64::NAN; 4];
        rollout.eta_gradient(streams, &returns, SOFTNESS as f32, buffers, |one| {
            found[one.step as usize] = f64::from(one.derivative[0]);
        });
        found
    })
}

#[test]
fn a_step_feels_the_margin_that_counts_from_there_on() {
    let walks = [
        [0.0, 0.0, 0.0, 0.0],
        [0.9, -0.7, 0.4, -0.2],
        [-1.0, 1.0, -1.0, 1.0],
        [-0.8, -0.9, 0.3, 0.8],
    ];
    let mut unlike = 0;
    for kind in [
        ConstraintKind::Always,
        ConstraintKind::Finally,
        ConstraintKind::Eventually,
    ] {
        for ends in [false, true] {
            let task = task(kind, ends);
            for eta in walks {
                let found = gradient(&task, eta);
                for step in 0..4 {
                    let moved = |by: f64| {
                        let mut eta = eta;
                        eta[step] += by;
                        value(kind, eta, step, ends)
                    };
                    let wanted = (moved(1e-4) - moved(-1e-4)) / 2e-4;
                    let error = (found[step] - wanted).abs();
                    let case = (kind, ends, eta, step);
                    assert!(error < 2e-5, "{case:?}: {} is not {wanted}", found[step]);
                    unlike += u32::from(wanted.abs() > 1e-3);
                }
            }
        }
    }
    assert!(unlike > 60, "{unlike}");
}
