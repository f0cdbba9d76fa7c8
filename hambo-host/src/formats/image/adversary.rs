//! Trained adversaries to the bytes of an adversary part.

use hambo_core::image::{AdversaryManifest, Part};
use hambo_core::network::Activation;
use hambo_core::variant::Variant;

use super::encode::{ArenaWriter, EncodeError, encode_part, limited, small};
use crate::foundation::network::Layer;

/// A network over (s, a) that was trained to lower the return: its outputs
/// are eta before tanh (CA) or one number for each member (DA1).
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedAdversary {
    /// CA or DA1.
    pub variant: Variant,
    /// From the input to the output.
    pub layers: Vec<Layer>,
    /// Between the layers.
    pub activation: Activation,
    /// Mean of each input.
    pub input_mean: Vec<f32>,
    /// Standard deviation of each input.
    pub input_scale: Vec<f32>,
}

/// An adversary part.
///
/// # Errors
/// If a size does not fit the format.
pub fn encode_adversary(adversary: &TrainedAdversary) -> Result<Vec<u8>, EncodeError> {
    let inner = adversary.layers.len().saturating_sub(1);
    let hidden: Vec<u16> = adversary
        .layers
        .iter()
        .take(inner)
        .map(|layer| small("a layer", layer.outputs))
        .collect::<Result<_, _>>()?;
    let manifest = AdversaryManifest {
        variant: adversary.variant,
        hidden: limited("the number of hidden layers", &hidden)?,
        activation: adversary.activation,
    };
    let mut arena = ArenaWriter::default();
    arena.put(adversary.input_mean.iter().copied());
    arena.put(adversary.input_scale.iter().map(|std| 1.0 / std));
    for layer in &adversary.layers {
        arena.put_layer(layer);
    }
    encode_part(Part::Adversary, &manifest, &arena.numbers)
}
