//! Multilayer perceptrons of the host: their layers, forward and backward passes,
//! initial weights, Adam, and the units of what goes in and comes out.
//!
//! Ensembles, soft actor-critic and double DQN train with these; files and images
//! hold the [`Layer`]s. Predictions of the product come from the core.

mod activation;
pub mod adam;
pub mod initial;
pub mod perceptron;
pub mod reference;
pub mod standardisation;
pub mod vectors;

pub use hambo_core::numeric::network::Activation;
pub use initial::Initial;
use perceptron::LayerShape;
pub use standardisation::Standardisation;

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

/// The layers that lie in a slice of parameters.
pub fn unpack(shapes: &[LayerShape], parameters: &[f32]) -> Vec<Layer> {
    let layer = |shape: &LayerShape| Layer {
        inputs: shape.inputs,
        outputs: shape.outputs,
        weights: parameters[shape.weights.clone()].to_vec(),
        bias: parameters[shape.bias.clone()].to_vec(),
    };
    shapes.iter().map(layer).collect()
}

/// The slice of parameters that [`unpack`] reads.
pub fn pack(layers: &[Layer]) -> Vec<f32> {
    let layers = layers.iter();
    layers
        .flat_map(|layer| layer.weights.iter().chain(&layer.bias).copied())
        .collect()
}
