//! Where a network's parameters start.

use serde::{Deserialize, Serialize};

use super::activation::BatchActivation;
use super::perceptron::{LayerShape, parameter_count};
use crate::random::Random;
use hambo_core::numeric::network::Activation;

/// The distribution of the first weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Initial {
    /// Normal, of He's size (Glorot's for tanh), hidden biases included: the
    /// units of a member bend all over the space, so members disagree most away
    /// from the data.
    Wide,
    /// Uniform in ±1 / √inputs, biases included, as PyTorch does: smoother
    /// networks and the better likelihood where data are many.
    Narrow,
}

/// Standard deviation of the initial biases of hidden units. Not 0, so that the
/// units of a member bend at different places, also away from the data: that is
/// where members must disagree.
const HIDDEN_BIAS_STD: f32 = 0.3;

/// Random parameters of one network.
pub fn initial_parameters(
    initial: Initial,
    layers: &[LayerShape],
    activation: Activation,
    random: &mut Random,
) -> Vec<f32> {
    match initial {
        Initial::Wide => wide(layers, activation, random),
        Initial::Narrow => narrow(layers, random),
    }
}

/// Uniform, layer by layer.
fn narrow(layers: &[LayerShape], random: &mut Random) -> Vec<f32> {
    let mut parameters = vec![0.0; parameter_count(layers)];
    for layer in layers {
        let bound = 1.0 / (layer.inputs as f64).sqrt();
        for parameter in &mut parameters[layer.weights.start..layer.bias.end] {
            *parameter = (bound * (2.0 * f64::from(random.uniform()) - 1.0)) as f32;
        }
    }
    parameters
}

/// Random weights and hidden biases; the output starts without a bias.
fn wide(layers: &[LayerShape], activation: Activation, random: &mut Random) -> Vec<f32> {
    let mut parameters = vec![0.0; parameter_count(layers)];
    for (index, layer) in layers.iter().enumerate() {
        let hidden = index + 1 < layers.len();
        let variance = if hidden {
            activation.initial_variance(layer.inputs, layer.outputs)
        } else {
            1.0 / layer.inputs as f64
        };
        for weight in &mut parameters[layer.weights.clone()] {
            *weight = (variance.sqrt() * f64::from(random.normal())) as f32;
        }
        if hidden {
            for bias in &mut parameters[layer.bias.clone()] {
                *bias = HIDDEN_BIAS_STD * random.normal();
            }
        }
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::super::perceptron::layer_shapes;
    use super::*;

    #[test]
    fn sizes_are_as_stated() {
        let layers = layer_shapes(&[10, 400, 8]);
        let start = |initial| {
            initial_parameters(initial, &layers, Activation::Relu, &mut Random::new(1, 1))
        };
        let spread = |parameters: &[f32]| {
            (parameters.iter().map(|p| p * p).sum::<f32>() / parameters.len() as f32).sqrt()
        };
        let (wide, narrow) = (start(Initial::Wide), start(Initial::Narrow));
        let ratio = spread(&wide[layers[0].weights.clone()]) / (2f32 / 10.0).sqrt();
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
        assert!(wide[layers[1].bias.clone()].iter().all(|&bias| bias == 0.0));
        // A uniform number's standard deviation is its bound / √3.
        let ratio = spread(&narrow[layers[0].weights.clone()]) / (1f32 / 30.0).sqrt();
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
        let bound = 1.0 / 20.0;
        assert!(
            narrow[layers[1].weights.start..]
                .iter()
                .all(|p| p.abs() <= bound)
        );
        assert!(
            narrow[layers[1].bias.clone()]
                .iter()
                .all(|&bias| bias != 0.0)
        );
    }
}
