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
use crate::arithmetic::dense::Dense;
use crate::arithmetic::elementary::exp;
use crate::network::{Activation, MAX_HIDDEN_LAYERS, NetworkShape};
use crate::policy::{
    ActionMap, Head, Linear, Observation, Perceptron, Spread, StoredPolicy, Waypoints,
};

/// The manifest of a policy part. New kinds come last: the order is the
/// format.
///
/// ```
/// use hambo_core::image::PolicyManifest;
/// use hambo_core::policy::{Leg, Waypoints};
/// let leg = Leg { target: [2.0, 0.0, 0.0], axis: 0, below: f32::MAX };
/// let policy = Waypoints::new(2, 0.5, &[leg]).ok_or("bad policy")?;
/// let manifest = PolicyManifest::Waypoints(policy);
/// let mut buffer = [0; 64];
/// let bytes = postcard::to_slice(&manifest, &mut buffer).map_err(|_| "too long")?;
/// assert_eq!(postcard::from_bytes(bytes), Ok(manifest));
/// # Ok::<(), &str>(())
/// ```
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
///
/// ```
/// use hambo_core::image::{ActionManifest, LinearManifest};
/// use hambo_core::policy::Head;
/// let actions = ActionManifest {
///     action_dimension: 1,
///     head: Head::Deterministic,
///     squash: false,
/// };
/// let manifest = LinearManifest { state_dimension: 2, actions };
/// let mut buffer = [0; 256];
/// let bytes = postcard::to_slice(&manifest, &mut buffer).map_err(|_| "too long")?;
/// assert_eq!(postcard::from_bytes(bytes), Ok(manifest));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinearManifest {
    /// ds.
    pub state_dimension: u16,
    /// What follows the linear map.
    pub actions: ActionManifest,
}

/// The sizes of a network policy.
///
/// ```
/// use hambo_core::image::{ActionManifest, PerceptronManifest};
/// use hambo_core::network::Activation;
/// use hambo_core::policy::Head;
/// let actions = ActionManifest {
///     action_dimension: 1,
///     head: Head::Deterministic,
///     squash: false,
/// };
/// let manifest = PerceptronManifest {
///     state_dimension: 2,
///     hidden: [64, 64].into_iter().collect(),
///     activation: Activation::Tanh,
///     actions,
/// };
/// let mut buffer = [0; 256];
/// let bytes = postcard::to_slice(&manifest, &mut buffer).map_err(|_| "too long")?;
/// assert_eq!(postcard::from_bytes(bytes), Ok(manifest));
/// # Ok::<(), &str>(())
/// ```
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
///
/// ```
/// use hambo_core::image::ActionManifest;
/// use hambo_core::policy::{Head, Spread};
/// // As SAC leaves it: a network gives mean and log-std of a squashed normal.
/// let actions = ActionManifest {
///     action_dimension: 3,
///     head: Head::TanhGaussian(Spread::OfState),
///     squash: false,
/// };
/// assert_eq!(actions.head.spread(), Some(Spread::OfState));
/// ```
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
/// let manifest = PolicyManifest::Waypoints(Waypoints::new(2, 0.5, &[leg]).ok_or("bad policy")?);
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
            if !policy.is_valid() {
                return Err(Problem::Number);
            }
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
    let outputs = actions.outputs().ok_or(Problem::Dimension)?;
    let tiles = Dense::tiles(states, outputs).ok_or(Problem::Dimension)?;
    let tiles = arena.take_finite_tiles(tiles)?;
    Linear::new(tiles, states, actions).ok_or(Problem::Dimension)
}

fn parse_perceptron<'a>(
    manifest: &PerceptronManifest,
    arena: &mut ArenaReader<'a>,
) -> Result<Perceptron<'a>, Problem> {
    let actions = parse_actions(&manifest.actions, arena)?;
    let states = usize::from(manifest.state_dimension);
    let observation = Observation {
        mean: arena.take_finite(states)?,
        scale: arena.take_finite(states)?,
    };
    if observation.scale.iter().any(|scale| *scale <= 0.0) {
        return Err(Problem::Number);
    }
    let outputs = actions.outputs().ok_or(Problem::Dimension)?;
    let network = NetworkShape::new(states, &manifest.hidden, outputs, manifest.activation)
        .ok_or(Problem::Dimension)?;
    let tiles = arena.take_finite_tiles(network.tiles())?;
    Perceptron::new(network, tiles, observation, actions).ok_or(Problem::Dimension)
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
