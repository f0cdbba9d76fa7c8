//! One layer, and layers as a slice of parameters.

use super::perceptron::LayerShape;

/// One layer: outputs = weights · inputs + bias.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Layer {
    pub inputs: usize,
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
