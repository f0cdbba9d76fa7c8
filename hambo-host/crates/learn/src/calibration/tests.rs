//! Calibration on data whose spread is known.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops where it fails"
)]

use super::*;
use hambo_base::Held;
use hambo_core::model::nested_beta;
use hambo_task::image::NoisePools;
use rand_core::Rng;
use rand_pcg::Pcg32;

const OPTIONS: CalibrationOptions = CalibrationOptions {
    mode: CalibrationMode::Widen,
    intervals: Intervals::OneSided,
    beta: Beta::Nested { members: 5 },
    longest_window: 32,
    stationary: false,
};

/// Rows of an episode.
const STEPS: usize = 40;

/// Standard normal observations of the given true standard deviation.
fn normal(rows: usize, std: f64, stream: u64) -> Vec<f32> {
    let mut source = Pcg32::new(7, stream);
    let mut uniform = || (f64::from(source.next_u32()) + 0.5) / 4_294_967_296.0;
    (0..rows)
        .map(|_| {
            let radius = (-2.0 * uniform().ln()).sqrt();
            (std * radius * (std::f64::consts::TAU * uniform()).cos()) as f32
        })
        .collect()
}

/// Calibrates N(0, epistemic² + aleatoric²) on observations of whole episodes: the first
/// half chooses, the second judges.
fn calibrated(
    observed: &[f32],
    [epistemic, aleatoric]: [f32; 2],
    options: &CalibrationOptions,
) -> ModelCalibration {
    let rows = observed.len();
    let half = rows / 2;
    let (epistemic, aleatoric) = (vec![epistemic; rows], vec![aleatoric; rows]);
    let mean = vec![0.0; rows];
    let groups: Vec<u32> = (0..rows).map(|row| (row / STEPS) as u32).collect();
    let follows: Vec<bool> = (0..rows).map(|row| row % STEPS > 0).collect();
    let part = |range: std::ops::Range<usize>| Withheld {
        dimensions: vec![WithheldDimension {
            mean: &mean[range.clone()],
            epistemic_std: &epistemic[range.clone()],
            aleatoric_std: &aleatoric[range.clone()],
            observed: &observed[range.clone()],
            held: Held::NONE,
        }],
        groups: &groups[range.clone()],
        follows: &follows[range],
    };
    calibrate(&part(0..half), &part(half..rows), options).unwrap()
}

#[test]
fn a_right_model_stays_as_it_is() {
    let calibration = calibrated(&normal(8000, 1.0, 1), [0.05, 1.0], &OPTIONS);
    let dimension = &calibration.dimensions[0];
    assert_eq!(calibration.status, CalibrationStatus::Calibrated);
    assert!((dimension.noise_scale - 1.0).abs() < 0.06, "{dimension:?}");
    assert!(
        dimension.scale < 1.1 && calibration.gate.widening < 1.05,
        "{calibration:?}"
    );
    assert!((dimension.coverage_90 - 0.9).abs() < 0.03);
    assert!(calibration.gate.share > 0.985 && calibration.gate.share_lower > 0.97);
}

#[test]
fn the_noise_is_matched_in_both_directions() {
    // Ten times too small: the old gate saw 98 % in a scaled interval that nobody
    // simulates, while set and noise held a third of the rows.
    let small = calibrated(&normal(8000, 1.0, 2), [0.02, 0.1], &OPTIONS);
    assert_eq!(small.status, CalibrationStatus::Calibrated);
    let dimension = &small.dimensions[0];
    assert!((dimension.noise_scale - 10.0).abs() < 0.6, "{dimension:?}");
    assert!(
        small.gate.share > 0.98 && dimension.scale < 2.0,
        "{small:?}"
    );
    // Ten times too large: it would hide any error of the model.
    let large = calibrated(&normal(8000, 1.0, 3), [0.2, 10.0], &OPTIONS);
    assert!((large.dimensions[0].noise_scale - 0.1).abs() < 0.01);
    assert!(large.gate.share > 0.98);
}

