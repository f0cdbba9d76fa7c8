//! The messages of an ONNX file that a controller needs, with the field numbers of
//! `onnx.proto`. `prost` reads and writes them and passes over all other fields.

use prost::Message;

use super::entries;
use crate::policy::onnx_error::OnnxError;

#[derive(Message)]
pub(super) struct Model {
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    #[prost(string, tag = "2")]
    pub producer: String,
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// A model has one; as a list, a second is seen and not merged with the first.
    #[prost(message, repeated, tag = "7")]
    pub graphs: Vec<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub operator_sets: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    pub metadata: Vec<Entry>,
    #[prost(message, optional, tag = "25")]
    pub functions: Option<()>,
}

#[derive(Message)]
pub(super) struct OperatorSet {
    #[prost(string, optional, tag = "1")]
    pub domain: Option<String>,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A key and its value.
#[derive(Clone, Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub nodes: Vec<Node>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "5")]
    pub initialisers: Vec<TensorMessage>,
    #[prost(message, repeated, tag = "11")]
    pub inputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub outputs: Vec<ValueInfo>,
    #[prost(message, optional, tag = "15")]
    pub sparse: Option<()>,
}

#[derive(Message)]
pub(super) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub inputs: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub outputs: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub operator: String,
    #[prost(message, repeated, tag = "5")]
    pub attributes: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub domain: String,
}

#[derive(Clone, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, optional, tag = "2")]
    pub float: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub integer: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub text: Option<Vec<u8>>,
    #[prost(message, optional, tag = "5")]
    pub tensor: Option<TensorMessage>,
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub integers: Vec<i64>,
    /// The kind of its value.
    #[prost(int64, tag = "20")]
    pub kind: i64,
}

/// A tensor as the file stores it: in one of four fields, or in a file of its own.
#[derive(Clone, Message)]
pub(super) struct TensorMessage {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dimensions: Vec<i64>,
    /// The kind of its numbers.
    #[prost(int64, tag = "2")]
    pub kind: i64,
    #[prost(message, optional, tag = "3")]
    pub segment: Option<()>,
    #[prost(float, repeated, tag = "4")]
    pub floats: Vec<f32>,
    /// int32, and all smaller kinds.
    #[prost(int64, repeated, tag = "5")]
    pub small_integers: Vec<i64>,
    #[prost(int64, repeated, tag = "7")]
    pub integers: Vec<i64>,
    #[prost(string, tag = "8")]
    pub name: String,
    /// Little-endian.
    #[prost(bytes = "vec", optional, tag = "9")]
    pub raw: Option<Vec<u8>>,
    #[prost(double, repeated, tag = "10")]
    pub doubles: Vec<f64>,
    /// `location`, `offset`, `length`.
    #[prost(message, repeated, tag = "13")]
    pub external: Vec<Entry>,
    /// 1 for a file of its own.
    #[prost(int64, tag = "14")]
    pub location: i64,
}

/// A graph's input or output.
#[derive(Message)]
pub(super) struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub kind: Option<Type>,
}

#[derive(Message)]
pub(super) struct Type {
    #[prost(message, optional, tag = "1")]
    pub tensor: Option<TensorType>,
}

#[derive(Message)]
pub(super) struct TensorType {
    /// The kind of its numbers.
    #[prost(int64, tag = "1")]
    pub element: i64,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Shape>,
}

#[derive(Message)]
pub(super) struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub dimensions: Vec<Dimension>,
}

/// A length, or the name of one that is not fixed.
#[derive(Message)]
pub(super) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub length: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

impl Model {
    pub fn parse(bytes: &[u8]) -> Result<Self, OnnxError> {
        entries::count(bytes)?;
        Self::decode(bytes).map_err(|error| OnnxError::Damaged {
            part: "model",
            problem: error.to_string(),
        })
    }
}

impl Node {
    /// Its name, or that of its first output.
    pub fn label(&self) -> &str {
        match (self.name.as_str(), self.outputs.first()) {
            ("", Some(output)) => output,
            (name, _) => name,
        }
    }

    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes
            .iter()
            .find(|attribute| attribute.name == name)
    }

    /// An integer attribute, or what the standard says without it.
    pub fn integer(&self, name: &str, default: i64) -> i64 {
        let given = self.attribute(name).and_then(|attribute| attribute.integer);
        given.unwrap_or(default)
    }

    pub fn float(&self, name: &str, default: f32) -> f64 {
        let given = self.attribute(name).and_then(|attribute| attribute.float);
        f64::from(given.unwrap_or(default))
    }
}
