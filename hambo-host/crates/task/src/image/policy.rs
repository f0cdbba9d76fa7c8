//! Policies of every kind to the bytes of a policy part, and back.

use hambo_core::image::container::Container;
use hambo_core::image::{
    ActionManifest, ImageError, LinearManifest, MixedManifest, ObservedManifest, ObserverManifest,
    Part, PerceptronManifest, PolicyManifest, Problem, parse_policy,
};
use hambo_core::policy::{Spread, StoredPolicy};

use super::aligned::AlignedBytes;
use super::part::{ArenaWriter, EncodeError, encode_part, limited, small};
use crate::policy::host_policy::{ActionMap, HostPolicy, LinearPolicy, PerceptronPolicy};
use crate::policy::host_policy::{ObservedPolicy, Observer};
use hambo_base::network::{Activation, Layer};

/// A policy part.
///
/// ```
/// use hambo_core::policy::Policy;
/// use hambo_task::image::{AlignedBytes, decode_policy, encode_policy};
/// use hambo_task::policy::{ActionMap, HostPolicy, LinearPolicy};
/// use hambo_base::network::Layer;
///
/// let policy = HostPolicy::Linear(LinearPolicy {
///     layer: Layer { inputs: 2, outputs: 1, weights: vec![-2.0, -0.5], bias: vec![0.0] },
///     actions: ActionMap::plain(1),
/// });
/// let bytes = AlignedBytes::new(&encode_policy(&policy)?);
/// let stored = decode_policy(bytes.as_bytes()).map_err(|error| format!("{error:?}"))?;
/// assert_eq!((stored.state_dimension(), stored.action_dimension()), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If sizes do not fit together or the format, or a number is out of range.
pub fn encode_policy(policy: &HostPolicy) -> Result<Vec<u8>, EncodeError> {
    let mut arena = ArenaWriter::default();
    let manifest = match policy {
        HostPolicy::Waypoints(policy) => PolicyManifest::Waypoints(policy.clone()),
        HostPolicy::Linear(policy) => PolicyManifest::Linear(linear(policy, &mut arena)?),
        HostPolicy::Perceptron(policy) => match network(policy, &mut arena)? {
            NetworkManifest::Alike(manifest) => PolicyManifest::Perceptron(manifest),
            NetworkManifest::Mixed(manifest) => PolicyManifest::Mixed(manifest),
        },
        HostPolicy::Observed(policy) => PolicyManifest::Observed(observed(policy, &mut arena)?),
    };
    let bytes = encode_part(Part::Policy, &manifest, &arena.numbers)?;
    // The core decides what is in range.
    match decode_policy(AlignedBytes::new(&bytes).as_bytes()) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(EncodeError::Policy(error.problem)),
    }
}

/// The policy of a policy part that fills `bytes`, which are aligned.
///
/// # Errors
/// If any byte is wrong, missing or too many.
pub fn decode_policy(bytes: &[u8]) -> Result<StoredPolicy<'_>, ImageError> {
    let in_policy = |problem| ImageError {
        part: Part::Policy,
        problem,
    };
    let mut rest = bytes;
    let part = Container::take(&mut rest, Part::Policy)?;
    if !rest.is_empty() {
        return Err(in_policy(Problem::TrailingBytes));
    }
    parse_policy(&part).map_err(in_policy)
}

fn observed(
    policy: &ObservedPolicy,
    arena: &mut ArenaWriter,
) -> Result<ObservedManifest, EncodeError> {
    Ok(ObservedManifest {
        state_dimension: small("the state", policy.states)?,
        ops: limited("the tape of observations", &policy.ops)?,
        slots: limited("the number of observations", &policy.slots)?,
        observer: match &policy.observer {
            Observer::Linear(policy) => ObserverManifest::Linear(linear(policy, arena)?),
            Observer::Perceptron(policy) => match network(policy, arena)? {
                NetworkManifest::Alike(manifest) => ObserverManifest::Perceptron(manifest),
                NetworkManifest::Mixed(manifest) => ObserverManifest::Mixed(manifest),
            },
        },
    })
}

