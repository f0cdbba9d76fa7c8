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

/// What is wrong and what to do, before it is known where.
#[derive(Debug)]
pub(super) struct Complaint {
    pub problem: String,
    pub help: String,
}

impl Complaint {
    pub fn new(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            help: help.into(),
        }
    }

    pub fn of_model(self) -> OnnxError {
        let Self { problem, help } = self;
        OnnxError::Model { problem, help }
    }

    pub fn of_tensor(self, name: &str) -> OnnxError {
        let Self { problem, help } = self;
        let tensor = shown(name);
        OnnxError::Tensor {
            tensor,
            problem,
            help,
        }
    }

    pub fn of_node(self, node: &str, operator: &str) -> OnnxError {
        let Self { problem, help } = self;
        let (node, operator) = (shown(node), shown(operator));
        OnnxError::Node {
            node,
            operator,
            problem,
            help,
        }
    }
}

/// A name from the file as an error may print it: one short line.
pub(super) fn shown(name: &str) -> String {
    const LONGEST: usize = 80;
    let mut text: String = name.chars().take(LONGEST).collect();
    if text.len() < name.len() {
        text.push('…');
    }
    text.escape_debug().to_string()
}