#[test]
fn a_model_error_is_no_noise() {
    // The residual wanders slowly along the episode: the set has to take it in.
    let slow = |row: usize| (2.0 * (row % STEPS) as f64 / STEPS as f64 * 3.1).sin() as f32;
    let noise = normal(8000, 0.05, 4);
    let observed: Vec<f32> = (0..8000).map(|row| slow(row) + noise[row]).collect();
    let calibration = calibrated(&observed, [0.2, 0.05], &OPTIONS);
    let dimension = &calibration.dimensions[0];
    assert_eq!(calibration.status, CalibrationStatus::Calibrated);
    assert!(dimension.noise_scale < 2.5, "{dimension:?}");
    assert!(
        dimension.beta * dimension.scale * 0.2 > 0.8,
        "{dimension:?}"
    );
}

#[test]
fn a_payload_of_an_episode_is_widened_for_or_refused() {
    let payload = |size: f32| -> Vec<f32> {
        let of_episode = normal(200, 1.0, 5);
        let noise = normal(8000, 1.0, 6);
        (0..8000)
            .map(|row| size * of_episode[row / STEPS] + noise[row])
            .collect()
    };
    // A fifth of the noise: single rows show nothing, sums over 32 steps do.
    let wide = calibrated(&payload(0.2), [0.05, 1.0], &OPTIONS);
    assert_eq!(wide.status, CalibrationStatus::Calibrated);
    let half_width = wide.beta * wide.dimensions[0].scale * 0.05;
    assert!((0.2..0.6).contains(&half_width), "{half_width}");
    let alone = CalibrationOptions {
        longest_window: 1,
        ..OPTIONS
    };
    let alone = calibrated(&payload(0.2), [0.05, 1.0], &alone);
    assert!(alone.beta * alone.dimensions[0].scale * 0.05 < 0.15);
    // The set is too narrow by far.
    let refused = calibrated(&payload(0.5), [0.001, 1.0], &OPTIONS);
    assert!(
        matches!(refused.status, CalibrationStatus::ErrorsStay { .. }),
        "{:?}",
        refused.status
    );
}

#[test]
fn a_rare_disaster_is_not_overlooked() {
    // Every fiftieth step on average the state falls by 20 standard deviations.
    let mut source = Pcg32::new(3, 3);
    let noise = normal(8000, 1.0, 7);
    let fall = |source: &mut Pcg32| {
        if source.next_u32().is_multiple_of(50) {
            -20.0
        } else {
            0.0
        }
    };
    let observed: Vec<f32> = noise.iter().map(|x| x + fall(&mut source)).collect();
    let calibration = calibrated(&observed, [0.1, 1.0], &OPTIONS);
    let half_width = calibration.beta * calibration.dimensions[0].scale * 0.1;
    let refused = calibration.status != CalibrationStatus::Calibrated;
    // 32 steps hold one disaster in half of the cases.
    assert!(refused || 32.0 * half_width > 15.0, "{half_width}");
}

#[test]
fn an_underestimated_spread_is_widened() {
    for intervals in [Intervals::OneSided, Intervals::Central] {
        for mode in [CalibrationMode::Widen, CalibrationMode::Paper] {
            let options = CalibrationOptions {
                mode,
                intervals,
                ..OPTIONS
            };
            // Neighbouring rows share their error, so none of it is noise.
            let errors = normal(200, 2.0, 1);
            let observed: Vec<f32> = (0..8000).map(|row| errors[row / STEPS]).collect();
            let calibration = calibrated(&observed, [1.0, 0.01], &options);
            let dimension = &calibration.dimensions[0];
            assert!(
                (dimension.best_scale - 2.0).abs() < 0.5,
                "{intervals:?}: {}",
                dimension.best_scale
            );
            if mode == CalibrationMode::Paper {
                assert!(dimension.error_after < dimension.error_before);
            } else {
                assert!(dimension.scale >= dimension.best_scale);
            }
        }
    }
}

