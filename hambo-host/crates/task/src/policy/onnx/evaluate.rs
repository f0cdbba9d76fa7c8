//! Walks a graph from its one input to its outputs.
//!
//! Only the nodes that the outputs need are looked at, so a critic or a sampler
//! beside the actor does no harm.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::complaint::{Complaint, shown};
use super::message::{Graph, Model, Node, ValueInfo};
use super::network::Network;
use super::operators;
use super::signal::Signal;
use super::tensor::Tensor;
use super::value::{Outputs, Value};
use super::weight_file::WeightFolder;
use crate::policy::onnx_error::OnnxError;

/// The versions of the operators whose meaning is known.
const OPSETS: std::ops::RangeInclusive<i64> = 7..=28;

/// Layers that no perceptron has, by their operators: what they are, and what to do instead.
const REFUSED: [(&[&str], &str, &str); 3] = [
    (
        &["LSTM", "GRU", "RNN", "Loop", "Scan"],
        "it is a recurrent layer, and a file of one step has no memory",
        "train a controller without memory, or write what it remembers as states of [known] in \
         the task",
    ),
    (
        &["Attention", "MultiHeadAttention", "Softmax", "LogSoftmax"],
        "it belongs to an attention layer or a choice among discrete actions, and a perceptron \
         has neither",
        "train linear layers on one vector of states; earlier observations can be states of \
         [known] in the task",
    ),
    (
        &[
            "LayerNormalization",
            "RMSNormalization",
            "GroupNormalization",
            "InstanceNormalization",
        ],
        "it normalises the values of one layer by each other, for which a device image has no \
         layer",
        "train without it, or with BatchNorm, which is folded into its neighbours",
    ),
];

/// Why a layer is refused by its name, if it is.
fn refusal(operator: &str) -> Option<Complaint> {
    let mut all = REFUSED.iter();
    let found = all.find(|(operators, ..)| operators.contains(&operator));
    found.map(|(_, problem, help)| Complaint::new(*problem, *help))
}

pub(super) fn evaluate<'a>(
    model: &'a Model,
    folder: &WeightFolder<'_>,
    network: &mut Network,
    observation: Signal,
) -> Result<Outputs<'a>, OnnxError> {
    let graph = checked_graph(model)?;
    let mut values = HashMap::new();
    let mut weights = HashMap::new();
    for tensor in &graph.initialisers {
        if tensor.name.is_empty() || weights.insert(tensor.name.as_str(), tensor).is_some() {
            let problem = "its name is empty or there twice";
            return Err(Complaint::new(problem, "export the model again").of_tensor(&tensor.name));
        }
    }
    let mut inputs = graph
        .inputs
        .iter()
        .filter(|input| !weights.contains_key(input.name.as_str()));
    let (Some(input), None) = (inputs.next(), inputs.next()) else {
        let names: Vec<String> = graph
            .inputs
            .iter()
            .take(8)
            .map(|i| shown(&i.name))
            .collect();
        let problem = format!("the inputs are [{}], not one observation", names.join(", "));
        let help = "export a network that takes the state as one vector";
        return Err(Complaint::new(problem, help).of_model());
    };
    let observation =
        observed(input, observation).map_err(|complaint| complaint.of_tensor(&input.name))?;
    values.insert(input.name.as_str(), Value::Signal(Rc::new(observation)));

    let needed = needed(graph, &values, &weights)?;
    // Before what stands around it is complained of.
    let nodes = graph.nodes.iter().enumerate();
    let mut nodes = nodes.filter(|(index, _)| needed.nodes.contains(index));
    let refused = nodes.find_map(|(_, node)| Some((node, refusal(&node.operator)?)));
    if let Some((node, complaint)) = refused {
        return Err(complaint.of_node(node.label(), &node.operator));
    }
    for name in &needed.weights {
        if let Some(message) = weights.get(name) {
            let tensor = Tensor::decode(message, folder, &mut network.budget)
                .map_err(|complaint| complaint.of_tensor(name))?;
            values.insert(name, Value::Constant(Rc::new(tensor)));
        }
    }
    for (index, node) in graph.nodes.iter().enumerate() {
        if needed.nodes.contains(&index) {
            run(node, &mut values, folder, network)
                .map_err(|complaint| complaint.of_node(node.label(), &node.operator))?;
        }
    }
    let outputs = graph.outputs.iter();
    let outputs = outputs.filter_map(|output| {
        let name = output.name.as_str();
        Some((name, values.get(name)?.clone()))
    });
    Ok(outputs.collect())
}

fn checked_graph(model: &Model) -> Result<&Graph, OnnxError> {
    let fail = |problem: String, help: &str| Err(Complaint::new(problem, help).of_model());
    let mut opsets = model.operator_sets.iter().filter(|set| {
        let domain = set.domain.as_deref().unwrap_or_default();
        domain.is_empty() || domain == "ai.onnx"
    });
    let version = opsets.next().map(|set| set.version);
    if opsets.next().is_some() {
        let help = "export it again with one version of the operators";
        return fail(
            "the model has two versions of the operators".to_owned(),
            help,
        );
    }
    if !version.is_some_and(|version| OPSETS.contains(&version)) {
        let version = version.map_or("missing".to_owned(), |version| version.to_string());
        let problem = format!("the version of its operators (opset) is {version}");
        return fail(problem, "export the model with opset_version=17");
    }
    if model.functions.is_some() {
        let help = "inline them: onnx.inliner.inline_local_functions";
        return fail("the model defines functions of its own".to_owned(), help);
    }
    let [graph] = model.graphs.as_slice() else {
        let count = if model.graphs.is_empty() {
            "no graph"
        } else {
            "two graphs"
        };
        return fail(format!("the model has {count}"), "export it again");
    };
    if graph.sparse.is_some() {
        let help = "export the model with dense weights";
        return fail("the model has sparse weights".to_owned(), help);
    }
    if graph.outputs.is_empty() {
        return fail("the graph has no output".to_owned(), "export it again");
    }
    Ok(graph)
}

