//! Adversaries that were trained or found, to the bytes of an adversary part.

use hambo_core::image::{AdversaryKind, AdversaryManifest, Part};
use hambo_core::numeric::network::Activation;
use hambo_core::task::Variant;

use super::part::{ArenaWriter, EncodeError, encode_part, limited, small};
use hambo_base::network::Layer;

/// A network over (s, a) that was trained to lower the return: its outputs
/// are eta before tanh (CA) or one number for each member (DA1).
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedAdversary {
    /// CA or DA1.
    pub variant: Variant,
    /// Against the return (0) or a constraint (from 1 on).
    pub objective: u8,
    /// From the input to the output.
    pub layers: Vec<Layer>,
    /// Between the layers.
    pub activation: Activation,
    /// Mean of each input.
    pub input_mean: Vec<f32>,
    /// Standard deviation of each input.
    pub input_scale: Vec<f32>,
}

/// Sequences that a search found on other trajectories.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundAdversary {
    /// CA or DA1.
    pub variant: Variant,
    /// Against the return (0) or a constraint (from 1 on).
    pub objective: u8,
    /// eta_0 … eta_{T−1}, or the members as numbers; one sequence each.
    pub sequences: Vec<Vec<f32>>,
}

/// All that goes into an image beside model, task and controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adversaries {
    pub networks: Vec<TrainedAdversary>,
    /// What was found elsewhere.
    pub found: Vec<FoundAdversary>,
}

/// A part of sequences.
///
/// # Errors
/// If a size does not fit the format.
pub fn encode_found(found: &FoundAdversary) -> Result<Vec<u8>, EncodeError> {
    let manifest = AdversaryManifest {
        variant: found.variant,
        objective: found.objective,
        kind: AdversaryKind::Found {
            count: small("the number of sequences", found.sequences.len())?,
        },
    };
    let mut arena = ArenaWriter::default();
    arena.put(found.sequences.iter().flatten().copied());
    encode_part(Part::Adversary, &manifest, &arena.numbers)
}

/// A part of a trained network.
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
        objective: adversary.objective,
        kind: AdversaryKind::Network {
            hidden: limited("the number of hidden layers", &hidden)?,
            activation: adversary.activation,
        },
    };
    let mut arena = ArenaWriter::default();
    arena.put(adversary.input_mean.iter().copied());
    arena.put(adversary.input_scale.iter().map(|std| 1.0 / std));
    for layer in &adversary.layers {
        arena.put_layer(layer);
    }
    encode_part(Part::Adversary, &manifest, &arena.numbers)
}
