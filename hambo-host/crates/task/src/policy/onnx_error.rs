//! What is wrong with an ONNX file.

use thiserror::Error;

/// An ONNX file that cannot be used: which node or tensor, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OnnxError {
    /// The bytes are not those of a model.
    #[error("{part}: {problem}\nhelp: the file is damaged or no ONNX model; export it again")]
    Damaged {
        /// The message of the format that holds it.
        part: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The model as a whole does not do.
    #[error("{problem}\nhelp: {help}")]
    Model {
        /// What is wrong.
        problem: String,
        /// What to do.
        help: String,
    },
    /// A node cannot be used.
    #[error("node `{node}` ({operator}): {problem}\nhelp: {help}")]
    Node {
        /// Its name, or that of its output.
        node: String,
        /// What it computes, like `Gemm`.
        operator: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        help: String,
    },
    /// Numbers that cannot be used.
    #[error("tensor `{tensor}`: {problem}\nhelp: {help}")]
    Tensor {
        /// Its name.
        tensor: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        help: String,
    },
}