#[test]
fn an_overestimated_spread_shrinks_only_in_paper_mode() {
    let errors = normal(200, 0.4, 2);
    let observed: Vec<f32> = (0..8000).map(|row| errors[row / STEPS]).collect();
    let widen = calibrated(&observed, [1.0, 0.01], &OPTIONS);
    assert_eq!(widen.scales(), [1.0]);
    assert!((widen.dimensions[0].best_scale - 0.4).abs() < 0.1);
    let mode = CalibrationMode::Paper;
    let options = CalibrationOptions { mode, ..OPTIONS };
    let paper = calibrated(&observed, [1.0, 0.01], &options);
    assert_eq!(paper.scales(), [widen.dimensions[0].best_scale]);
}

#[test]
fn shares_by_hand() {
    // Eight rows choose nothing: beta · epistemic = 1.2; the noise adds 2.81 · 0.1 for
    // two dimensions.
    let options = CalibrationOptions {
        beta: Beta::Fixed(2.0),
        mode: CalibrationMode::Paper,
        ..OPTIONS
    };
    let dimension = |observed| WithheldDimension {
        mean: &[0.0; 8],
        epistemic_std: &[0.6; 8],
        aleatoric_std: &[0.1; 8],
        observed,
        held: Held::NONE,
    };
    let first = [1.5, 1.3, 0.1, 0.2, 0.3, 0.4, 0.5, 1.1];
    let second = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.1];
    let rows = Withheld {
        dimensions: vec![dimension(&first), dimension(&second)],
        groups: &[0, 0, 1, 1, 2, 2, 3, 3],
        follows: &[false; 8],
    };
    let calibration = calibrate(&rows, &rows, &options).unwrap();
    let [first, second] = &calibration.dimensions[..] else {
        unreachable!()
    };
    assert_eq!(
        (first.epistemic_coverage, first.simulated_coverage),
        (0.75, 0.875)
    );
    assert_eq!(
        (second.epistemic_coverage, second.simulated_coverage),
        (0.875, 0.875)
    );
    assert_eq!(calibration.joint_epistemic_coverage, 0.625);
    assert_eq!((calibration.gate.share, calibration.gate.rows), (0.75, 8));
}

#[test]
fn too_few_rows_and_episodes_are_said() {
    for rows in [0, 1, 19] {
        let calibration = calibrated(&normal(2 * rows, 5.0, 4), [0.6, 0.8], &OPTIONS);
        assert_eq!(
            calibration.status,
            CalibrationStatus::TooFewRows { rows, needed: 20 }
        );
    }
    // Two episodes judge.
    let calibration = calibrated(&normal(160, 1.0, 4), [0.6, 0.8], &OPTIONS);
    let CalibrationStatus::TooFewEpisodes { episodes, needed } = calibration.status else {
        panic!("{:?}", calibration.status);
    };
    assert_eq!((episodes, needed), (2, Some(JUDGING_EPISODES)));
}

#[test]
fn hopeless_predictions_fail() {
    let errors = normal(200, 1000.0, 5);
    let observed: Vec<f32> = (0..8000).map(|row| errors[row / STEPS]).collect();
    let alone = CalibrationOptions {
        longest_window: 1,
        ..OPTIONS
    };
    let calibration = calibrated(&observed, [0.6, 0.8], &alone);
    assert!(
        matches!(
            calibration.status,
            CalibrationStatus::Failed { dimension: 0, .. }
        ),
        "{:?}",
        calibration.status
    );
}

