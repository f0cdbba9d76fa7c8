//! Calibration of the uncertainty set on withheld data.
//!
//! Each state dimension j gets a scale tau_j for its predicted standard
//! deviations, so that the model's Gaussians N(mu, tau_j² (epistemic² +
//! aleatoric²)) hold observations as often as they claim. The scale then
//! multiplies the epistemic set |s′ − mu| ≤ beta · tau_j · epistemic std in
//! which the adversary moves.

mod coverage;
mod scale;

use hambo_core::model::nested_beta;
use thiserror::Error;

use coverage::{LEVELS, covered, fraction, scores};
use scale::best_scale;

/// Withheld rows below which a calibration is not to be trusted.
pub const MINIMUM_WITHHELD_ROWS: usize = 20;
/// A calibration fails where its 99 % intervals hold fewer rows than this.
pub const MINIMUM_COVERAGE: f32 = 0.8;
/// The 0.995 quantile of the standard normal: half the width of a 99 % interval.
const NORMAL_995: f64 = 2.575_829_303_548_901;

/// Predictions and observations of one state dimension, one value per withheld row.
#[derive(Debug, Clone, Copy)]
pub struct WithheldDimension<'a> {
    /// Predicted mean, mu.
    pub mean: &'a [f32],
    /// Predicted epistemic standard deviation.
    pub epistemic_std: &'a [f32],
    /// Predicted aleatoric standard deviation.
    pub aleatoric_std: &'a [f32],
    /// What happened, in the units of `mean`.
    pub observed: &'a [f32],
}

/// What calibration may do to the uncertainty set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CalibrationMode {
    /// Only widen it: tau = max(1, tau*). An overestimated noise hides epistemic
    /// error from the minimiser, which would then take the adversary's power.
    #[default]
    Widen,
    /// The plain minimiser, tau = tau*, as in the paper.
    Paper,
}

/// The intervals whose coverage is compared with their nominal level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Intervals {
    /// (−∞, quantile p], as in the paper.
    #[default]
    OneSided,
    /// Centred on the mean.
    Central,
}

/// Half the width of the uncertainty set in scaled standard deviations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Beta {
    /// Wide enough to hold every member of an ensemble, see [`nested_beta`].
    Nested {
        /// Number of members, K.
        members: usize,
    },
    /// A given number.
    Fixed(f32),
}

/// How to calibrate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationOptions {
    /// Widen only, or follow the paper.
    pub mode: CalibrationMode,
    /// One-sided or central intervals.
    pub intervals: Intervals,
    /// The set whose coverage is reported.
    pub beta: Beta,
}

/// One point of a calibration curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Probability that the model claims.
    pub nominal: f32,
    /// Fraction of the withheld rows.
    pub observed: f32,
}

/// Whether a calibration can be relied on; anything but `Calibrated` makes a check abstain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CalibrationStatus {
    /// Enough rows, and the scaled intervals hold them.
    Calibrated,
    /// Too few withheld rows; the scales were left at 1.
    TooFewRows {
        /// Rows given.
        rows: usize,
        /// Rows needed.
        needed: usize,
    },
    /// The scaled 99 % intervals hold far too few rows.
    Failed {
        /// The worst dimension, from 0.
        dimension: usize,
        /// Fraction of its rows inside.
        coverage: f32,
    },
}

/// The calibration of one state dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct DimensionCalibration {
    /// Minimiser of the calibration error, tau*.
    pub best_scale: f32,
    /// The scale in use, tau.
    pub scale: f32,
    /// Calibration error at scale 1.
    pub error_before: f32,
    /// Calibration error at the scale in use.
    pub error_after: f32,
    /// Calibration curve at scale 1.
    pub curve_before: Vec<CurvePoint>,
    /// Calibration curve at the scale in use.
    pub curve_after: Vec<CurvePoint>,
    /// Fraction of rows inside the set in use: beta · tau · epistemic std.
    pub epistemic_coverage: f32,
    /// The same with the total standard deviation, which includes the noise.
    pub total_coverage: f32,
    /// Fraction of rows inside the scaled 99 % interval of the total.
    pub coverage_99: f32,
}

/// The calibration of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Whether to rely on it.
    pub status: CalibrationStatus,
    /// Number of withheld rows.
    pub rows: usize,
    /// The beta of the reported coverages.
    pub beta: f32,
    /// One entry per state dimension.
    pub dimensions: Vec<DimensionCalibration>,
    /// Fraction of rows inside the set in use in every dimension at once.
    pub joint_epistemic_coverage: f32,
    /// The same with the total standard deviation.
    pub joint_total_coverage: f32,
}

impl Calibration {
    /// The scales in use, tau_j.
    pub fn scales(&self) -> Vec<f32> {
        self.dimensions
            .iter()
            .map(|dimension| dimension.scale)
            .collect()
    }
}

/// What can be wrong with withheld predictions.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CalibrationError {
    /// There is no state dimension.
    #[error("there is no state dimension to calibrate")]
    NoDimensions,
    /// The columns differ in length.
    #[error("dimension {dimension} has columns that are not {rows} rows long")]
    Mismatch {
        /// Dimension, from 0.
        dimension: usize,
        /// Rows of the first column.
        rows: usize,
    },
    /// A value is NaN or infinite, or a standard deviation is negative.
    #[error("dimension {dimension}, row {row}: the {column} is not finite or is negative")]
    BadValue {
        /// Dimension, from 0.
        dimension: usize,
        /// Row, from 0.
        row: usize,
        /// Name of the column.
        column: &'static str,
    },
}

