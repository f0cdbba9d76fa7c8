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
use super::model_part::{all, positive};
use crate::arithmetic::dense::Dense;
use crate::arithmetic::elementary::exp;
use crate::network::{Activation, MAX_HIDDEN_LAYERS, NetworkShape, Perceptrons};
use crate::policy::{ActionMap, Head, Linear, Perceptron, Spread, StoredPolicy, Waypoints};

/// The manifest of a policy part. New kinds come last: the order is the
/// format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PolicyManifest {
    /// Straight lines from place to place.
    Waypoints(Waypoints),
    /// Linear state feedback.
    Linear(LinearManifest),
    /// A network.
    Perceptron(PerceptronManifest),
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
/// ```
/// use hambo_core::image::container::{Container, header};
/// use hambo_core::image::{Part, PolicyManifest, parse_policy};
/// use hambo_core::policy::{Leg, Policy, Waypoints};
/// let leg = Leg { target: [2.0, 0.0, 0.0], axis: 0, below: f32::MAX };
/// let manifest = PolicyManifest::Waypoints(Waypoints::new(2, 0.5, &[leg]).map_err(|_| "bad policy")?);
/// let mut blocks = [0_u128; 6];
/// let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut blocks);
/// let length = postcard::to_slice(&manifest, &mut bytes[64..]).map_err(|_| "too long")?.len();
/// let header = header(Part::Policy, length, &bytes[64..]).ok_or("bad lengths")?;
/// bytes[..64].copy_from_slice(&header);
/// let part = Container::take(&mut &bytes[..], Part::Policy).map_err(|_| "damaged")?;
/// let policy = parse_policy(&part).map_err(|_| "refused")?;
/// assert_eq!(policy.action_dimension(), 2);
/// # Ok::<(), &str>(())
/// ```
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
    };
    arena.finish()?;
    Ok(policy)
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
    let states = usize::from(manifest.state_dimension);
    let mean = arena.take_finite(states)?;
    let scale = all(arena.take_finite(states)?, positive)?;
    let outputs = actions.outputs()?;
    let shape = NetworkShape::new(states, &manifest.hidden, outputs, manifest.activation)?;
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
    if log_std.iter().any(|log| !exp(*log).is_finite()) {
        return Err(Problem::Number);
    }
    Ok(ActionMap {
        head: manifest.head,
        squash: manifest.squash,
        log_std,
        scale: arena.take_finite(actions)?,
        offset: arena.take_finite(actions)?,
    })
}
