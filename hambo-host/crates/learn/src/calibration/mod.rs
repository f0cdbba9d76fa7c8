//! Calibration of the uncertainty set and of the noise on withheld data.
//!
//! Three steps, the first two on rows that choose, the last on rows that chose
//! nothing:
//!
//! 1. the noise gets a scale of its own ([`noise_scale`]);
//! 2. each state dimension j gets a scale tau_j, so that the model's Gaussians
//!    N(mu, tau_j² (epistemic² + aleatoric²)) hold observations as often as they
//!    claim, and set and noise as they are simulated hold nearly all of them;
//! 3. the [`gate`] widens all of them together until it passes, or refuses.
//!
//! The adversary then moves in |s′ − mu| ≤ beta · tau_j · epistemic std.

mod calibration_error;
mod distributions;
mod gate;
mod korn_graubard;
mod needed;
mod noise_scale;
mod scale;
mod scales;
#[cfg(test)]
mod tests;
mod withheld;

use serde::{Deserialize, Serialize};

use calibration_error::{fraction, scores};
pub use gate::{Gate, LEAST_SHARE, MOST_WIDENING, NOMINAL_SHARE, WindowShare};
use gate::{Refusal, widen};
pub(crate) use korn_graubard::Share;
use needed::longest_run;
pub use scales::noise_width;
use scales::{Scales, window_lengths};
pub use withheld::{CalibrationError, Withheld, WithheldDimension};

/// Withheld rows below which a calibration is not to be trusted.
pub const MINIMUM_WITHHELD_ROWS: usize = 20;

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
    /// The set.
    pub beta: Beta,
    /// Windows of rows that are longer than this are not looked at: the horizon.
    pub longest_window: usize,
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
    /// Set and noise, as they are simulated, hold the withheld rows.
    Calibrated,
    /// Too few withheld rows; the scales were left at 1.
    TooFewRows {
        /// Rows given.
        rows: usize,
        /// Rows needed.
        needed: usize,
    },
    /// Set and noise hold the rows, but the episodes are too few to be sure of it.
    TooFewEpisodes {
        /// Episodes that judged.
        episodes: usize,
        /// So many like these would be enough, if any number is.
        needed: Option<usize>,
    },
    /// Set and noise hold too few rows however they are widened.
    Failed {
        /// The worst dimension, from 0.
        dimension: usize,
        /// Fraction of its rows inside.
        coverage: f32,
    },
    /// Errors stay from step to step: sums of residuals over windows of so many rows are
    /// larger than a rollout could make them.
    ErrorsStay {
        /// Rows of a window.
        length: usize,
        /// Fraction of the windows that are held.
        share: f32,
    },
}

/// The calibration of one state dimension. Errors, curves and shares are those of the rows
/// that judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DimensionCalibration {
    /// Minimiser of the calibration error, tau*.
    pub best_scale: f32,
    /// The scale in use, tau.
    pub scale: f32,
    /// The scale of the noise.
    pub noise_scale: f32,
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
    /// The same with the noise, as both are simulated.
    pub simulated_coverage: f32,
    /// Fraction of rows inside the scaled 90 % interval of the total.
    pub coverage_90: f32,
}

/// The calibration of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCalibration {
    /// Whether to rely on it.
    pub status: CalibrationStatus,
    /// Rows that chose the scales.
    pub choosing_rows: usize,
    /// What the rows that chose nothing say.
    pub gate: Gate,
    /// The largest beta of all dimensions.
    pub beta: f32,
    /// One entry per state dimension.
    pub dimensions: Vec<DimensionCalibration>,
    /// Fraction of rows inside the set alone in every dimension at once.
    pub joint_epistemic_coverage: f32,
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

    /// The scales of the noise.
    #[must_use]
    pub fn noise_scales(&self) -> Vec<f32> {
        let dimensions = self.dimensions.iter();
        dimensions.map(|dimension| dimension.noise_scale).collect()
    }

    /// The scales in use, tau_j.
    pub fn scales(&self) -> Vec<f32> {
        self.dimensions
            .iter()
            .map(|dimension| dimension.scale)
            .collect()
    }
}

