//! The policy part: waypoints live in the manifest alone, weights in the
//! arena.
//!
//! Arena: logarithms of the standard deviations (da, if they are fixed) ·
//! action scale, action offset (da each) · for a network observation mean,
//! observation scale (ds each) · the layers, each as bias tiles and then
//! blocks of weights. Every run is padded to a multiple of four.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::arena::ArenaReader;
use super::container::Container;
use super::error::Problem;
use crate::numeric::dense::Dense;
use crate::numeric::elementary::exp;
use crate::numeric::network::{Activation, MAX_HIDDEN_LAYERS, NetworkShape, Perceptrons};
use crate::policy::{
    ActionMap, Head, Linear, MAX_OBSERVED, Observed, Observer, Perceptron, Spread, StoredPolicy,
    Waypoints,
};
use crate::task::expression::{MAX_OPS, Op, Program};

/// The manifest of a policy part. New kinds come last: the order is the
/// format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is one, and no heap")]
pub enum PolicyManifest {
    /// Straight lines from place to place.
    Waypoints(Waypoints),
    /// Linear state feedback.
    Linear(LinearManifest),
    /// A network.
    Perceptron(PerceptronManifest),
    /// One of these behind functions of the state.
    Observed(ObservedManifest),
    /// A network whose layers have activations of their own.
    Mixed(MixedManifest),
}

/// A controller that sees functions of the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservedManifest {
    /// ds of the task.
    pub state_dimension: u16,
    /// The tape that computes what it sees.
    pub ops: Vec<Op, MAX_OPS>,
    /// The slots of the observations, in the controller's order.
    pub slots: Vec<u16, MAX_OBSERVED>,
    /// What sees them.
    pub observer: ObserverManifest,
}

/// What sees the observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ObserverManifest {
    /// Linear feedback.
    Linear(LinearManifest),
    /// A network.
    Perceptron(PerceptronManifest),
    /// A network whose layers have activations of their own.
    Mixed(MixedManifest),
}

/// The sizes of a network whose layers have activations of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MixedManifest {
    /// ds.
    pub state_dimension: u16,
    /// Units of each hidden layer, and what follows it.
    pub hidden: Vec<(u16, Activation), MAX_HIDDEN_LAYERS>,
    /// What follows the network.
    pub actions: ActionManifest,
}

/// The sizes of a linear policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinearManifest {
    /// ds.
    pub state_dimension: u16,
    /// What follows the linear map.
    pub actions: ActionManifest,
}

/// The sizes of a network policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerceptronManifest {
    /// ds.
    pub state_dimension: u16,
    /// Units of each hidden layer.
    pub hidden: Vec<u16, MAX_HIDDEN_LAYERS>,
    /// Between the layers.
    pub activation: Activation,
    /// What follows the network.
    pub actions: ActionManifest,
}

/// From outputs to actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionManifest {
    /// da.
    pub action_dimension: u16,
    /// How chance enters.
    pub head: Head,
    /// Whether the mean passes through a tanh.
    pub squash: bool,
}

/// Reads a policy part.
///
/// # Errors
/// If sizes do not agree or a number is out of range.
#[inline(never)]
pub fn parse_policy<'a>(part: &Container<'a>) -> Result<StoredPolicy<'a>, Problem> {
    let manifest: PolicyManifest = part.read_manifest()?;
    let mut arena = ArenaReader::new(part.arena)?;
    let policy = match manifest {
        PolicyManifest::Waypoints(policy) => {
            policy.validate()?;
            StoredPolicy::Waypoints(policy)
        }
        PolicyManifest::Linear(manifest) => {
            StoredPolicy::Linear(parse_linear(&manifest, &mut arena)?)
        }
        PolicyManifest::Perceptron(manifest) => {
            StoredPolicy::Perceptron(parse_perceptron(&manifest, &mut arena)?)
        }
        PolicyManifest::Observed(manifest) => {
            StoredPolicy::Observed(parse_observed(&manifest, &mut arena)?)
        }
        PolicyManifest::Mixed(manifest) => {
            StoredPolicy::Perceptron(parse_mixed(&manifest, &mut arena)?)
        }
    };
    arena.finish()?;
    Ok(policy)
}

