//! Calibration on data whose spread is known.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use super::*;
use rand_core::Rng;
use rand_pcg::Pcg32;

const OPTIONS: CalibrationOptions = CalibrationOptions {
    mode: CalibrationMode::Widen,
    intervals: Intervals::OneSided,
    beta: Beta::Nested { members: 5 },
};

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

/// Calibrates the prediction N(0, 0.6² + 0.8²) = N(0, 1) against the observations.
fn unit(observed: &[f32], options: &CalibrationOptions) -> ModelCalibration {
    let rows = observed.len();
    let dimension = WithheldDimension {
        mean: &vec![0.0; rows],
        epistemic_std: &vec![0.6; rows],
        aleatoric_std: &vec![0.8; rows],
        observed,
    };
    calibrate(&[dimension], options).unwrap()
}

#[test]
fn underestimated_spread_is_doubled() {
    for intervals in [Intervals::OneSided, Intervals::Central] {
        for mode in [CalibrationMode::Widen, CalibrationMode::Paper] {
            let options = CalibrationOptions {
                mode,
                intervals,
                ..OPTIONS
            };
            let calibration = unit(&normal(4000, 2.0, 1), &options);
            let dimension = &calibration.dimensions[0];
            assert!(
                (dimension.scale - 2.0).abs() < 0.1,
                "{intervals:?}: {}",
                dimension.scale
            );
            assert_eq!(dimension.scale, dimension.best_scale);
            assert!(dimension.error_after < 0.1 * dimension.error_before);
            assert_eq!(calibration.status, CalibrationStatus::Calibrated);
        }
    }
}

#[test]
fn overestimated_spread_shrinks_only_in_paper_mode() {
    let observed = normal(4000, 0.4, 2);
    let widen = unit(&observed, &OPTIONS);
    assert_eq!(widen.scales(), [1.0]);
    assert!((widen.dimensions[0].best_scale - 0.4).abs() < 0.02);
    assert_eq!(
        widen.dimensions[0].curve_before,
        widen.dimensions[0].curve_after
    );
    let mode = CalibrationMode::Paper;
    let paper = unit(&observed, &CalibrationOptions { mode, ..OPTIONS });
    assert_eq!(paper.scales(), [widen.dimensions[0].best_scale]);
}

#[test]
fn curve_is_near_the_diagonal_after() {
    let calibration = unit(&normal(4000, 3.0, 3), &OPTIONS);
    let far = |curve: &[CurvePoint]| {
        let gaps = curve
            .iter()
            .map(|point| (point.nominal - point.observed).abs());
        gaps.fold(0.0, f32::max)
    };
    assert_eq!(calibration.dimensions[0].curve_after.len(), 10);
    assert!(far(&calibration.dimensions[0].curve_before) > 0.2);
    assert!(far(&calibration.dimensions[0].curve_after) < 0.03);
}

#[test]
fn coverage_by_hand() {
    // Eight rows leave the scale at 1: beta · epistemic = 1.2, beta · total = 2.
    let options = CalibrationOptions {
        beta: Beta::Fixed(2.0),
        ..OPTIONS
    };
    let dimension = |observed| WithheldDimension {
        mean: &[0.0; 8],
        epistemic_std: &[0.6; 8],
        aleatoric_std: &[0.8; 8],
        observed,
    };
    let first = [1.5, 1.3, 0.1, 0.2, 0.3, 0.4, 0.5, 1.1];
    let second = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.1];
    let calibration = calibrate(&[dimension(&first), dimension(&second)], &options).unwrap();
    let [first, second] = &calibration.dimensions[..] else {
        unreachable!()
    };
    assert_eq!(
        (first.epistemic_coverage, first.total_coverage),
        (0.75, 1.0)
    );
    assert_eq!(
        (second.epistemic_coverage, second.total_coverage),
        (0.875, 0.875)
    );
    assert_eq!(calibration.joint_epistemic_coverage, 0.625);
    assert_eq!(calibration.joint_total_coverage, 0.875);
    assert_eq!(second.coverage_99, 1.0);
}

#[test]
fn too_few_rows_leave_the_scale() {
    for rows in [0, 1, 19] {
        let calibration = unit(&normal(rows, 5.0, 4), &OPTIONS);
        assert_eq!(
            calibration.status,
            CalibrationStatus::TooFewRows { rows, needed: 20 }
        );
        assert_eq!(calibration.scales(), [1.0]);
    }
    assert_eq!(
        unit(&normal(20, 1.0, 4), &OPTIONS).status,
        CalibrationStatus::Calibrated
    );
}

#[test]
fn hopeless_predictions_fail() {
    let calibration = unit(&normal(100, 1000.0, 5), &OPTIONS);
    assert!(matches!(
        calibration.status,
        CalibrationStatus::Failed { dimension: 0, .. }
    ));
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
    };
    let error = |dimension| calibrate(&[dimension], &OPTIONS).unwrap_err();
    assert_eq!(
        calibrate(&[], &OPTIONS),
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
