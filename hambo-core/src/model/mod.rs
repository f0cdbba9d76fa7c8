//! The learned dynamics with their uncertainty: mu, sigma and the set the
//! adversary may choose from.
//!
//! The statistical model (mu_n, sigma_n, beta_n) of the paper's section 3:
//! with probability 1 − delta, |mu_j − f_j| ≤ beta · sigma_j everywhere. That is
//! an assumption: proved for a Gaussian process whose norm is known, tested on
//! withheld rows for everything else.
//!
//! [`Dynamics`] predicts the difference s′ − s: a network ensemble or a
//! Gaussian process. Its inputs are features of the state, which are the states
//! themselves unless the task says otherwise, and the action; its outputs are
//! the states that the task does not know how to compute
//! ([`crate::task::Physics`]).

mod confidence;
mod dynamics;
mod ensemble;
mod gaussian_process;
mod local_width;
#[cfg(test)]
mod local_width_tests;
mod noise;
mod prediction;
mod seal;
mod standardisation;
mod support;

pub use confidence::{Calibration, ConfidenceSet, MOST_BEYOND_TESTED, nested_beta};
pub use dynamics::{Dynamics, Model, StatisticalModel};
pub use ensemble::Ensemble;
pub(crate) use ensemble::Priors;
pub use gaussian_process::{
    FRACTION_BITS, GaussianProcess, Kernel, OutputNumbers, WEIGHT_LIMIT, coordinate_limit,
};
pub(crate) use gaussian_process::{MAX_OUTPUTS, tiles_of};
pub use local_width::{LocalWidth, REGION_HEAD};
pub use noise::{Extremes, MOST_EXTREME, Noise, NoiseFactor, Offsets};
pub use prediction::{Prediction, PredictionCotangent};
pub use standardisation::Standardisation;
pub use support::{FAR_OUTSIDE, GAP, LogPlace, Support, triangle};
