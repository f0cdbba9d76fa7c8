//! A policy file that names a network (`kind = "onnx"`) and says what its graph does
//! not: normalisation, scaling, head.

use std::path::Path;

use super::error::PolicyError;
use super::format::{Checker, Raw};
use super::host_policy::HostPolicy;
use super::onnx;
use super::onnx::options::OnnxOptions;
use crate::task::task_file::TaskFile;

impl Checker<'_> {
    /// A network in a file of its own, looked for in `folder`.
    pub(super) fn onnx(
        &self,
        raw: Raw,
        folder: Option<&Path>,
        task: &TaskFile,
    ) -> Result<HostPolicy, PolicyError> {
        let help = "name the model, for example file = \"actor.onnx\"";
        let file = self.present("file", raw.file, help)?;
        let optional = |key: &str, values: Option<Vec<f32>>, what: &str, names: &[String]| {
            let numbers = values.map(|values| self.numbers(key, Some(values), what, names));
            numbers.transpose()
        };
        let state = |key, values| optional(key, values, "state", self.states);
        let action = |key, values| optional(key, values, "action", self.actions);
        let options = OnnxOptions {
            observation_mean: state("observation_mean", raw.observation_mean)?,
            observation_std: state("observation_std", raw.observation_std)?,
            action_scale: action("action_scale", raw.action_scale)?,
            action_offset: action("action_offset", raw.action_offset)?,
            squash: raw.squash.unwrap_or(false),
            chance: raw.head,
        };
        let mut stds = options.observation_std.iter().flatten();
        if let Some(std) = stds.find(|std| **std <= 0.0) {
            return self.fail(
                "observation_std",
                format!("has {std}"),
                "give numbers above 0",
            );
        }
        let path = folder.unwrap_or(Path::new("")).join(file);
        let read = onnx::read(path, task, &options)?;
        Ok(HostPolicy::Perceptron(read.policy))
    }
}
