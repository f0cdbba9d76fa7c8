#![allow(clippy::unwrap_used, reason = "tests")]

use super::local_width::LocalWidth;
use super::{Dynamics, Prediction, PredictionCotangent};
use crate::example;
use crate::numeric::Slices;

/// The state from 1 on, and the action between −0.2 and 0.3.
const ROWS: [f32; 10] = [
    0.0,
    1.0,
    f32::MAX,
    0.2,
    0.5, //
    1.0,
    -0.2,
    0.3,
    0.1,
    0.25,
];

fn dynamics(rows: &[f32]) -> Dynamics<'_> {
    let width = if rows.is_empty() {
        LocalWidth::NONE
    } else {
        LocalWidth::new(rows, 2, 1).unwrap()
    };
    Dynamics {
        width,
        ..example::model().unwrap().dynamics
    }
}

/// Mean, both deviations, and the derivative of the epistemic one in state and action.
fn at(dynamics: &Dynamics<'_>, state: f32, action: f32) -> ([f32; 3], [f32; 2]) {
    let mut scratch = [[f32::NAN]; 64];
    let scratch = &mut scratch[..dynamics.scratch_rows().unwrap()];
    let (mut mean, mut epistemic, mut aleatoric) = ([[0.0]], [[0.0]], [[0.0]]);
    let mut prediction = Prediction {
        mean: &mut mean,
        epistemic_std: &mut epistemic,
        aleatoric_std: &mut aleatoric,
    };
    let slices = Slices::default();
    dynamics.predict(&[[state]], &[[action]], scratch, &mut prediction, &slices);
    let cotangent = PredictionCotangent {
        mean: &[[0.0]],
        epistemic_std: &[[1.0]],
        aleatoric_std: &[[0.0]],
    };
    let (mut by_state, mut by_action) = ([[0.0]], [[0.0]]);
    let cotangents = (&mut by_state[..], &mut by_action[..]);
    dynamics.pull_back(&cotangent, scratch, cotangents, &slices);
    (
        [mean[0][0], epistemic[0][0], aleatoric[0][0]],
        [by_state[0][0], by_action[0][0]],
    )
}

#[test]
fn only_the_epistemic_deviation_grows_and_only_in_a_region() {
    let (plain, wide) = (dynamics(&[]), dynamics(&ROWS));
    for (state, action, more) in [
        (0.0, 1.0, 0.0),
        (1.0, 1.0, 0.5),
        (1e30, 1.0, 0.5),
        (0.9, 1.0, 0.25),
        (0.0, 0.3, 0.25),
        (0.0, -0.25, 0.125),
        (2.0, 0.0, 0.75),
    ] {
        let ([mean, epistemic, aleatoric], _) = at(&plain, state, action);
        let (found, _) = at(&wide, state, action);
        assert_eq!((found[0], found[2]), (mean, aleatoric));
        let added = found[1] - epistemic;
        assert!((added - more).abs() < 1e-5, "{state} {action}: {added}");
    }
}

#[test]
fn derivatives_are_those_of_differences() {
    let wide = dynamics(&ROWS);
    for (state, action) in [(0.9, -0.25), (0.85, 0.37), (0.5, 0.0), (1.5, 0.35)] {
        let (_, [by_state, by_action]) = at(&wide, state, action);
        let h = 1e-3;
        let std = |state, action| at(&wide, state, action).0[1];
        let of_state = (std(state + h, action) - std(state - h, action)) / (2.0 * h);
        let of_action = (std(state, action + h) - std(state, action - h)) / (2.0 * h);
        assert!((by_state - of_state).abs() < 1e-2, "{by_state} {of_state}");
        assert!(
            (by_action - of_action).abs() < 1e-2,
            "{by_action} {of_action}"
        );
    }
}

#[test]
fn no_number_is_no_width() {
    let ([_, epistemic, _], _) = at(&dynamics(&ROWS), f32::NAN, 0.0);
    assert!(epistemic.is_nan());
    // A scratch without room for the regions.
    let wide = dynamics(&ROWS);
    let mut scratch = [[0.0]; 64];
    let short = wide.scratch_rows().unwrap() - 1;
    let (mut mean, mut epistemic, mut aleatoric) = ([[0.0]], [[0.0]], [[0.0]]);
    let mut prediction = Prediction {
        mean: &mut mean,
        epistemic_std: &mut epistemic,
        aleatoric_std: &mut aleatoric,
    };
    let scratch = &mut scratch[..short];
    wide.predict(
        &[[0.0]],
        &[[0.0]],
        scratch,
        &mut prediction,
        &Slices::default(),
    );
    assert!(mean[0][0].is_nan());
}

#[test]
fn unsound_regions_are_refused() {
    let refused = |rows: &[f32]| LocalWidth::new(rows, 2, 1).is_err();
    assert!(!refused(&ROWS));
    assert!(refused(&[]) && refused(&ROWS[..9]));
    for (place, number) in [
        (0, 2.0),
        (0, 0.5),
        (0, f32::NAN),
        (1, f32::INFINITY),
        (7, -0.3),
        (3, 0.0),
        (4, -0.1),
        (4, f32::NAN),
    ] {
        let mut rows = ROWS;
        rows[place] = number;
        assert!(refused(&rows), "{place} {number}");
    }
}