#[test]
fn nested_set_holds_every_member() {
    // The extreme case: all members agree but one.
    for members in 1..12 {
        let mut means = vec![0.1_f32; members];
        means[0] = 7.3;
        let count = members as f32;
        let centre = means.iter().sum::<f32>() / count;
        let variance = means
            .iter()
            .map(|h| (h - centre) * (h - centre))
            .sum::<f32>()
            / count;
        for scales in [[1.0, 1.0], [0.3, 2.0]] {
            let width = nested_beta(members, &scales) * scales[0] * variance.sqrt();
            assert!(
                means.iter().all(|h| (h - centre).abs() <= width),
                "{members} members"
            );
        }
    }
}

#[test]
fn refuses_bad_columns() {
    let good = [0.5_f32; 30];
    let mut negative_std = good;
    negative_std[3] = -0.5;
    let dimension = WithheldDimension {
        mean: &good,
        epistemic_std: &good,
        aleatoric_std: &good,
        observed: &good,
        held: Held::NONE,
    };
    let of = |dimensions| Withheld {
        dimensions,
        groups: &[0; 30],
        follows: &[false; 30],
    };
    let good_rows = of(vec![dimension]);
    let error = |dimension| calibrate(&good_rows, &of(vec![dimension]), &OPTIONS).unwrap_err();
    assert_eq!(
        calibrate(&of(Vec::new()), &good_rows, &OPTIONS),
        Err(CalibrationError::NoDimensions)
    );
    let negative = WithheldDimension {
        aleatoric_std: &negative_std,
        ..dimension
    };
    let column = "aleatoric std";
    assert_eq!(
        error(negative),
        CalibrationError::BadValue {
            dimension: 0,
            row: 3,
            column
        }
    );
    let mut unknown = good;
    unknown[3] = f32::NAN;
    let column = "observation";
    let not_finite = WithheldDimension {
        observed: &unknown,
        ..dimension
    };
    assert_eq!(
        error(not_finite),
        CalibrationError::BadValue {
            dimension: 0,
            row: 3,
            column
        }
    );
    // A mark excuses no broken number.
    let marks: Vec<bool> = (0..30).map(|row| row == 3).collect();
    let marked = WithheldDimension {
        held: Held::new(&marks),
        ..not_finite
    };
    assert_eq!(error(marked), error(not_finite));
    let few_marks = WithheldDimension {
        held: Held::new(&marks[..29]),
        ..dimension
    };
    assert_eq!(
        error(few_marks),
        CalibrationError::Mismatch {
            dimension: 0,
            rows: 30
        }
    );
    let short = WithheldDimension {
        mean: &good[..29],
        ..dimension
    };
    assert_eq!(
        error(short),
        CalibrationError::Mismatch {
            dimension: 0,
            rows: 29
        }
    );
}

/// The first half with a standard deviation of 1, the second with 3.
fn grown() -> Vec<f32> {
    let halves = [normal(4000, 1.0, 1), normal(4000, 3.0, 2)];
    halves.concat()
}

#[test]
fn the_gate_widens_but_in_paper_mode() {
    let widened = calibrated(&grown(), [1.0, 0.1], &OPTIONS);
    assert!(widened.gate.widening > 1.5, "{:?}", widened.gate);
    let dimension = &widened.dimensions[0];
    assert!(dimension.scale > 1.5);
    // One dimension alone is all of them, with the width that is in use.
    assert_eq!(
        widened.joint_epistemic_coverage,
        dimension.epistemic_coverage
    );
    assert!((0.5..1.0).contains(&dimension.epistemic_coverage));
    let paper = CalibrationOptions {
        mode: CalibrationMode::Paper,
        ..OPTIONS
    };
    assert_eq!(calibrated(&grown(), [1.0, 0.1], &paper).gate.widening, 1.0);
}