fn linear(policy: &LinearPolicy, arena: &mut ArenaWriter) -> Result<LinearManifest, EncodeError> {
    let actions = put_actions(&policy.actions, arena)?;
    put_layers(
        std::slice::from_ref(&policy.layer),
        policy.layer.inputs,
        &policy.actions,
        arena,
    )?;
    Ok(LinearManifest {
        state_dimension: small("the state", policy.layer.inputs)?,
        actions,
    })
}

/// A network of one activation, or of several.
enum NetworkManifest {
    Alike(PerceptronManifest),
    Mixed(MixedManifest),
}

fn network(
    policy: &PerceptronPolicy,
    arena: &mut ArenaWriter,
) -> Result<NetworkManifest, EncodeError> {
    let actions = put_actions(&policy.actions, arena)?;
    let states = policy.observation_mean.len();
    length("observation scale", &policy.observation_scale, states)?;
    arena.put(policy.observation_mean.iter().copied());
    arena.put(policy.observation_scale.iter().map(|std| 1.0 / std));
    put_layers(&policy.layers, states, &policy.actions, arena)?;
    let hidden = policy.layers.len().saturating_sub(1);
    let hidden: Vec<u16> = policy
        .layers
        .iter()
        .take(hidden)
        .map(|layer| small("a layer", layer.outputs))
        .collect::<Result<_, _>>()?;
    agree(
        "number of activations",
        policy.activations.len(),
        hidden.len(),
    )?;
    let state_dimension = small("the state", states)?;
    let what = "the number of hidden layers";
    let first = policy.activations.first().copied().unwrap_or_default();
    if policy.activations.iter().all(|one| *one == first) {
        return Ok(NetworkManifest::Alike(PerceptronManifest {
            state_dimension,
            hidden: limited(what, &hidden)?,
            activation: first,
            actions,
        }));
    }
    let pairs = hidden.into_iter().zip(policy.activations.iter().copied());
    let pairs: Vec<(u16, Activation)> = pairs.collect();
    Ok(NetworkManifest::Mixed(MixedManifest {
        state_dimension,
        hidden: limited(what, &pairs)?,
        actions,
    }))
}

fn put_actions(
    actions: &ActionMap,
    arena: &mut ArenaWriter,
) -> Result<ActionManifest, EncodeError> {
    let count = actions.scale.len();
    let fixed = actions.head.spread() == Some(Spread::Fixed);
    length("log-std", &actions.log_std, if fixed { count } else { 0 })?;
    length("action offset", &actions.offset, count)?;
    arena.put(actions.log_std.iter().copied());
    arena.put(actions.scale.iter().copied());
    arena.put(actions.offset.iter().copied());
    Ok(ActionManifest {
        action_dimension: small("the action", count)?,
        head: actions.head,
        squash: actions.squash,
    })
}

/// Layers that fit each other, the state and the actions.
fn put_layers(
    layers: &[Layer],
    states: usize,
    actions: &ActionMap,
    arena: &mut ArenaWriter,
) -> Result<(), EncodeError> {
    let count = actions.scale.len();
    let outputs = match actions.head.spread() {
        Some(Spread::OfState) => count.saturating_mul(2),
        Some(Spread::Fixed) | None => count,
    };
    let mut before = states;
    for layer in layers {
        agree("layer's input", layer.inputs, before)?;
        if layer.inputs == 0 {
            return Err(EncodeError::Policy(Problem::Dimension));
        }
        let weights = layer.inputs.saturating_mul(layer.outputs);
        length("layer's weights", &layer.weights, weights)?;
        length("layer's bias", &layer.bias, layer.outputs)?;
        arena.put_layer(layer);
        before = layer.outputs;
    }
    agree("last layer's output", before, outputs)
}

fn length(what: &'static str, numbers: &[f32], expected: usize) -> Result<(), EncodeError> {
    agree(what, numbers.len(), expected)
}

fn agree(what: &'static str, found: usize, expected: usize) -> Result<(), EncodeError> {
    if found == expected {
        Ok(())
    } else {
        Err(EncodeError::PolicySize {
            what,
            found,
            expected,
        })
    }
}
