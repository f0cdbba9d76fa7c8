//! A trained ensemble: all that the core needs to predict with it.

use hambo_base::network::{Activation, Layer, Standardisation};

/// An ensemble with all that is needed to predict with it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedEnsemble {
    /// Widths from the input (s, a) to the output (mean, raw), both included.
    pub widths: Vec<usize>,
    /// Activation of the hidden layers.
    pub activation: Activation,
    /// Units of the networks' inputs and outputs.
    pub standardisation: Standardisation,
    /// Standard deviation = min(`std_cap`, `std_floor` + softplus(raw)), standardised.
    pub std_floor: f32,
    /// See `std_floor`.
    pub std_cap: f32,
    /// The networks.
    pub members: Vec<Member>,
    /// A random network for each of them, with one output for each state, that is
    /// added to its mean; or none.
    pub priors: Vec<Member>,
    /// Mean negative log likelihood of the training rows, per member, in standardised units.
    pub losses: Vec<f32>,
}

/// One network of an ensemble.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// From the input to the output.
    pub layers: Vec<Layer>,
}