#[inline(never)]
fn parse_observed<'a>(
    manifest: &ObservedManifest,
    arena: &mut ArenaReader<'a>,
) -> Result<Observed<'a>, Problem> {
    let states = usize::from(manifest.state_dimension);
    let program = Program::new(&manifest.ops, states, 0).map_err(|_| Problem::Program)?;
    let observer = match &manifest.observer {
        ObserverManifest::Linear(manifest) => Observer::Linear(parse_linear(manifest, arena)?),
        ObserverManifest::Perceptron(manifest) => {
            Observer::Perceptron(parse_perceptron(manifest, arena)?)
        }
        ObserverManifest::Mixed(manifest) => Observer::Perceptron(parse_mixed(manifest, arena)?),
    };
    Ok(Observed::new(
        states,
        program,
        manifest.slots.clone(),
        observer,
    )?)
}

fn parse_linear<'a>(
    manifest: &LinearManifest,
    arena: &mut ArenaReader<'a>,
) -> Result<Linear<'a>, Problem> {
    let actions = parse_actions(&manifest.actions, arena)?;
    let states = usize::from(manifest.state_dimension);
    let outputs = actions.outputs()?;
    let tiles = Dense::tiles(states, outputs).ok_or(Problem::Dimension)?;
    let tiles = arena.take_finite_tiles(tiles)?;
    Ok(Linear::new(tiles, states, actions)?)
}

fn parse_perceptron<'a>(
    manifest: &PerceptronManifest,
    arena: &mut ArenaReader<'a>,
) -> Result<Perceptron<'a>, Problem> {
    let actions = parse_actions(&manifest.actions, arena)?;
    let hidden = manifest.hidden.iter();
    let hidden = hidden.map(|width| (*width, manifest.activation));
    let states = usize::from(manifest.state_dimension);
    parse_layers(states, hidden, actions, arena)
}

fn parse_mixed<'a>(
    manifest: &MixedManifest,
    arena: &mut ArenaReader<'a>,
) -> Result<Perceptron<'a>, Problem> {
    let actions = parse_actions(&manifest.actions, arena)?;
    let states = usize::from(manifest.state_dimension);
    parse_layers(states, manifest.hidden.iter().copied(), actions, arena)
}

fn parse_layers<'a>(
    states: usize,
    hidden: impl Iterator<Item = (u16, Activation)>,
    actions: ActionMap<'a>,
    arena: &mut ArenaReader<'a>,
) -> Result<Perceptron<'a>, Problem> {
    let mean = arena.take_finite(states)?;
    let scale = arena.take_positive(states)?;
    let outputs = actions.outputs()?;
    let shape = NetworkShape::mixed(states, hidden, outputs)?;
    let tiles = arena.take_finite_tiles(shape.tiles())?;
    let network = Perceptrons::new(shape, tiles, mean, scale)?;
    Ok(Perceptron::new(network, actions)?)
}

fn parse_actions<'a>(
    manifest: &ActionManifest,
    arena: &mut ArenaReader<'a>,
) -> Result<ActionMap<'a>, Problem> {
    let actions = usize::from(manifest.action_dimension);
    let log_stds = match manifest.head.spread() {
        Some(Spread::Fixed) => actions,
        Some(Spread::OfState) | None => 0,
    };
    let log_std = arena.take(log_stds)?;
    // Minus infinity stands for no noise.
    Problem::Number.unless(log_std.iter().all(|log| exp(*log).is_finite()))?;
    Ok(ActionMap {
        head: manifest.head,
        squash: manifest.squash,
        log_std,
        scale: arena.take_finite(actions)?,
        offset: arena.take_finite(actions)?,
    })
}
