//! A state that is corrected after the model, against the recursion by hand: a stop at 0.31, and a
//! spring beyond it that pulls back by half.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::example;
use crate::rollout::test_walk::with_rollout;
use crate::task::expression::{Op, Program, Variable as Input};
use crate::task::{KnownState, Objective, Task, Variant};

/// The example's walk s′ = s / 2 + eta / 10 from s = 1, corrected.
fn states(eta: [f64; 4], correct: &dyn Fn(f64) -> f64) -> [f64; 5] {
    let mut states = [1.0; 5];
    for (step, push) in eta.into_iter().enumerate() {
        states[step + 1] = correct(0.5 * states[step] + 0.1 * push);
    }
    states
}

/// −s² at four steps.
fn value(eta: [f64; 4], correct: &dyn Fn(f64) -> f64) -> f64 {
    -states(eta, correct)[..4].iter().map(|s| s * s).sum::<f64>()
}

/// The example with a correction, whose ops begin at slot 6 with the learned value.
fn task(correction: &[Op]) -> Task<'static> {
    let mut task = example::task().unwrap();
    let learned = [Op::Variable(Input::Learned(0))];
    let ops = [task.program.ops(), &learned, correction].concat();
    task.program = Program::new(&ops, 1, 1).unwrap();
    let known = KnownState {
        state: 0,
        slot: ops.len() as u16 - 1,
        corrects: true,
    };
    task.physics.known.push(known).unwrap();
    assert!(task.physics.is_sound(&task.program, 1));
    assert_eq!(task.moved_states(), 1);
    task
}

/// Last state, return, and derivatives in every push.
fn by_the_core(task: &Task<'_>, eta: [f64; 4]) -> (f64, f64, [f64; 4]) {
    let ca = (Variant::ContinuousAdversary, Objective::Return);
    with_rollout::<1, _>(task, ca, |rollout, buffers, streams| {
        for (row, push) in buffers.eta.iter_mut().zip(eta) {
            *row = [push as f32];
        }
        let returns = rollout.forward(streams, buffers);
        assert!(returns.finite[0]);
        let last = f64::from(buffers.states[4][0]);
        let mut derivatives = [0.0; 4];
        rollout.eta_gradient(streams, &returns, 1.0, buffers, |found| {
            derivatives[found.step as usize] = f64::from(found.derivative[0]);
        });
        (last, f64::from(returns.value[0]), derivatives)
    })
}

fn agrees(task: &Task<'_>, correct: &dyn Fn(f64) -> f64) -> usize {
    let mut held = 0;
    for seed in 0..20_u32 {
        let eta: [f64; 4] =
            core::array::from_fn(|step| f64::from((seed * 7 + step as u32 * 5) % 11) / 5.5 - 1.0);
        let (last, found, derivatives) = by_the_core(task, eta);
        assert!((last - states(eta, correct)[4]).abs() < 1e-5, "{eta:?}");
        assert!((found - value(eta, correct)).abs() < 1e-5, "{eta:?}");
        for (step, derivative) in derivatives.into_iter().enumerate() {
            let by = |push: f64| {
                let mut eta = eta;
                eta[step] += push;
                value(eta, correct)
            };
            let slope = (by(1e-4) - by(-1e-4)) / 2e-4;
            assert!((slope - derivative).abs() < 1e-3, "{eta:?} {step}: {slope}");
            held += usize::from(slope == 0.0);
        }
    }
    held
}

#[test]
fn a_stop_holds_the_state_and_what_pushes_against_it_is_not_felt() {
    let task = task(&[Op::Constant(0.31), Op::Maximum(6, 7)]);
    let held = agrees(&task, &|learned| learned.max(0.31));
    // The last push moves nothing that is earned, the others some of the time.
    assert!(held > 25 && held < 75, "{held}");
}

#[test]
fn what_passes_on_a_part_passes_that_part_of_the_derivative_on() {
    // 0.3 + (l - 0.3) / 2.
    let spring = [
        Op::Constant(0.3),
        Op::Subtract(6, 7),
        Op::Constant(0.5),
        Op::Multiply(8, 9),
        Op::Add(7, 10),
    ];
    let held = agrees(&task(&spring), &|learned| 0.3 + 0.5 * (learned - 0.3));
    assert_eq!(held, 20, "the last push of each");
}

/// In rollouts the correction comes once, after limits and noise.
#[test]
fn it_comes_after_the_limits_and_once() {
    let mut task = task(&[Op::Constant(0.5), Op::Multiply(6, 7)]);
    task.state_limits.high = &[0.4];
    let (last, _, _) = by_the_core(&task, [0.0; 4]);
    // 1/2 is clipped to 0.4 and halved; then 0.1, halved, and so on.
    let wanted = 0.2 * 0.25_f64.powi(3);
    assert!((last - wanted).abs() < 1e-7, "{last}");
}

#[test]
fn every_lane_has_the_bits_of_one_alone() {
    let task = task(&[Op::Constant(0.31), Op::Maximum(6, 7)]);
    let ca = (Variant::ContinuousAdversary, Objective::Return);
    let push = |lane: usize, step: usize| ((lane * 7 + step * 5) % 11) as f32 / 5.5 - 1.0;
    let bits = |values: [f32; 5]| values.map(f32::to_bits);
    let together = with_rollout::<4, _>(&task, ca, |rollout, buffers, streams| {
        for (step, row) in buffers.eta.iter_mut().enumerate() {
            *row = core::array::from_fn(|lane| push(lane, step));
        }
        let returns = rollout.forward(streams, buffers);
        let mut found = [[0.0; 5]; 4];
        rollout.eta_gradient(streams, &returns, 1.0, buffers, |one| {
            for (found, derivative) in found.iter_mut().zip(one.derivative) {
                found[one.step as usize] = derivative;
            }
        });
        for (found, value) in found.iter_mut().zip(returns.value) {
            found[4] = value;
        }
        found
    });
    for (lane, together) in together.into_iter().enumerate() {
        let alone = with_rollout::<1, _>(&task, ca, |rollout, buffers, streams| {
            for (step, row) in buffers.eta.iter_mut().enumerate() {
                *row = [push(lane, step)];
            }
            let returns = rollout.forward(streams, buffers);
            let mut found = [0.0; 5];
            rollout.eta_gradient(streams, &returns, 1.0, buffers, |one| {
                found[one.step as usize] = one.derivative[0];
            });
            found[4] = returns.value[0];
            found
        });
        assert_eq!(bits(together), bits(alone), "{lane}");
    }
}
