//! ONNX controllers: what onnxruntime says, what we write, what we refuse.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod convolutions;
mod fixtures;
mod hostile;
mod operators;
mod weight_files;
mod write;

use std::path::PathBuf;

use hambo_core::numeric::Slices;
use hambo_core::policy::Policy;
use hambo_core::policy::PolicyInputs;

use super::wire::Message;
use crate::image::{AlignedBytes, decode_policy, encode_policy};
use crate::policy::{HostPolicy, PerceptronPolicy};
use crate::task::TaskFile;

fn fixture(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    folder.join("tests/data/onnx").join(name)
}

/// A task with so many states and actions, each action within ± `limit`.
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
#[derive(Default)]
struct Builder {
    nodes: Vec<Message>,
    tensors: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    notes: Vec<Message>,
    opset: i64,
}

impl Builder {
    /// A graph from `x` with this many numbers to `y`.
    fn new(states: i64) -> Self {
        Self {
            inputs: vec![value("x", &[1, states])],
            outputs: vec![value("y", &[])],
            opset: 17,
            ..Self::default()
        }
    }

    fn node(self, operator: &str, inputs: &[&str], output: &str) -> Self {
        self.node_with(operator, inputs, &[output], [])
    }

    fn node_with<const A: usize>(
        mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: [Message; A],
    ) -> Self {
        let name = format!("{operator}{}", self.nodes.len());
        let message = inputs
            .iter()
            .fold(Message::default(), |m, input| m.bytes(1, input));
        let message = outputs.iter().fold(message, |m, output| m.bytes(2, output));
        let message = message
            .bytes(3, name)
            .bytes(4, operator)
            .messages(5, attributes);
        self.nodes.push(message);
        self
    }

    fn floats(mut self, name: &str, shape: &[i64], numbers: &[f32]) -> Self {
        self.tensors.push(floats(name, shape, numbers));
        self
    }

    fn integers(mut self, name: &str, numbers: &[i64]) -> Self {
        self.tensors.push(integers(name, numbers));
        self
    }

    fn tensor(mut self, message: Message) -> Self {
        self.tensors.push(message);
        self
    }

    fn finish(self) -> Vec<u8> {
        let graph = Message::default()
            .messages(1, self.nodes)
            .messages(5, self.tensors)
            .messages(11, self.inputs)
            .messages(12, self.outputs);
        Message::default()
            .integer(1, 8)
            .message(7, graph)
            .message(8, Message::default().integer(2, self.opset))
            .messages(14, self.notes)
            .finish()
    }
}

fn shaped(shape: &[i64]) -> Message {
    shape.iter().fold(Message::default(), |message, length| {
        message.integer(1, *length)
    })
}

/// A tensor with its numbers in the typed field, packed.
fn floats(name: &str, shape: &[i64], numbers: &[f32]) -> Message {
    let packed: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    shaped(shape).integer(2, 1).bytes(4, packed).bytes(8, name)
}

fn integers(name: &str, numbers: &[i64]) -> Message {
    let message = shaped(&[numbers.len() as i64]).integer(2, 7).bytes(8, name);
    numbers
        .iter()
        .fold(message, |message, x| message.integer(7, *x))
}

fn integer(name: &str, value: i64) -> Message {
    Message::default().bytes(1, name).integer(3, value)
}

fn float(name: &str, value: f32) -> Message {
    Message::default().bytes(1, name).float(2, value)
}

/// An input or output of floats; 0 stands for a dimension that is not fixed.
fn value(name: &str, shape: &[i64]) -> Message {
    let dimensions = shape.iter().map(|length| match length {
        0 => Message::default().bytes(2, "batch"),
        length => Message::default().integer(1, *length),
    });
    let shape = Message::default().messages(1, dimensions);
    let tensor = Message::default().integer(1, 1).message(2, shape);
    Message::default()
        .bytes(1, name)
        .message(2, Message::default().message(1, tensor))
}