#[test]
fn twenty_rows_are_enough_to_choose_and_to_be_judged() {
    // The predicted spread is a third of the true one.
    let calibration = calibrated(&normal(40, 1.0, 1), [0.3, 0.1], &OPTIONS);
    assert_eq!(calibration.choosing_rows, 20);
    assert!(calibration.dimensions[0].best_scale > 1.5);
    let status = calibration.status;
    assert!(
        !matches!(status, CalibrationStatus::TooFewRows { .. }),
        "{status:?}"
    );
    let calibration = calibrated(&normal(38, 1.0, 1), [0.3, 0.1], &OPTIONS);
    assert_eq!(calibration.dimensions[0].best_scale, 1.0);
    let few = CalibrationStatus::TooFewRows {
        rows: 19,
        needed: 20,
    };
    assert_eq!(calibration.status, few);
}

#[test]
fn the_core_has_one_beta_and_smaller_ones_go_into_the_scales() {
    let mut calibration = calibrated(&normal(400, 1.0, 1), [0.3, 1.0], &OPTIONS);
    let mut second = calibration.dimensions[0].clone();
    calibration.beta = 2.0;
    calibration.dimensions[0].beta = 2.0;
    calibration.dimensions[0].scale = 3.0;
    calibration.dimensions[0].noise_scale = 0.5;
    (second.beta, second.scale, second.noise_scale) = (1.0, 4.0, 0.7);
    calibration.dimensions.push(second);
    let scales = calibration.core_scales();
    // Half of 4, and not a rounding less.
    assert_eq!(scales, [3.0, 2.000_002]);
    assert_eq!(calibration.noise_scales(), [0.5, 0.7]);
    assert_eq!(calibration.scales(), [3.0, 4.0]);
}

#[test]
fn the_error_before_is_that_of_the_model_as_it_is() {
    let observed = normal(800, 1.0, 1);
    let calibration = calibrated(&observed, [0.3, 0.4], &OPTIONS);
    let judging = &observed[400..];
    let dimension = WithheldDimension {
        mean: &[0.0; 400],
        epistemic_std: &[0.3; 400],
        aleatoric_std: &[0.4; 400],
        observed: judging,
        held: Held::NONE,
    };
    let error = error_before(&dimension);
    assert!(error > 0.0 && error < 1.0, "{error}");
    assert_eq!(error, calibration.dimensions[0].error_before);
}

#[test]
fn every_column_must_be_as_long_and_a_spread_may_be_zero() {
    let zeros = [0.0; 30];
    let dimension = WithheldDimension {
        mean: &zeros,
        epistemic_std: &zeros,
        aleatoric_std: &zeros,
        observed: &zeros,
        held: Held::NONE,
    };
    let rows = |groups: &[u32], follows: &[bool]| {
        let rows = Withheld {
            dimensions: vec![dimension],
            groups,
            follows,
        };
        rows.checked_rows()
    };
    let mismatch = Err(CalibrationError::Mismatch {
        dimension: 0,
        rows: 30,
    });
    assert_eq!(rows(&[0; 30], &[true; 30]), Ok(30));
    assert_eq!(rows(&[0; 29], &[true; 30]), mismatch);
    assert_eq!(rows(&[0; 30], &[true; 29]), mismatch);
}

#[test]
fn errors_that_stay_are_told_with_the_share_of_their_windows() {
    let of_episode = normal(200, 1.0, 5);
    let noise = normal(8000, 1.0, 6);
    let observed: Vec<f32> = (0..8000)
        .map(|row| 0.5 * of_episode[row / STEPS] + noise[row])
        .collect();
    let refused = calibrated(&observed, [0.001, 1.0], &OPTIONS);
    let CalibrationStatus::ErrorsStay { length, share } = refused.status else {
        panic!("{:?}", refused.status);
    };
    let windows = &refused.gate.windows;
    let own: Vec<f32> = windows
        .iter()
        .filter(|window| window.length == length)
        .map(|window| window.share)
        .collect();
    assert_eq!(own, [share]);
    assert!(windows.iter().any(|window| window.share != share));
}