/// Finds the scales on the rows that choose, and judges them on the others.
///
/// ```
/// use hambo_learn::calibration::*;
///
/// // Ten episodes of 40 rows whose residuals are three times what the model expects.
/// let observed: Vec<f32> = (0..400).map(|i| 0.1 * ((i * 7 % 40) as f32 - 19.5)).collect();
/// let groups: Vec<u32> = (0..400).map(|i| i / 40).collect();
/// let follows: Vec<bool> = (0..400).map(|i| i % 40 > 0).collect();
/// let dimension = WithheldDimension {
///     mean: &[0.0; 400],
///     epistemic_std: &[0.3; 400],
///     aleatoric_std: &[0.01; 400],
///     observed: &observed,
/// };
/// let rows = Withheld { dimensions: vec![dimension], groups: &groups, follows: &follows };
/// let options = CalibrationOptions {
///     mode: CalibrationMode::Widen,
///     intervals: Intervals::OneSided,
///     beta: Beta::Nested { members: 5 },
///     longest_window: 10,
/// };
/// let calibration = calibrate(&rows, &rows, &options)?;
/// assert_eq!(calibration.status, CalibrationStatus::Calibrated);
/// assert!(calibration.gate.share_lower >= 0.9);
/// # Ok::<(), CalibrationError>(())
/// ```
///
/// # Errors
/// If the columns do not fit together or a value is not finite.
pub fn calibrate(
    choosing: &Withheld<'_>,
    judging: &Withheld<'_>,
    options: &CalibrationOptions,
) -> Result<ModelCalibration, CalibrationError> {
    let choosing_rows = choosing.checked_rows()?;
    let rows = judging.checked_rows()?;
    let count = judging.dimensions.len();
    let chosen = if choosing_rows < MINIMUM_WITHHELD_ROWS {
        Scales::unit(count, options)?
    } else {
        Scales::choose(choosing, options)?
    };

    let widens = options.mode == CalibrationMode::Widen;
    let widest = chosen.tau.iter().copied().fold(1.0, f64::max);
    let most = if widens { MOST_WIDENING / widest } else { 1.0 };
    let simulated = chosen.simulated(count);
    let lengths = window_lengths(options.longest_window, longest_run(judging.follows));
    let windows: Vec<_> = lengths
        .map(|length| simulated.needed(judging, length))
        .collect();
    let (gate, refusal) = widen(&simulated.needed(judging, 1), &windows, most);

    let dimensions: Vec<_> = judging
        .dimensions
        .iter()
        .enumerate()
        .map(|(j, columns)| chosen.report(j, columns, f64::from(gate.widening), options))
        .collect();
    let worst = dimensions.iter().enumerate();
    let worst = worst.min_by(|a, b| a.1.simulated_coverage.total_cmp(&b.1.simulated_coverage));
    let status = match refusal {
        _ if rows < MINIMUM_WITHHELD_ROWS => CalibrationStatus::TooFewRows {
            rows,
            needed: MINIMUM_WITHHELD_ROWS,
        },
        None => CalibrationStatus::Calibrated,
        Some(Refusal::TooFewEpisodes(needed)) => CalibrationStatus::TooFewEpisodes {
            episodes: gate.episodes,
            needed,
        },
        Some(Refusal::RowsOutside) => CalibrationStatus::Failed {
            dimension: worst.map_or(0, |(dimension, _)| dimension),
            coverage: worst.map_or(0.0, |(_, of)| of.simulated_coverage),
        },
        Some(Refusal::ErrorsStay(length)) => CalibrationStatus::ErrorsStay {
            length,
            share: (gate.windows.iter())
                .find(|window| window.length == length)
                .map_or(0.0, |window| window.share),
        },
    };
    let mut inside = vec![true; rows];
    for (columns, of) in judging.dimensions.iter().zip(&dimensions) {
        let width = f64::from(of.beta) * f64::from(of.scale);
        for (inside, row) in inside.iter_mut().zip(columns.rows()) {
            *inside &= row.residual.abs() <= width * row.epistemic;
        }
    }
    Ok(ModelCalibration {
        status,
        choosing_rows,
        gate,
        beta: dimensions.iter().map(|of| of.beta).fold(0.0, f32::max),
        dimensions,
        joint_epistemic_coverage: fraction(&inside),
    })
}

/// The calibration error of a model as it is, one-sided.
///
/// ```
/// use hambo_learn::calibration::{WithheldDimension, error_before};
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
    scores(dimension, 1.0, Intervals::OneSided).error(1.0) as f32
}
