//! A network policy as an ONNX file that any runtime can run.
//!
//! Normalisation and action scaling are nodes of their own, so that the layers are the
//! trained ones and reading the file back gives the same policy. Outputs: `action`, the
//! deterministic one, and with chance `log_std`; the property `hambo.head` says where
//! the chance enters.

use std::path::Path;

use hambo_core::policy::{Head, LOG_STD_HIGH, LOG_STD_LOW, Spread};
use prost::Message;

use super::complaint::Complaint;
use super::message::{
    Attribute, Dimension, Entry, Graph, Model, Node, OperatorSet, Shape, TensorMessage, TensorType,
    Type, ValueInfo,
};
use super::options::{Chance, HEAD_PROPERTY};
use crate::policy::error::PolicyError;
use crate::policy::host_policy::PerceptronPolicy;
use crate::policy::onnx_error::OnnxError;
use hambo_base::files::write_whole;
use hambo_base::network::Activation;

/// The set of operators and the version of the format: what every runtime of the last years
/// reads, and the first of both that knows the GELU.
const VERSIONS: [i64; 2] = [17, 8];
const VERSIONS_WITH_GELU: [i64; 2] = [20, 9];
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
    let mut graph = GraphWriter(Graph {
        name: "policy".to_owned(),
        ..Graph::default()
    });
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
        let transposed = integer_attribute("transB", 1);
        value = graph.node("Gemm", &[&value, &weight, &bias], transposed);
        if index == last {
            break;
        }
        let activation = policy.activations.get(index).copied().unwrap_or_default();
        value = match activation {
            Activation::Relu => graph.node("Relu", &[&value], Vec::new()),
            Activation::Tanh => graph.node("Tanh", &[&value], Vec::new()),
            Activation::Elu => graph.node("Elu", &[&value], Vec::new()),
            Activation::Softplus => graph.node("Softplus", &[&value], Vec::new()),
            Activation::Gelu => graph.node("Gelu", &[&value], Vec::new()),
            Activation::Silu => {
                let sigmoid = graph.node("Sigmoid", &[&value], Vec::new());
                graph.node("Mul", &[&value, &sigmoid], Vec::new())
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
            let mean = format!("value_{}", graph.0.nodes.len());
            let raw = format!("{mean}_second");
            let (inputs, axis) = (
                [value.as_str(), "head_sizes"],
                integer_attribute("axis", -1),
            );
            graph.add("Split", &inputs, &[&mean, &raw], axis);
            graph.tensor("log_std_low", &[], &[LOG_STD_LOW]);
            graph.tensor("log_std_high", &[], &[LOG_STD_HIGH]);
            log_std = Some(graph.node("Clip", &[&raw, "log_std_low", "log_std_high"], Vec::new()));
            value = mean;
        }
    }
    if policy.actions.squash || matches!(policy.actions.head, Head::TanhGaussian(_)) {
        value = graph.node("Tanh", &[&value], Vec::new());
    }
    if policy.actions.scale.iter().any(|x| *x != 1.0) {
        value = graph.with("Mul", &value, "action_scale", &policy.actions.scale);
    }
    if policy.actions.offset.iter().any(|x| *x != 0.0) {
        value = graph.with("Add", &value, "action_offset", &policy.actions.offset);
    }
    graph.rename(&value, "action");
    if let Some(log_std) = &log_std {
        graph.rename(log_std, "log_std");
    }
    let mut graph = graph.0;
    graph.inputs.push(value_info("observation", states));
    graph.outputs.push(value_info("action", actions));
    if log_std.is_some() {
        graph.outputs.push(value_info("log_std", actions));
    }
    let chance = match policy.actions.head {
        Head::Deterministic => Chance::Deterministic,
        Head::Gaussian(_) => Chance::Gaussian,
        Head::TanhGaussian(_) => Chance::TanhGaussian,
    };
    let metadata = metadata.iter().filter(|(key, _)| *key != HEAD_PROPERTY);
    let metadata = [(HEAD_PROPERTY, chance.name())]
        .into_iter()
        .chain(metadata.copied());
    let [operators, ir_version] = if policy.activations.contains(&Activation::Gelu) {
        VERSIONS_WITH_GELU
    } else {
        VERSIONS
    };
    let model = Model {
        ir_version,
        producer: "hambo".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        graphs: vec![graph],
        operator_sets: vec![OperatorSet {
            domain: Some(String::new()),
            version: operators,
        }],
        metadata: metadata
            .map(|(key, value)| Entry {
                key: key.to_owned(),
                value: value.to_owned(),
            })
            .collect(),
        functions: None,
    };
    Ok(model.encode_to_vec())
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

/// A graph to which nodes and tensors are added.
struct GraphWriter(Graph);

impl GraphWriter {
    fn tensor(&mut self, name: &str, shape: &[usize], numbers: &[f32]) {
        let raw = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.raw(name, shape, FLOAT, raw);
    }

    fn integers(&mut self, name: &str, numbers: &[i64]) {
        let raw = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.raw(name, &[numbers.len()], INT64, raw);
    }

    fn raw(&mut self, name: &str, shape: &[usize], kind: i64, raw: Vec<u8>) {
        self.0.initialisers.push(TensorMessage {
            dimensions: shape.iter().map(|length| *length as i64).collect(),
            kind,
            name: name.to_owned(),
            raw: Some(raw),
            ..TensorMessage::default()
        });
    }

    fn add(
        &mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: Vec<Attribute>,
    ) {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        self.0.nodes.push(Node {
            inputs: owned(inputs),
            outputs: owned(outputs),
            name: format!("{operator}_{}", self.0.nodes.len()),
            operator: operator.to_owned(),
            attributes,
            domain: String::new(),
        });
    }

    /// Adds a node; returns the name of its output.
    fn node(&mut self, operator: &str, inputs: &[&str], attributes: Vec<Attribute>) -> String {
        let output = format!("value_{}", self.0.nodes.len());
        self.add(operator, inputs, &[&output], attributes);
        output
    }

    /// Adds an operation with a row of numbers.
    fn with(&mut self, operator: &str, value: &str, name: &str, numbers: &[f32]) -> String {
        self.tensor(name, &[numbers.len()], numbers);
        self.node(operator, &[value, name], Vec::new())
    }

    /// Gives a value the name of an output.
    fn rename(&mut self, value: &str, name: &str) {
        self.add("Identity", &[value], &[name], Vec::new());
    }
}

fn integer_attribute(name: &str, value: i64) -> Vec<Attribute> {
    const INT: i64 = 2;
    vec![Attribute {
        name: name.to_owned(),
        integer: Some(value),
        kind: INT,
        ..Attribute::default()
    }]
}

/// A batch of rows of floats.
fn value_info(name: &str, width: usize) -> ValueInfo {
    let batch = Dimension {
        length: None,
        name: Some("batch".to_owned()),
    };
    let length = Dimension {
        length: Some(width as i64),
        name: None,
    };
    let tensor = TensorType {
        element: FLOAT,
        shape: Some(Shape {
            dimensions: vec![batch, length],
        }),
    };
    ValueInfo {
        name: name.to_owned(),
        kind: Some(Type {
            tensor: Some(tensor),
        }),
    }
}
