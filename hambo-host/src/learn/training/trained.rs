//! A trained ensemble: all that the core needs to predict with it.

use super::network::LayerShape;
use super::{Activation, Standardisation};

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
    /// Mean negative log likelihood of the training rows, per member, in standardised units.
    pub losses: Vec<f32>,
}

/// One network of an ensemble.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// From the input to the output.
    pub layers: Vec<Layer>,
}

/// One layer: outputs = weights · inputs + bias.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Layer {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Row-major, outputs × inputs.
    pub weights: Vec<f32>,
    /// One per output.
    pub bias: Vec<f32>,
}

impl Member {
    /// The layers that lie in a slice of parameters.
    pub(crate) fn unpack(layers: &[LayerShape], parameters: &[f32]) -> Self {
        let layers = layers
            .iter()
            .map(|layer| Layer {
                inputs: layer.inputs,
                outputs: layer.outputs,
                weights: parameters[layer.weights.clone()].to_vec(),
                bias: parameters[layer.bias.clone()].to_vec(),
            })
            .collect();
        Self { layers }
    }

    /// The slice of parameters that [`Self::unpack`] reads.
    pub(crate) fn pack(&self) -> Vec<f32> {
        let layers = self.layers.iter();
        layers
            .flat_map(|layer| layer.weights.iter().chain(&layer.bias).copied())
            .collect()
    }
}
