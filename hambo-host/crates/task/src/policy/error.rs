//! What is wrong with a policy file.

use std::io;

use thiserror::Error;

use super::onnx_error::OnnxError;
use hambo_base::error::Explained;
use hambo_base::files::short_lines;

/// A policy file that cannot be used: which file, which key, what to do.
#[derive(Debug, Error)]
pub enum PolicyError {
    /// The file cannot be read.
    #[error(
        "cannot read the policy file {origin}: {source}\nhelp: check the path and its permissions"
    )]
    Read {
        /// The file.
        origin: String,
        /// Why.
        source: io::Error,
    },
    /// The file is not TOML, or has a key that is unknown or of the wrong type.
    #[error("{origin}: {}\nhelp: correct this line", short_lines(problem.to_string().trim_end()))]
    Syntax {
        /// The file.
        origin: String,
        /// What the TOML reader says, with the line.
        problem: Box<toml::de::Error>,
    },
    /// An ONNX file is damaged or not a perceptron for the task.
    #[error("{origin}: {problem}")]
    Onnx {
        /// The file.
        origin: String,
        /// What is wrong with it.
        problem: Box<OnnxError>,
    },
    /// Another program's file, of which a controller must be made first.
    #[error("{origin}: {problem}\nhelp: {help}")]
    Foreign {
        /// The file.
        origin: String,
        /// What it is.
        problem: &'static str,
        /// What to do.
        help: String,
    },
    /// A policy file cannot be written; the message names it.
    #[error("cannot write the policy: {source}\nhelp: check the path and its permissions")]
    Write {
        /// Why.
        source: io::Error,
    },
    /// A key is missing or has a bad value.
    #[error("{origin}: `{key}` {problem}\nhelp: {help}")]
    Key {
        /// The file.
        origin: String,
        /// The key, like `legs[0].target`.
        key: String,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        help: String,
    },
}

impl Explained for PolicyError {}
