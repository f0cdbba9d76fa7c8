//! What is wrong and what to do, before it is known where.

use crate::policy::onnx_error::OnnxError;

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
