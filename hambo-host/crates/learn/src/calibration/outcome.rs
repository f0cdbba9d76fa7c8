//! How to calibrate, and what a calibration says of a model.

use super::gate::Gate;
use super::local_width::region::LocalRegion;
use hambo_task::image::NoisePools;
use serde::{Deserialize, Serialize};

/// Withheld rows below which a calibration is not to be trusted.
pub const MINIMUM_WITHHELD_ROWS: usize = 20;

/// Windows of a length count as tested if at least this many withheld episodes have one, or all
/// of them where they are fewer: one long episode says nothing of the others.
pub const TESTED_EPISODES: usize = 4;

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
    /// The task's word that nothing changes between recordings: too few of them to bound the
    /// share of those that lie outside are then no reason to refuse.
    pub stationary: bool,
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
    /// The log has so few recordings that nothing tells what changes from one to the next, and
    /// the task does not say that nothing does.
    TooFewRecordings {
        /// Recordings of the log.
        recordings: usize,
        /// Recordings needed.
        needed: usize,
    },
    /// Too few withheld rows; the scales were left at 1.
    TooFewRows {
        /// Rows given.
        rows: usize,
        /// Rows needed.
        needed: usize,
    },
    /// Set and noise hold the rows, but the episodes are too few to be sure of the share of
    /// rows, or of the share of episodes, that they hold.
    TooFewEpisodes {
        /// Episodes that judged.
        episodes: usize,
        /// The number of episodes like these that would be enough, if any number is.
        needed: Option<usize>,
    },
    /// Set and noise hold too few rows however they are widened.
    Failed {
        /// The worst dimension, from 0.
        dimension: usize,
        /// Fraction of its rows inside.
        coverage: f32,
    },
    /// Errors stay from step to step: sums of residuals over windows of `length` rows are
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
    /// The factor of the correlation of the states' noise, its lower triangle row by row;
    /// empty where the noise of every state is independent.
    pub noise_factor: Vec<f32>,
    /// Rare events and what stays for an episode; empty where white noise is enough.
    pub noise_pools: NoisePools,
    /// The standard deviation of what stays for an episode, in those of the noise, one for
    /// each state; empty where nothing does.
    pub stays: Vec<f32>,
    /// Where the model errs more than it says; empty where it does so nowhere.
    pub regions: Vec<LocalRegion>,
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

    /// The share of steps that are rare events.
    #[must_use]
    pub fn extreme_share(&self) -> f32 {
        self.noise_pools.ends.last().copied().unwrap_or(0.0)
    }

    /// States whose noise has something in common, and their correlation, the largest first;
    /// none below a tenth.
    #[must_use]
    pub fn shared_noise(&self) -> Vec<([usize; 2], f32)> {
        let states = self.dimensions.len();
        let row = |state: usize| {
            let first = state * (state + 1) / 2;
            self.noise_factor
                .get(first..=first + state)
                .unwrap_or_default()
        };
        let pairs = (0..states).flat_map(|one| (0..one).map(move |other| [other, one]));
        let mut shared: Vec<_> = pairs
            .map(|pair| {
                let [other, one] = pair.map(row);
                let products = other.iter().zip(one).map(|(x, y)| x * y);
                (pair, products.sum::<f32>())
            })
            .filter(|(_, correlation)| correlation.abs() >= 0.1)
            .collect();
        shared.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        shared
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
