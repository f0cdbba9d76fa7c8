//! ONNX controllers: what onnxruntime says, what we write, what we refuse.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod convolutions;
mod fixtures;
mod hostile;
mod operators;
mod weight_files;
mod write;

use hambo_core::policy::PolicyInputs;
use std::path::PathBuf;

use hambo_core::numeric::Slices;
use hambo_core::policy::Policy;
use prost::Message;

use super::message::{
    Attribute, Dimension, Graph, Model, Node, OperatorSet, Shape, TensorMessage, TensorType, Type,
    ValueInfo,
};
use crate::image::{AlignedBytes, decode_policy, encode_policy};
use crate::policy::host_policy::{HostPolicy, PerceptronPolicy};
use crate::task::task_file::TaskFile;

fn fixture(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    folder.join("../../tests/data/onnx").join(name)
}

/// A task with these numbers of states and actions, each action within ± `limit`.
fn task(states: usize, actions: usize, limit: f32) -> TaskFile {
    let names = |prefix: &str, count: usize| -> Vec<String> {
        (0..count).map(|i| format!("{prefix}{i}")).collect()
    };
    let text = format!(
        "name = 'robot'\nhorizon = 20\n[state]\nnames = {:?}\n[action]\nnames = {:?}\n\
         low = {:?}\nhigh = {:?}\n[reward]\nexpr = '-s0^2'\n[initial]\nkind = 'data'",
        names("s", states),
        names("a", actions),
        vec![-limit; actions],
        vec![limit; actions],
    );
    TaskFile::parse(&text, "task.toml").unwrap()
}

/// The core's action, with this noise on every action.
fn act(policy: &PerceptronPolicy, state: &[f32], noise: f32) -> Vec<f32> {
    let bytes = encode_policy(&HostPolicy::Perceptron(policy.clone())).unwrap();
    let bytes = AlignedBytes::new(&bytes);
    let stored = decode_policy(bytes.as_bytes()).unwrap();
    let state: Vec<[f32; 1]> = state.iter().map(|x| [*x]).collect();
    let count = stored.action_dimension();
    let mut action = vec![[f32::NAN]; count];
    let mut scratch = vec![[0.0]; stored.scratch_rows().unwrap()];
    let (noise, whole) = (vec![[noise]; count], Slices::default());
    let inputs = PolicyInputs {
        noise: &noise,
        ..PolicyInputs::new(&state, &mut scratch, &whole)
    };
    stored.act(inputs, &mut action);
    action.into_iter().flatten().collect()
}

/// A model, built part by part.
struct Builder(Model);

impl Builder {
    /// A graph from `x` with this many numbers to `y`.
    fn new(states: i64) -> Self {
        let graph = Graph {
            inputs: vec![value("x", &[1, states])],
            outputs: vec![value("y", &[])],
            ..Graph::default()
        };
        Self(Model {
            ir_version: 8,
            graphs: vec![graph],
            operator_sets: vec![OperatorSet {
                domain: None,
                version: 17,
            }],
            ..Model::default()
        })
    }

    fn graph(&mut self) -> &mut Graph {
        &mut self.0.graphs[0]
    }

    fn node(self, operator: &str, inputs: &[&str], output: &str) -> Self {
        self.node_with(operator, inputs, &[output], [])
    }

    fn node_with<const A: usize>(
        mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: [Attribute; A],
    ) -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let nodes = &mut self.graph().nodes;
        nodes.push(Node {
            inputs: owned(inputs),
            outputs: owned(outputs),
            name: format!("{operator}{}", nodes.len()),
            operator: operator.to_owned(),
            attributes: attributes.into(),
            domain: String::new(),
        });
        self
    }

    fn floats(self, name: &str, shape: &[i64], numbers: &[f32]) -> Self {
        self.tensor(floats(name, shape, numbers))
    }

    fn integers(self, name: &str, numbers: &[i64]) -> Self {
        self.tensor(TensorMessage {
            integers: numbers.to_vec(),
            ..shaped(name, &[numbers.len() as i64], 7)
        })
    }

    fn tensor(mut self, tensor: TensorMessage) -> Self {
        self.graph().initialisers.push(tensor);
        self
    }

    fn finish(self) -> Vec<u8> {
        self.0.encode_to_vec()
    }
}

fn shaped(name: &str, shape: &[i64], kind: i64) -> TensorMessage {
    TensorMessage {
        name: name.to_owned(),
        dimensions: shape.to_vec(),
        kind,
        ..TensorMessage::default()
    }
}

/// A tensor with its numbers in the typed field.
fn floats(name: &str, shape: &[i64], numbers: &[f32]) -> TensorMessage {
    TensorMessage {
        floats: numbers.to_vec(),
        ..shaped(name, shape, 1)
    }
}

fn named(name: &str) -> Attribute {
    Attribute {
        name: name.to_owned(),
        ..Attribute::default()
    }
}

fn integer(name: &str, value: i64) -> Attribute {
    Attribute {
        integer: Some(value),
        ..named(name)
    }
}

fn float(name: &str, value: f32) -> Attribute {
    Attribute {
        float: Some(value),
        ..named(name)
    }
}

/// An input or output of floats; 0 stands for a dimension that is not fixed.
fn value(name: &str, shape: &[i64]) -> ValueInfo {
    let dimensions = shape.iter().map(|length| Dimension {
        length: (*length != 0).then_some(*length),
        name: (*length == 0).then(|| "batch".to_owned()),
    });
    let tensor = TensorType {
        element: 1,
        shape: Some(Shape {
            dimensions: dimensions.collect(),
        }),
    };
    ValueInfo {
        name: name.to_owned(),
        kind: Some(Type {
            tensor: Some(tensor),
        }),
    }
}
