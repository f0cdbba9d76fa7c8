//! A state that wraps, on the way there and on the way back.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::test_walk::with_rollout;
use crate::example;
use crate::task::{InitialState, Limits, Objective, Task, Variant, Wraps};

/// The interval from 0.3 to 1.1, with limits at its ends.
fn wrapping(task: &mut Task<'static>) {
    task.wraps = Wraps {
        low: &[0.3],
        period: &[0.8],
    };
    task.state_limits = Limits {
        low: &[0.3],
        high: &[1.1],
    };
}

/// The return, the visited states and the derivatives in eta, for an eta at
/// each step.
fn walk(task: &Task<'_>, eta: [f32; 4]) -> (f32, Vec<f32>, [f32; 4]) {
    let ca = (Variant::ContinuousAdversary, Objective::Return);
    with_rollout(task, ca, |rollout, buffers, streams| {
        for (row, eta) in buffers.eta.iter_mut().zip(eta) {
            *row = [eta];
        }
        let returns = rollout.forward(streams, buffers);
        let states = buffers.states.iter().take(5).map(|row| row[0]).collect();
        let mut derivatives = [0.0; 4];
        rollout.eta_gradient(streams, &returns, 1.0, buffers, |found| {
            derivatives[found.step as usize] = found.derivative[0];
        });
        (returns.value[0], states, derivatives)
    })
}

#[test]
fn the_state_comes_back_before_its_limits_stop_it() {
    let mut task = example::task().unwrap();
    wrapping(&mut task);
    let (value, states, _) = walk(&task, [0.0; 4]);
    // Halved at every step: 1, 0.5, and 0.25 is 1.05; then 0.525.
    for (state, wanted) in states.iter().zip([1.0, 0.5, 1.05, 0.525, 1.0625]) {
        assert!((state - wanted).abs() < 1e-5, "{states:?}");
    }
    assert!((value + 1.0 + 0.25 + 1.1025 + 0.275_625).abs() < 1e-4);
}

#[test]
fn a_first_state_is_wrapped_too() {
    let mut task = example::task().unwrap();
    wrapping(&mut task);
    let (value, _, _) = walk(&task, [0.0; 4]);
    // Ten periods on.
    task.initial = InitialState {
        first: &[9.0],
        ..task.initial
    };
    let (same, states, _) = walk(&task, [0.0; 4]);
    assert!((states[0] - 1.0).abs() < 1e-5, "{states:?}");
    assert!((value - same).abs() < 1e-4);
}

#[test]
fn the_derivative_goes_through_a_wrap() {
    let mut task = example::task().unwrap();
    wrapping(&mut task);
    let (_, _, derivatives) = walk(&task, [0.0; 4]);
    for (step, derivative) in derivatives.into_iter().enumerate() {
        let shifted = |by: f32| {
            let mut eta = [0.0; 4];
            eta[step] = by;
            walk(&task, eta).0
        };
        let difference = (shifted(0.1) - shifted(-0.1)) / 0.2;
        assert!(
            (derivative - difference).abs() < 1e-3,
            "step {step}: {derivative} {difference}"
        );
    }
    // The second step's push moves what has wrapped.
    assert!((derivatives[1] + 0.2625).abs() < 1e-3, "{derivatives:?}");
}
