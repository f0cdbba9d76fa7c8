//! Calibration of the uncertainty set on withheld data.
//!
//! Each state dimension j gets a scale tau_j for its predicted standard
//! deviations, so that the model's Gaussians N(mu, tau_j² (epistemic² +
//! aleatoric²)) hold observations as often as they claim. The scale then
//! multiplies the epistemic set |s′ − mu| ≤ beta · tau_j · epistemic std in
//! which the adversary moves.

mod calibration_error;
mod scale;
#[cfg(test)]
mod tests;

use hambo_core::model::nested_beta;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::foundation::error::Explained;
use calibration_error::{LEVELS, covered, fraction, scores};
use scale::best_scale;

/// Withheld rows below which a calibration is not to be trusted.
pub const MINIMUM_WITHHELD_ROWS: usize = 20;
/// A calibration fails where its 99 % intervals hold fewer rows than this.
pub const MINIMUM_COVERAGE: f32 = 0.8;
/// The 0.995 quantile of the standard normal: half the width of a 99 % interval.
const NORMAL_995: f64 = 2.575_829_303_548_901;
/// The 0.95 quantile: half the width of a 90 % interval.
const NORMAL_95: f64 = 1.644_853_626_951_472;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq)]
pub enum Beta {
    /// Wide enough to hold every member of an ensemble, see [`nested_beta`].
    Nested {
        /// Number of members, K.
        members: usize,
    },
    /// A given number for every dimension.
    Fixed(f32),
    /// One for each dimension, as theory gives them for Gaussian processes.
    Each(Vec<f32>),
}

/// How to calibrate.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationOptions {
    /// Widen only, or follow the paper.
    pub mode: CalibrationMode,
    /// One-sided or central intervals.
    pub intervals: Intervals,
    /// The set whose coverage is reported.
    pub beta: Beta,
}

/// One point of a calibration curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Probability that the model claims.
    pub nominal: f32,
    /// Fraction of the withheld rows.
    pub observed: f32,
}

/// Whether a calibration can be relied on; anything but `Calibrated` makes a check abstain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DimensionCalibration {
    /// Minimiser of the calibration error, tau*.
    pub best_scale: f32,
    /// The scale in use, tau.
    pub scale: f32,
    /// Half the width of the set in use, in scaled standard deviations.
    pub beta: f32,
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
    /// Fraction of rows inside the scaled 90 % interval of the total.
    pub coverage_90: f32,
    /// Fraction of rows inside the scaled 99 % interval of the total.
    pub coverage_99: f32,
}

/// The calibration of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCalibration {
    /// Whether to rely on it.
    pub status: CalibrationStatus,
    /// Number of withheld rows.
    pub rows: usize,
    /// The largest beta of all dimensions.
    pub beta: f32,
    /// One entry per state dimension.
    pub dimensions: Vec<DimensionCalibration>,
    /// Fraction of rows inside the set in use in every dimension at once.
    pub joint_epistemic_coverage: f32,
    /// The same with the total standard deviation.
    pub joint_total_coverage: f32,
}

impl ModelCalibration {
    /// The core has one beta, the largest, and takes what a dimension has less
    /// into its scale: tau_j · beta_j / beta.
    #[must_use]
    pub fn core_scales(&self) -> Vec<f32> {
        let dimensions = self.dimensions.iter();
        dimensions
            .map(|dimension| {
                if dimension.beta < self.beta {
                    // Not a rounding less.
                    dimension.scale * (dimension.beta / self.beta) * (1.0 + 1e-6)
                } else {
                    dimension.scale
                }
            })
            .collect()
    }

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

impl Explained for CalibrationError {
    const ABOUT: &'static str = "calibration: ";
}

/// Finds the scales on withheld rows and reports what they do.
///
/// ```
/// use hambo_host::learn::calibration::*;
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
) -> Result<ModelCalibration, CalibrationError> {
    let rows = checked_rows(withheld)?;
    let enough = rows >= MINIMUM_WITHHELD_ROWS;

    let mut dimensions: Vec<_> = withheld
        .iter()
        .map(|dimension| calibrate_dimension(dimension, options, enough))
        .collect();
    let scales: Vec<f32> = dimensions.iter().map(|dimension| dimension.scale).collect();
    let betas = match &options.beta {
        Beta::Nested { members } => vec![nested_beta(*members, &scales); scales.len()],
        Beta::Fixed(beta) => vec![*beta; scales.len()],
        Beta::Each(betas) if betas.len() == scales.len() => betas.clone(),
        Beta::Each(_) => return Err(CalibrationError::Mismatch { dimension: 0, rows }),
    };

    let mut epistemic_inside = vec![true; rows];
    let mut total_inside = vec![true; rows];
    for ((dimension, result), beta) in withheld.iter().zip(&mut dimensions).zip(&betas) {
        result.beta = *beta;
        let width = f64::from(*beta) * f64::from(result.scale);
        let epistemic = covered(dimension, width, false);
        let total = covered(dimension, width, true);
        result.epistemic_coverage = fraction(&epistemic);
        result.total_coverage = fraction(&total);
        (epistemic_inside.iter_mut().zip(epistemic)).for_each(|(all, inside)| *all &= inside);
        (total_inside.iter_mut().zip(total)).for_each(|(all, inside)| *all &= inside);
    }

    Ok(ModelCalibration {
        status: status(rows, &dimensions),
        rows,
        beta: betas.into_iter().fold(0.0, f32::max),
        dimensions,
        joint_epistemic_coverage: fraction(&epistemic_inside),
        joint_total_coverage: fraction(&total_inside),
    })
}

/// The calibration error of a model as it is, one-sided.
///
/// ```
/// use hambo_host::learn::calibration::{WithheldDimension, error_before};
///
/// let observed: Vec<f32> = (0..40).map(|i| 0.05 * (i as f32 - 19.5)).collect();
/// let of = |std: f32| {
///     let std = vec![std; 40];
///     let (mean, epistemic_std) = (&[0.0; 40], &[0.0; 40]);
///     error_before(&WithheldDimension { mean, epistemic_std, aleatoric_std: &std, observed: &observed })
/// };
/// assert!(of(0.6) < of(0.1) && of(0.6) < of(5.0));
/// ```
#[must_use]
pub fn error_before(dimension: &WithheldDimension<'_>) -> f32 {
    scores(dimension, Intervals::OneSided).error(1.0) as f32
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
        beta: 0.0,
        epistemic_coverage: 0.0,
        total_coverage: 0.0,
        coverage_90: fraction(&covered(dimension, f64::from(scale) * NORMAL_95, true)),
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
