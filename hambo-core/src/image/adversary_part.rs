//! The adversary part: a trained network (input mean, input scale, dx each,
//! and its layers in the arena), or sequences that a search found (in the
//! arena, one after the other).

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::arena::ArenaReader;
use super::container::Container;
use super::error::Problem;
use crate::model::Model;
use crate::numeric::network::{Activation, MAX_HIDDEN_LAYERS, NetworkShape, Perceptrons};
use crate::task::{FoundChoices, NetworkAdversary, Task, Variant};

/// The manifest of an adversary part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdversaryManifest {
    /// CA or DA1.
    pub variant: Variant,
    /// Against the return (0) or a constraint (from 1 on).
    pub objective: u8,
    /// What it is.
    pub kind: AdversaryKind,
}

/// What an adversary part holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AdversaryKind {
    /// A trained network.
    Network {
        /// Units of each hidden layer.
        hidden: Vec<u16, MAX_HIDDEN_LAYERS>,
        /// Between the layers.
        activation: Activation,
    },
    /// Sequences of eta, or of members.
    Found {
        /// How many.
        count: u16,
    },
}

/// Reads an adversary part for a model and gives it to the task.
#[inline(never)]
pub(super) fn add_adversary<'a>(
    part: &Container<'a>,
    model: &Model<'_>,
    task: &mut Task<'a>,
) -> Result<(), Problem> {
    let manifest: AdversaryManifest = part.read_manifest()?;
    Problem::Dimension.unless(usize::from(manifest.objective) <= task.constraints.len())?;
    let moved = model.dynamics.outputs();
    let choices = match manifest.variant {
        Variant::ContinuousAdversary => moved,
        Variant::DiscreteAdversary1 => model.dynamics.members(),
        _ => return Err(Problem::Variant),
    };
    let mut arena = ArenaReader::new(part.arena)?;
    match manifest.kind {
        AdversaryKind::Network { hidden, activation } => {
            let states = task.state_dimension();
            let inputs = states.saturating_add(model.dynamics.action_dimension());
            let shape = NetworkShape::new(inputs, &hidden, choices, activation)?;
            let input_mean = arena.take_finite(inputs)?;
            let input_scale = arena.take_finite(inputs)?;
            let tiles = arena.take_finite_tiles(shape.tiles())?;
            arena.finish()?;
            let network = NetworkAdversary {
                variant: manifest.variant,
                objective: manifest.objective,
                network: Perceptrons::new(shape, tiles, input_mean, input_scale)?,
            };
            let added = task.plan.networks.push(network);
            added.map_err(|_| Problem::Dimension)
        }
        AdversaryKind::Found { count } => {
            let continuous = manifest.variant == Variant::ContinuousAdversary;
            let horizon = usize::try_from(task.horizon).map_err(|_| Problem::Dimension)?;
            let each = if continuous { moved } else { 1 };
            let length = horizon.checked_mul(each).ok_or(Problem::Dimension)?;
            let numbers = length.checked_mul(usize::from(count));
            let numbers = arena.take_finite(numbers.ok_or(Problem::Dimension)?)?;
            arena.finish()?;
            let good = |number: &f32| {
                if continuous {
                    (-1.0..=1.0).contains(number)
                } else {
                    // A member, by its number.
                    *number >= 0.0 && *number < choices as f32 && libm::truncf(*number) == *number
                }
            };
            Problem::Number.unless(numbers.iter().all(good))?;
            let (variant, objective) = (manifest.variant, manifest.objective);
            let found = FoundChoices::new(variant, objective, length, numbers);
            let added = task.plan.found.push(found);
            added.map_err(|_| Problem::Dimension)
        }
    }
}
