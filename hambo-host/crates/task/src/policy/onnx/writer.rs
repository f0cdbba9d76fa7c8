//! A network policy as an ONNX file that any runtime can run.
//!
//! Normalisation and action scaling are nodes of their own, so that the layers are the
//! trained ones and reading the file back gives the same policy. Outputs: `action`, the
//! deterministic one, and with chance `log_std`; the property `hambo.head` says where
//! the chance enters.

use std::path::Path;

use hambo_core::policy::{Head, LOG_STD_HIGH, LOG_STD_LOW, Spread};

use super::error::Complaint;
use super::wire::Message;
use super::{Chance, HEAD_PROPERTY, OnnxError};
use crate::policy::{PerceptronPolicy, PolicyError};
use hambo_base::files::write_whole;
use hambo_base::network::Activation;

/// What every runtime of the last years reads.
const OPSET: i64 = 17;
const IR_VERSION: i64 = 8;
const FLOAT: i64 = 1;
const INT64: i64 = 7;

/// Writes a policy with notes about it, whole or not at all.
///
/// # Errors
/// If its sizes do not fit together, its head cannot be said in ONNX, or the file
/// cannot be written.
///
/// ```
/// use hambo_task::policy::{ActionMap, Head, PerceptronPolicy, Spread, onnx};
/// use hambo_base::network::{Activation, Layer};
///
/// // As SAC leaves it: mean and log_std of one action, squashed to ±2.
/// let layer = |inputs: usize, outputs: usize| Layer {
///     inputs,
///     outputs,
///     weights: vec![0.1; inputs * outputs],
///     bias: vec![0.0; outputs],
/// };
/// let policy = PerceptronPolicy {
///     layers: vec![layer(3, 8), layer(8, 2)],
///     activations: vec![Activation::Relu],
///     observation_mean: vec![0.0; 3],
///     observation_scale: vec![1.0; 3],
///     actions: ActionMap {
///         head: Head::TanhGaussian(Spread::OfState),
///         scale: vec![2.0],
///         ..ActionMap::plain(1)
///     },
/// };
/// let file = std::env::temp_dir().join("hambo-doc-sac.onnx");
/// onnx::write(&file, &policy, &[("task", "pendulum"), ("seed", "0")])?;
/// # Ok::<(), hambo_task::policy::PolicyError>(())
/// ```
pub fn write(
    path: impl AsRef<Path>,
    policy: &PerceptronPolicy,
    metadata: &[(&str, &str)],
) -> Result<(), PolicyError> {
    let path = path.as_ref();
    let bytes = encode(policy, metadata).map_err(|problem| PolicyError::Onnx {
        origin: path.display().to_string(),
        problem: Box::new(problem),
    })?;
    write_whole(path, &bytes).map_err(|source| PolicyError::Write { source })
}

