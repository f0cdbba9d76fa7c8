//! The adversary part: a network's sizes in the manifest, input mean, input
//! scale (dx each) and its layers in the arena.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::arena::ArenaReader;
use super::container::Container;
use super::error::Problem;
use crate::model::Model;
use crate::network::{Activation, MAX_HIDDEN_LAYERS, NetworkShape, Perceptrons};
use crate::policy::NetworkAdversary;
use crate::variant::Variant;

/// The manifest of an adversary part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdversaryManifest {
    /// CA or DA1.
    pub variant: Variant,
    /// Units of each hidden layer.
    pub hidden: Vec<u16, MAX_HIDDEN_LAYERS>,
    /// Between the layers.
    pub activation: Activation,
}

/// Reads an adversary part for a model.
///
/// # Errors
/// If sizes do not agree or a number is out of range.
#[inline(never)]
pub(super) fn parse_adversary<'a>(
    part: &Container<'a>,
    model: &Model<'_>,
) -> Result<NetworkAdversary<'a>, Problem> {
    let manifest: AdversaryManifest = part.read_manifest()?;
    let state = model.dynamics.state_dimension();
    let inputs = state.saturating_add(model.dynamics.action_dimension());
    let outputs = match manifest.variant {
        Variant::ContinuousAdversary => state,
        Variant::DiscreteAdversary1 => model.dynamics.members(),
        _ => return Err(Problem::Variant),
    };
    let shape = NetworkShape::new(inputs, &manifest.hidden, outputs, manifest.activation)?;
    let mut arena = ArenaReader::new(part.arena)?;
    let input_mean = arena.take_finite(inputs)?;
    let input_scale = arena.take_finite(inputs)?;
    let tiles = arena.take_finite_tiles(shape.tiles())?;
    arena.finish()?;
    Ok(NetworkAdversary {
        variant: manifest.variant,
        network: Perceptrons::new(shape, tiles, input_mean, input_scale)?,
    })
}
