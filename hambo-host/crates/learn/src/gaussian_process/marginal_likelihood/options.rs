//! What the search for hyperparameters may do, and what it tells meanwhile.

use std::fmt;

use hambo_core::model::Kernel;
use serde::{Deserialize, Serialize};

use crate::gaussian_process::error::GaussianProcessError;

/// The least that noise over signal, a constant over signal, or a signal may
/// be bounded by, so that every product of them is a variance the core takes.
const LEAST: f64 = 1e-8;

/// Limits of the hyperparameters in standardised units, each (low, high).
#[derive(Debug, Clone, PartialEq)]
pub struct SearchBounds {
    /// Of the signal variance.
    pub signal_variance: (f64, f64),
    /// Of noise variance over signal variance. Below 1e-4 and with some
    /// hundred points the core's standard deviation, which is rounded up, may
    /// be several times the exact one.
    pub noise_ratio: (f64, f64),
    /// Of constant variance over signal variance, where one is asked for.
    pub constant_ratio: (f64, f64),
    /// Of every lengthscale, in standard deviations of its input. Where the
    /// noise is small, even 1,000 is not yet the same as irrelevant.
    pub lengthscale: (f64, f64),
}

impl Default for SearchBounds {
    fn default() -> Self {
        Self {
            signal_variance: (1e-4, 1e4),
            noise_ratio: (1e-4, 1e4),
            constant_ratio: (1e-4, 1e4),
            lengthscale: (1e-3, 1e5),
        }
    }
}

impl SearchBounds {
    pub(super) fn check(&self) -> Result<(), GaussianProcessError> {
        let limits = [
            ("signal_variance", self.signal_variance, (1e-4, 1e4)),
            ("noise_ratio", self.noise_ratio, (LEAST, 1.0 / LEAST)),
            ("constant_ratio", self.constant_ratio, (LEAST, 1.0 / LEAST)),
            ("lengthscale", self.lengthscale, (1e-6, 1e6)),
        ];
        for (name, (low, high), (least, most)) in limits {
            if !(least <= low && low <= high && high <= most) {
                return Err(GaussianProcessError::Bounds {
                    name,
                    low,
                    high,
                    least,
                    most,
                });
            }
        }
        Ok(())
    }
}

/// How to search.
///
/// ```
/// use hambo_learn::gaussian_process::{Kernel, SearchOptions};
///
/// let options = SearchOptions { kernel: Kernel::Matern52, starts: 8, ..Default::default() };
/// assert_eq!(options.bounds.noise_ratio.0, 1e-4);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOptions {
    /// The kernel's shape, the same for every output.
    pub kernel: Kernel,
    /// Whether to estimate a constant variance too.
    pub constant: bool,
    /// Descents from different hyperparameters; the likeliest result counts.
    pub starts: usize,
    /// Steps of a descent.
    pub iterations: usize,
    /// The starts see at most this many rows, drawn at random. If there are
    /// more, descents on three times as many, and so on up to all, follow from
    /// the best of the results.
    pub search_rows: usize,
    /// Matrices of outputs that descend side by side after the starts may take
    /// this much.
    pub memory_bytes: usize,
    /// Limits.
    pub bounds: SearchBounds,
    /// Of the starts and of the rows they see.
    pub seed: u64,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf,
            constant: false,
            starts: 5,
            iterations: 200,
            search_rows: 500,
            memory_bytes: 4 << 30,
            bounds: SearchBounds::default(),
            seed: 0,
        }
    }
}

/// Told after every evaluation of a likelihood. Descents run side by side, so
/// they are told in no particular order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Output, from 0.
    pub output: usize,
    /// Start, from 0; `None` for the descents on more rows after the starts.
    pub start: Option<usize>,
    /// Rows that this descent sees.
    pub rows: usize,
    /// Evaluations of this descent so far.
    pub evaluations: usize,
    /// The least it found so far.
    pub negative_log_likelihood: f64,
    /// Descents that have ended, of all outputs.
    pub finished: usize,
    /// All descents.
    pub planned: usize,
    /// The share of the work that is done, if every descent takes as many steps: a step costs
    /// the cube of its rows.
    pub share: f64,
}

/// A hyperparameter that was searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Parameter {
    SignalVariance,
    /// Noise variance over signal variance.
    NoiseRatio,
    /// Constant variance over signal variance.
    ConstantRatio,
    /// The lengthscale of an input, from 0.
    Lengthscale(usize),
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SignalVariance => f.write_str("signal variance"),
            Self::NoiseRatio => f.write_str("noise / signal"),
            Self::ConstantRatio => f.write_str("constant / signal"),
            Self::Lengthscale(input) => write!(f, "lengthscale of input {input}"),
        }
    }
}