/// The bytes of the file.
///
/// # Errors
/// As [`write()`], but for the file.
pub fn encode(policy: &PerceptronPolicy, metadata: &[(&str, &str)]) -> Result<Vec<u8>, OnnxError> {
    check(policy).map_err(Complaint::of_model)?;
    let mut graph = GraphWriter::default();
    let (states, actions) = (policy.observation_mean.len(), policy.actions.scale.len());
    let mut value = "observation".to_owned();
    if policy.observation_mean.iter().any(|x| *x != 0.0) {
        value = graph.with("Sub", &value, "observation_mean", &policy.observation_mean);
    }
    if policy.observation_scale.iter().any(|x| *x != 1.0) {
        value = graph.with("Div", &value, "observation_std", &policy.observation_scale);
    }
    let last = policy.layers.len() - 1;
    for (index, layer) in policy.layers.iter().enumerate() {
        let weight = format!("layer_{index}.weight");
        let bias = format!("layer_{index}.bias");
        graph.tensor(&weight, &[layer.outputs, layer.inputs], &layer.weights);
        graph.tensor(&bias, &[layer.outputs], &layer.bias);
        let trans = integer_attribute("transB", 1);
        value = graph.node("Gemm", &[&value, &weight, &bias], [trans]);
        if index == last {
            break;
        }
        let activation = policy.activations.get(index).copied().unwrap_or_default();
        value = match activation {
            Activation::Relu => graph.node("Relu", &[&value], []),
            Activation::Tanh => graph.node("Tanh", &[&value], []),
            Activation::Silu => {
                let sigmoid = graph.node("Sigmoid", &[&value], []);
                graph.node("Mul", &[&value, &sigmoid], [])
            }
        };
    }
    let mut log_std = None;
    match policy.actions.head.spread() {
        None => {}
        Some(Spread::Fixed) => {
            let scales = policy.actions.scale.iter();
            let shifted = policy
                .actions
                .log_std
                .iter()
                .zip(scales)
                .map(|(log_std, scale)| {
                    match policy.actions.head {
                        // The file's log_std is that of the action.
                        Head::Gaussian(_) => log_std + scale.abs().ln(),
                        _ => *log_std,
                    }
                });
            graph.tensor("fixed_log_std", &[1, actions], &shifted.collect::<Vec<_>>());
            log_std = Some("fixed_log_std".to_owned());
        }
        Some(Spread::OfState) => {
            let size = actions as i64;
            graph.integers("head_sizes", &[size, size]);
            let axis = integer_attribute("axis", -1);
            let [mean, raw] = graph.node_of_two("Split", &[&value, "head_sizes"], [axis]);
            graph.tensor("log_std_low", &[], &[LOG_STD_LOW]);
            graph.tensor("log_std_high", &[], &[LOG_STD_HIGH]);
            log_std = Some(graph.node("Clip", &[&raw, "log_std_low", "log_std_high"], []));
            value = mean;
        }
    }
    if policy.actions.squash || matches!(policy.actions.head, Head::TanhGaussian(_)) {
        value = graph.node("Tanh", &[&value], []);
    }
    if policy.actions.scale.iter().any(|x| *x != 1.0) {
        value = graph.with("Mul", &value, "action_scale", &policy.actions.scale);
    }
    if policy.actions.offset.iter().any(|x| *x != 0.0) {
        value = graph.with("Add", &value, "action_offset", &policy.actions.offset);
    }
    graph.rename(&value, "action");
    let mut outputs = vec![value_info("action", actions)];
    if let Some(log_std) = log_std {
        graph.rename(&log_std, "log_std");
        outputs.push(value_info("log_std", actions));
    }

    let chance = match policy.actions.head {
        Head::Deterministic => Chance::Deterministic,
        Head::Gaussian(_) => Chance::Gaussian,
        Head::TanhGaussian(_) => Chance::TanhGaussian,
    };
    let notes = [(HEAD_PROPERTY, chance.name())];
    let notes = notes
        .iter()
        .chain(metadata.iter().filter(|(key, _)| *key != HEAD_PROPERTY));
    let graph = Message::default()
        .messages(1, graph.nodes)
        .bytes(2, "policy")
        .messages(5, graph.tensors)
        .messages(11, [value_info("observation", states)])
        .messages(12, outputs);
    Ok(Message::default()
        .integer(1, IR_VERSION)
        .bytes(2, "hambo")
        .bytes(3, env!("CARGO_PKG_VERSION"))
        .message(7, graph)
        .message(8, Message::default().bytes(1, "").integer(2, OPSET))
        .messages(
            14,
            notes.map(|(key, value)| Message::default().bytes(1, key).bytes(2, value)),
        )
        .finish())
}