/// Two states, of the second of which every eighth row says nothing, and lies anywhere.
fn held_calibration(marked: bool, every: usize) -> ModelCalibration {
    let rows = 1600;
    let (mean, stds) = (vec![0.0; rows], [vec![0.1_f32; rows], vec![1.0_f32; rows]]);
    let (first, mut second) = (normal(rows, 1.0, 1), normal(rows, 1.0, 2));
    let held: Vec<bool> = (0..rows).map(|row| row % every == 3).collect();
    for (x, held) in second.iter_mut().zip(&held) {
        if *held {
            *x = 1e3;
        }
    }
    let groups: Vec<u32> = (0..rows).map(|row| (row / STEPS) as u32).collect();
    let follows: Vec<bool> = (0..rows).map(|row| row % STEPS > 0).collect();
    let part = |range: std::ops::Range<usize>| {
        let of = |observed: &'static [f32], held: &'static [bool]| WithheldDimension {
            held: Held::new(held),
            mean: &mean[range.clone()],
            epistemic_std: &stds[0][range.clone()],
            aleatoric_std: &stds[1][range.clone()],
            observed,
        };
        let leak = |numbers: &[f32]| -> &'static [f32] { numbers.to_vec().leak() };
        let marks: &'static [bool] = if marked {
            held[range.clone()].to_vec().leak()
        } else {
            &[]
        };
        Withheld {
            dimensions: vec![
                of(leak(&first[range.clone()]), &[]),
                of(leak(&second[range.clone()]), marks),
            ],
            groups: &groups[range.clone()],
            follows: &follows[range],
        }
    };
    let (choosing, judging) = (part(0..rows / 2), part(rows / 2..rows));
    let inputs = normal(rows, 1.0, 3);
    let shown = Shown {
        rows: choosing.clone(),
        inputs: &inputs,
        columns: 2,
    };
    calibrate_shown(&shown, &choosing, &judging, &OPTIONS)
        .unwrap()
        .0
}

#[test]
fn rows_that_say_nothing_of_a_state_choose_and_judge_nothing_of_it() {
    let held = held_calibration(true, 8);
    assert_eq!(held.status, CalibrationStatus::Calibrated);
    let [first, second] = &held.dimensions[..] else {
        panic!("two states");
    };
    for of in [first, second] {
        assert!((0.9..1.1).contains(&of.noise_scale), "{}", of.noise_scale);
        assert!(of.scale < 2.0 && of.simulated_coverage > 0.97, "{of:?}");
    }
    assert!(held.noise_pools == NoisePools::default() && held.noise_factor.is_empty());
    // Without the mark they are what they look like: rare events.
    let unmarked = held_calibration(false, 8);
    assert!(unmarked.noise_pools != NoisePools::default());
}

#[test]
fn a_state_of_which_hardly_any_row_says_anything_is_not_calibrated() {
    // All but 100 of 800 rows, then all but 10.
    let rows = 800;
    let (mean, column) = (vec![0.0; rows], vec![0.1_f32; rows]);
    let observed = normal(rows, 0.1, 1);
    let groups: Vec<u32> = (0..rows).map(|row| (row / STEPS) as u32).collect();
    let follows = vec![false; rows];
    let of = |left: usize| {
        let held: Vec<bool> = (0..rows).map(|row| row % (rows / left) > 0).collect();
        let dimension = WithheldDimension {
            mean: &mean,
            epistemic_std: &column,
            aleatoric_std: &column,
            observed: &observed,
            held: Held::new(&held),
        };
        let rows = Withheld {
            dimensions: vec![dimension],
            groups: &groups,
            follows: &follows,
        };
        calibrate(&rows, &rows, &OPTIONS).unwrap().status
    };
    assert_eq!(of(100), CalibrationStatus::Calibrated);
    let few = CalibrationStatus::TooFewRows {
        rows: 10,
        needed: MINIMUM_WITHHELD_ROWS,
    };
    assert_eq!(of(10), few);
}