/// Finds the scales on withheld rows and reports what they do.
///
/// ```
/// use hambo_host::calibration::*;
///
/// let observed: Vec<f32> = (0..40).map(|i| 0.1 * (i as f32 - 19.5)).collect();
/// let dimension = WithheldDimension {
///     mean: &[0.0; 40],
///     epistemic_std: &[0.3; 40],
///     aleatoric_std: &[0.4; 40],
///     observed: &observed,
/// };
/// let options = CalibrationOptions {
///     mode: CalibrationMode::Widen,
///     intervals: Intervals::OneSided,
///     beta: Beta::Nested { members: 5 },
/// };
/// let calibration = calibrate(&[dimension], &options)?;
/// assert_eq!(calibration.status, CalibrationStatus::Calibrated);
/// assert!(calibration.dimensions[0].scale > 1.5);
/// # Ok::<(), CalibrationError>(())
/// ```
pub fn calibrate(
    withheld: &[WithheldDimension<'_>],
    options: &CalibrationOptions,
) -> Result<Calibration, CalibrationError> {
    let rows = checked_rows(withheld)?;
    let enough = rows >= MINIMUM_WITHHELD_ROWS;

    let mut dimensions: Vec<_> = withheld
        .iter()
        .map(|dimension| calibrate_dimension(dimension, options, enough))
        .collect();
    let scales: Vec<f32> = dimensions.iter().map(|dimension| dimension.scale).collect();
    let beta = match options.beta {
        Beta::Nested { members } => nested_beta(members, &scales),
        Beta::Fixed(beta) => beta,
    };

    let mut epistemic_inside = vec![true; rows];
    let mut total_inside = vec![true; rows];
    for (dimension, result) in withheld.iter().zip(&mut dimensions) {
        let width = f64::from(beta) * f64::from(result.scale);
        let epistemic = covered(dimension, width, false);
        let total = covered(dimension, width, true);
        result.epistemic_coverage = fraction(&epistemic);
        result.total_coverage = fraction(&total);
        (epistemic_inside.iter_mut().zip(epistemic)).for_each(|(all, inside)| *all &= inside);
        (total_inside.iter_mut().zip(total)).for_each(|(all, inside)| *all &= inside);
    }

    Ok(Calibration {
        status: status(rows, &dimensions),
        rows,
        beta,
        dimensions,
        joint_epistemic_coverage: fraction(&epistemic_inside),
        joint_total_coverage: fraction(&total_inside),
    })
}

/// Scale, errors and curves of one dimension; the coverages of the set follow once beta is known.
fn calibrate_dimension(
    dimension: &WithheldDimension<'_>,
    options: &CalibrationOptions,
    enough: bool,
) -> DimensionCalibration {
    let scores = scores(dimension, options.intervals);
    let best_scale = if enough { best_scale(&scores) } else { 1.0 };
    let scale = match options.mode {
        CalibrationMode::Widen => best_scale.max(1.0),
        CalibrationMode::Paper => best_scale,
    } as f32;
    let curve = |scale: f64| -> Vec<CurvePoint> {
        let observed = scores.observed(scale);
        let pair = |(nominal, observed): (f64, f64)| CurvePoint {
            nominal: nominal as f32,
            observed: observed as f32,
        };
        LEVELS.into_iter().zip(observed).map(pair).collect()
    };
    DimensionCalibration {
        best_scale: best_scale as f32,
        scale,
        error_before: scores.error(1.0) as f32,
        error_after: scores.error(f64::from(scale)) as f32,
        curve_before: curve(1.0),
        curve_after: curve(f64::from(scale)),
        epistemic_coverage: 0.0,
        total_coverage: 0.0,
        coverage_99: fraction(&covered(dimension, f64::from(scale) * NORMAL_995, true)),
    }
}

fn status(rows: usize, dimensions: &[DimensionCalibration]) -> CalibrationStatus {
    if rows < MINIMUM_WITHHELD_ROWS {
        return CalibrationStatus::TooFewRows {
            rows,
            needed: MINIMUM_WITHHELD_ROWS,
        };
    }
    let coverages = dimensions
        .iter()
        .map(|dimension| dimension.coverage_99)
        .enumerate();
    match coverages.min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((dimension, coverage)) if coverage < MINIMUM_COVERAGE => CalibrationStatus::Failed {
            dimension,
            coverage,
        },
        _ => CalibrationStatus::Calibrated,
    }
}

fn checked_rows(withheld: &[WithheldDimension<'_>]) -> Result<usize, CalibrationError> {
    let rows = withheld
        .first()
        .ok_or(CalibrationError::NoDimensions)?
        .mean
        .len();
    for (dimension, columns) in withheld.iter().enumerate() {
        for (column, values, may_be_negative) in [
            ("mean", columns.mean, true),
            ("epistemic std", columns.epistemic_std, false),
            ("aleatoric std", columns.aleatoric_std, false),
            ("observation", columns.observed, true),
        ] {
            if values.len() != rows {
                return Err(CalibrationError::Mismatch { dimension, rows });
            }
            let bad = |value: &f32| !value.is_finite() || (!may_be_negative && *value < 0.0);
            if let Some(row) = values.iter().position(bad) {
                return Err(CalibrationError::BadValue {
                    dimension,
                    row,
                    column,
                });
            }
        }
    }
    Ok(rows)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it fails")]
mod tests {
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
    fn unit(observed: &[f32], options: &CalibrationOptions) -> Calibration {
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
}