fn check(policy: &PerceptronPolicy) -> Result<(), Complaint> {
    let fail = |problem: &str, help: &str| Err(Complaint::new(problem, help));
    let actions = &policy.actions;
    let count = actions.scale.len();
    let (outputs, log_stds) = match actions.head.spread() {
        None => (count, 0),
        Some(Spread::Fixed) => (count, count),
        Some(Spread::OfState) => (count.saturating_mul(2), 0),
    };
    let states = policy.observation_mean.len();
    let mut width = states;
    let mut fits = count > 0
        && states > 0
        && !policy.layers.is_empty()
        && policy.observation_scale.len() == states
        && actions.offset.len() == count
        && actions.log_std.len() == log_stds;
    for layer in &policy.layers {
        fits &= layer.inputs == width
            && layer.outputs > 0
            && layer.bias.len() == layer.outputs
            && Some(layer.weights.len()) == layer.inputs.checked_mul(layer.outputs);
        width = layer.outputs;
    }
    if !fits || width != outputs {
        return fail(
            "the policy's sizes do not fit together",
            "give layers that fit each other",
        );
    }
    let weights = policy
        .layers
        .iter()
        .flat_map(|l| l.weights.iter().chain(&l.bias));
    let scales = actions.scale.iter().chain(&actions.offset);
    let observation = policy
        .observation_mean
        .iter()
        .chain(&policy.observation_scale);
    if weights
        .chain(scales)
        .chain(observation)
        .any(|x| !x.is_finite())
        || policy.observation_scale.iter().any(|x| *x <= 0.0)
    {
        return fail(
            "a number of the policy is not finite, or a scale not above 0",
            "train again",
        );
    }
    let plain = actions.scale.iter().all(|x| *x == 1.0);
    match actions.head {
        Head::Gaussian(Spread::OfState) if !plain => fail(
            "a Gaussian whose spread is of the state cannot be scaled in ONNX",
            "fold the scale into the last layer",
        ),
        Head::TanhGaussian(_) if actions.squash => fail(
            "the mean is squashed twice",
            "choose squash or the tanh of the head",
        ),
        _ => Ok(()),
    }
}

/// The nodes and tensors of a graph as they are added.
#[derive(Default)]
struct GraphWriter {
    nodes: Vec<Message>,
    tensors: Vec<Message>,
}

impl GraphWriter {
    fn tensor(&mut self, name: &str, shape: &[usize], numbers: &[f32]) {
        let shape = shape.iter().map(|length| *length as i64);
        let raw: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let message = shape.fold(Message::default(), |message, x| message.integer(1, x));
        let message = message.integer(2, FLOAT).bytes(8, name).bytes(9, raw);
        self.tensors.push(message);
    }

    fn integers(&mut self, name: &str, numbers: &[i64]) {
        let raw: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let message = Message::default().integer(1, numbers.len() as i64);
        self.tensors
            .push(message.integer(2, INT64).bytes(8, name).bytes(9, raw));
    }

    fn add<const N: usize, const A: usize>(
        &mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[String; N],
        attributes: [Message; A],
    ) {
        let name = format!("{operator}_{}", self.nodes.len());
        let message = Message::default();
        let message = inputs
            .iter()
            .fold(message, |message, input| message.bytes(1, input));
        let message = outputs
            .iter()
            .fold(message, |message, output| message.bytes(2, output));
        let message = message
            .bytes(3, name)
            .bytes(4, operator)
            .messages(5, attributes);
        self.nodes.push(message);
    }

    /// Adds a node; returns the name of its output.
    fn node<const A: usize>(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: [Message; A],
    ) -> String {
        let output = format!("value_{}", self.nodes.len());
        let outputs = [output];
        self.add(operator, inputs, &outputs, attributes);
        let [output] = outputs;
        output
    }

    fn node_of_two<const A: usize>(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: [Message; A],
    ) -> [String; 2] {
        let count = self.nodes.len();
        let outputs = [format!("value_{count}"), format!("value_{count}_second")];
        self.add(operator, inputs, &outputs, attributes);
        outputs
    }

    /// Adds an operation with a row of numbers.
    fn with(&mut self, operator: &str, value: &str, name: &str, numbers: &[f32]) -> String {
        self.tensor(name, &[numbers.len()], numbers);
        self.node(operator, &[value, name], [])
    }

    /// Gives a value the name of an output.
    fn rename(&mut self, value: &str, name: &str) {
        self.add("Identity", &[value], &[name.to_owned()], []);
    }
}

fn integer_attribute(name: &str, value: i64) -> Message {
    const INT: i64 = 2;
    Message::default()
        .bytes(1, name)
        .integer(3, value)
        .integer(20, INT)
}

/// A batch of rows of floats.
fn value_info(name: &str, width: usize) -> Message {
    let batch = Message::default().bytes(2, "batch");
    let length = Message::default().integer(1, width as i64);
    let shape = Message::default().messages(1, [batch, length]);
    let tensor = Message::default().integer(1, FLOAT).message(2, shape);
    Message::default()
        .bytes(1, name)
        .message(2, Message::default().message(1, tensor))
}
