//! Random policies of every kind, and their actions in f64.

use hambo_base::network::Layer;
use hambo_core::numeric::network::Activation;
use hambo_core::policy::{Head, LOG_STD_HIGH, LOG_STD_LOW, Leg, Spread, Waypoints};
use hambo_core::task::expression::{Op, Variable};
use hambo_task::policy::{
    ActionMap, HostPolicy, LinearPolicy, ObservedPolicy, Observer, PerceptronPolicy,
};

use crate::fixture::Draw;
use crate::reference::activate;

pub const HEADS: [Head; 5] = [
    Head::Deterministic,
    Head::Gaussian(Spread::Fixed),
    Head::Gaussian(Spread::OfState),
    Head::TanhGaussian(Spread::Fixed),
    Head::TanhGaussian(Spread::OfState),
];

/// This number of seeds in a row of [`random`] gives every kind, head, activation and
/// squashing.
pub const KINDS: u64 = 11 * 6;

/// A random policy. Of three seeds in a row one gives a network an activation for each layer,
/// and one lets a controller see functions of the state. Waypoints need as many actions as states, three at most;
/// where that is not so, a constant takes their place.
#[must_use]
pub fn random(seed: u64, states: usize, actions: usize) -> HostPolicy {
    let draw = &mut Draw::new(seed ^ 0x4F42_5356);
    match seed % 3 {
        1 => {
            let mut policy = plain(seed, states, actions);
            if let HostPolicy::Perceptron(policy) = &mut policy {
                for activation in &mut policy.activations {
                    *activation = MIXED[draw.below(MIXED.len())];
                }
            }
            policy
        }
        2 => {
            let (ops, slots) = observations(draw, states);
            let observer = match plain(seed, slots.len(), actions) {
                HostPolicy::Linear(policy) => Observer::Linear(policy),
                HostPolicy::Perceptron(policy) => Observer::Perceptron(policy),
                _ => return plain(seed, states, actions),
            };
            HostPolicy::Observed(ObservedPolicy {
                states,
                ops,
                slots,
                observer,
            })
        }
        _ => plain(seed, states, actions),
    }
}

const ACTIVATIONS: [Activation; 3] = [Activation::Relu, Activation::Tanh, Activation::Silu];

/// What a network with an activation for each layer has.
const MIXED: [Activation; 6] = [
    Activation::Relu,
    Activation::Tanh,
    Activation::Silu,
    Activation::Elu,
    Activation::Softplus,
    Activation::Gelu,
];

/// Some states, their sines and cosines, and a product.
fn observations(draw: &mut Draw, states: usize) -> (Vec<Op>, Vec<u16>) {
    let mut ops = Vec::new();
    let mut slots = Vec::new();
    for _ in 0..1 + draw.below(4) {
        let slot = ops.len() as u16;
        ops.push(Op::Variable(Variable::State(draw.below(states) as u16)));
        match draw.below(4) {
            0 => ops.push(Op::Cosine(slot)),
            1 => ops.push(Op::Sine(slot)),
            2 => ops.push(Op::Multiply(slot, slot / 2)),
            _ => {}
        }
        slots.push(ops.len() as u16 - 1);
    }
    (ops, slots)
}

/// The observations in f64.
fn seen(policy: &ObservedPolicy, state: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = Vec::new();
    for op in &policy.ops {
        let at = |slot: u16| values[usize::from(slot)];
        values.push(match *op {
            Op::Variable(Variable::State(index)) => state[usize::from(index)],
            Op::Cosine(slot) => at(slot).cos(),
            Op::Sine(slot) => at(slot).sin(),
            Op::Multiply(one, other) => at(one) * at(other),
            _ => f64::NAN,
        });
    }
    let slots = policy.slots.iter();
    slots.map(|slot| values[usize::from(*slot)]).collect()
}

fn plain(seed: u64, states: usize, actions: usize) -> HostPolicy {
    let draw = &mut Draw::new(seed ^ 0x0050_4F4C);
    let activation = ACTIVATIONS[(seed / 11 % 3) as usize];
    let squash = seed / 33 % 2 == 1;
    let kind = (seed % 11) as usize;
    if kind < 10 {
        let actions = action_map(draw, HEADS[kind % 5], squash, actions);
        let outputs = match actions.head.spread() {
            Some(Spread::OfState) => 2 * actions.scale.len(),
            _ => actions.scale.len(),
        };
        if kind < 5 {
            let layer = layer(draw, states, outputs);
            return HostPolicy::Linear(LinearPolicy { layer, actions });
        }
        return perceptron(draw, activation, states, outputs, actions);
    }
    match waypoints(draw, states) {
        Some(policy) if states == actions => HostPolicy::Waypoints(policy),
        _ => HostPolicy::Linear(LinearPolicy {
            layer: Layer {
                weights: vec![0.0; states * actions],
                ..layer(draw, states, actions)
            },
            actions: ActionMap::plain(actions),
        }),
    }
}

fn many(count: usize, f: impl FnMut() -> f32) -> Vec<f32> {
    std::iter::repeat_with(f).take(count).collect()
}

