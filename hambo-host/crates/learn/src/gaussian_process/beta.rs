//! beta_n, half the width of a Gaussian process's confidence set in standard
//! deviations, as the self-normalised bound has it.

use serde::{Deserialize, Serialize};

/// The usual factor between the norm of the posterior mean and the bound B.
pub const NORM_FACTOR: f64 = 2.0;

/// beta_j(delta) = B_j + √(2 (g_j + ln(ds / delta))), for a posterior whose
/// regulariser is the noise variance: with probability 1 − delta every output
/// lies within beta_j standard deviations of its mean, everywhere.
///
/// ```
/// use hambo_learn::gaussian_process::beta;
///
/// assert!((beta(1.0, 10.0, 1, 0.1) - (1.0 + (2.0_f64 * (10.0 + 10.0_f64.ln())).sqrt())).abs() < 1e-12);
/// ```
#[must_use]
pub fn beta(norm_bound: f64, information_gain: f64, outputs: usize, delta: f64) -> f64 {
    norm_bound + (2.0 * (information_gain + (outputs as f64 / delta).ln())).sqrt()
}

/// Where B comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum NormBound {
    /// Known: one for each output, in standardised units.
    Given(Vec<f64>),
    /// The norm of the posterior mean times this; an estimate, not a bound.
    Estimated {
        /// [`NORM_FACTOR`] if in doubt.
        factor: f64,
    },
}

/// Where the width of the set comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum SetWidth {
    /// The least beta with which set and noise hold withheld rows: never below that of the
    /// posterior's own interval, tested, not proved.
    #[default]
    Calibrated,
    /// Theory's beta, which is proved where the norm is stated.
    Theory,
}