/// The observation with the rank that the graph says.
fn observed(input: &ValueInfo, observation: Signal) -> Result<Signal, Complaint> {
    let tensor = input.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
    let Some(tensor) = tensor.filter(|tensor| matches!(tensor.element, 1 | 11)) else {
        let help = "export a network that takes float32 or float64 observations";
        return Err(Complaint::new("the observation is not of floats", help));
    };
    let dimensions = match &tensor.shape {
        Some(shape) => shape.dimensions.iter().map(|one| one.length).collect(),
        // Without a shape a batch of rows is the custom.
        None => vec![None, None],
    };
    let width = observation.width();
    // Images of one pixel: axes of length 1 follow the states.
    let ones = dimensions.iter().skip(2).rev();
    let trailing = ones.take_while(|length| **length == Some(1)).count();
    let trailing = if width == 1 { 0 } else { trailing };
    let (dimensions, _) = dimensions.split_at(dimensions.len() - trailing);
    let Some((last, leading)) = dimensions.split_last() else {
        let help = "export a network that takes the state as a vector";
        return Err(Complaint::new(
            "the observation is one number without a shape",
            help,
        ));
    };
    if leading.len() > 3 || leading.iter().flatten().any(|length| *length != 1) {
        let problem = "the observation is not one vector, or the batch is fixed above 1";
        let help = "export with a batch of 1 or a dynamic one";
        return Err(Complaint::new(problem, help));
    }
    if last.is_some_and(|last| usize::try_from(last) != Ok(width)) {
        let found = last.unwrap_or_default();
        let problem =
            format!("the network observes {found} numbers, the task names {width} states");
        let help = "choose the task of this controller; its states are in the network's order";
        return Err(Complaint::new(problem, help));
    }
    Ok(Signal {
        leading: leading.len(),
        trailing,
        ..observation
    })
}

/// What the outputs need.
struct Needed<'a> {
    nodes: HashSet<usize>,
    weights: Vec<&'a str>,
}

fn needed<'a, W>(
    graph: &'a Graph,
    inputs: &HashMap<&str, Value>,
    weights: &HashMap<&str, W>,
) -> Result<Needed<'a>, OnnxError> {
    let mut producers = HashMap::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        for output in node.outputs.iter().filter(|output| !output.is_empty()) {
            let output = output.as_str();
            let taken = weights.contains_key(output) || inputs.contains_key(output);
            if producers.insert(output, index).is_some() || taken {
                let problem = format!("`{}` is made twice", shown(output));
                let complaint = Complaint::new(problem, "export the model again");
                return Err(complaint.of_node(node.label(), &node.operator));
            }
        }
    }
    let mut needed = Needed {
        nodes: HashSet::new(),
        weights: Vec::new(),
    };
    let mut seen = HashSet::new();
    // A name, and the node that asks for it.
    let mut open: Vec<(&str, usize)> = Vec::new();
    for output in &graph.outputs {
        open.push((output.name.as_str(), graph.nodes.len()));
    }
    while let Some((name, asking)) = open.pop() {
        if inputs.contains_key(name) {
            continue;
        }
        if weights.contains_key(name) {
            if seen.insert(name) {
                needed.weights.push(name);
            }
            continue;
        }
        let complain = |problem: String, help: &str| {
            let complaint = Complaint::new(problem, help);
            match graph.nodes.get(asking) {
                Some(node) => complaint.of_node(node.label(), &node.operator),
                None => complaint.of_model(),
            }
        };
        let Some(index) = producers.get(name).copied() else {
            let problem = format!("nothing gives `{}`", shown(name));
            return Err(complain(problem, "export the model with its weights"));
        };
        if index >= asking {
            let problem = format!(
                "`{}` comes after it, or the nodes form a circle",
                shown(name)
            );
            return Err(complain(problem, "export a network without loops"));
        }
        if needed.nodes.insert(index)
            && let Some(node) = graph.nodes.get(index)
        {
            let inputs = node.inputs.iter().filter(|input| !input.is_empty());
            open.extend(inputs.map(|input| (input.as_str(), index)));
        }
    }
    Ok(needed)
}

fn run<'a>(
    node: &'a Node,
    values: &mut HashMap<&'a str, Value>,
    folder: &WeightFolder<'_>,
    network: &mut Network,
) -> Result<(), Complaint> {
    let inputs: Vec<Option<Value>> = node
        .inputs
        .iter()
        .map(|name| values.get(name.as_str()).cloned())
        .collect();
    let outputs = operators::apply(node, &inputs, folder, network)?;
    for (name, value) in node.outputs.iter().zip(outputs) {
        if let Value::Constant(tensor) = &value {
            network.budget.keep(tensor.numbers.len())?;
        }
        values.insert(name, value);
    }
    Ok(())
}