fn layer(draw: &mut Draw, inputs: usize, outputs: usize) -> Layer {
    Layer {
        inputs,
        outputs,
        weights: many(inputs * outputs, || draw.normal() / (inputs as f32).sqrt()),
        bias: many(outputs, || 0.3 * draw.normal()),
    }
}

fn action_map(draw: &mut Draw, head: Head, squash: bool, actions: usize) -> ActionMap {
    let fixed = head.spread() == Some(Spread::Fixed);
    ActionMap {
        head,
        squash,
        log_std: many(if fixed { actions } else { 0 }, || draw.between(-3.0, 0.5)),
        scale: many(actions, || draw.between(0.3, 2.0)),
        offset: many(actions, || 0.3 * draw.normal()),
    }
}

fn perceptron(
    draw: &mut Draw,
    activation: Activation,
    states: usize,
    outputs: usize,
    actions: ActionMap,
) -> HostPolicy {
    let mut layers = Vec::new();
    let mut before = states;
    for _ in 0..draw.below(4) {
        let width = 3 + draw.below(10);
        layers.push(layer(draw, before, width));
        before = width;
    }
    layers.push(layer(draw, before, outputs));
    HostPolicy::Perceptron(PerceptronPolicy {
        activations: vec![activation; layers.len() - 1],
        layers,
        observation_mean: many(states, || 0.3 * draw.normal()),
        observation_scale: many(states, || draw.between(0.5, 2.0)),
        actions,
    })
}

fn waypoints(draw: &mut Draw, space: usize) -> Option<Waypoints> {
    let legs: [Leg; 2] = std::array::from_fn(|_| {
        let mut target = [0.0; 3];
        for x in target.iter_mut().take(space) {
            *x = draw.normal();
        }
        Leg {
            target,
            axis: draw.below(space.max(1)) as u8,
            below: draw.between(-0.5, 0.5),
        }
    });
    Waypoints::new(u8::try_from(space).ok()?, draw.between(0.1, 0.6), &legs).ok()
}

/// The action in f64, before the task's limits. `None` for waypoints, which
/// [`crate::reference::waypoint_action`] knows.
#[must_use]
pub fn action(policy: &HostPolicy, state: &[f64], noise: &[f64]) -> Option<Vec<f64>> {
    match policy {
        HostPolicy::Waypoints(_) => None,
        HostPolicy::Linear(policy) => Some(linear_action(policy, state, noise)),
        HostPolicy::Perceptron(policy) => Some(network_action(policy, state, noise)),
        HostPolicy::Observed(policy) => {
            let seen = seen(policy, state);
            Some(match &policy.observer {
                Observer::Linear(policy) => linear_action(policy, &seen, noise),
                Observer::Perceptron(policy) => network_action(policy, &seen, noise),
            })
        }
    }
}

fn linear_action(policy: &LinearPolicy, state: &[f64], noise: &[f64]) -> Vec<f64> {
    mapped(&policy.actions, &dense(&policy.layer, state), noise)
}

fn network_action(policy: &PerceptronPolicy, state: &[f64], noise: &[f64]) -> Vec<f64> {
    let units = policy
        .observation_mean
        .iter()
        .zip(&policy.observation_scale);
    let mut values: Vec<f64> = state
        .iter()
        .zip(units)
        .map(|(x, (mean, scale))| (x - f64::from(*mean)) / f64::from(*scale))
        .collect();
    for (index, layer) in policy.layers.iter().enumerate() {
        values = dense(layer, &values);
        if index + 1 < policy.layers.len() {
            for x in &mut values {
                *x = activate(policy.activations[index], *x);
            }
        }
    }
    mapped(&policy.actions, &values, noise)
}

fn dense(layer: &Layer, input: &[f64]) -> Vec<f64> {
    layer
        .weights
        .chunks(layer.inputs)
        .zip(&layer.bias)
        .map(|(row, bias)| {
            let products = row.iter().zip(input).map(|(w, x)| f64::from(*w) * x);
            products.sum::<f64>() + f64::from(*bias)
        })
        .collect()
}

fn mapped(actions: &ActionMap, outputs: &[f64], noise: &[f64]) -> Vec<f64> {
    let count = actions.scale.len();
    (0..count)
        .map(|j| {
            let mean = if actions.squash {
                outputs[j].tanh()
            } else {
                outputs[j]
            };
            let std = || match actions.head.spread() {
                Some(Spread::OfState) => outputs[count + j]
                    .clamp(f64::from(LOG_STD_LOW), f64::from(LOG_STD_HIGH))
                    .exp(),
                _ => f64::from(actions.log_std[j]).exp(),
            };
            let value = match actions.head {
                Head::Deterministic => mean,
                Head::Gaussian(_) => mean + std() * noise[j],
                Head::TanhGaussian(_) => (mean + std() * noise[j]).tanh(),
            };
            f64::from(actions.scale[j]) * value + f64::from(actions.offset[j])
        })
        .collect()
}
