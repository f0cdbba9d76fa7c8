//! From the outputs of a graph to a policy: the head, then layer after layer back to
//! the observation.

use super::chain::Chain;
use super::complaint::{Complaint, shown};
use super::head::HeadParts;
use super::network::Network;
use super::options::OnnxOptions;
use super::value::Outputs;
use crate::policy::host_policy::PerceptronPolicy;
use crate::policy::onnx_error::OnnxError;
use crate::task::task_file::TaskFile;

pub(super) fn assemble(
    outputs: Outputs<'_>,
    network: &mut Network,
    options: &OnnxOptions,
    task: &TaskFile,
) -> Result<PerceptronPolicy, OnnxError> {
    let names: Vec<String> = outputs
        .iter()
        .take(8)
        .map(|(name, _)| shown(name))
        .collect();
    let head = HeadParts::new(outputs, network, options, task).map_err(|complaint| {
        let problem = format!("the outputs [{}]: {}", names.join(", "), complaint.problem);
        Complaint::new(problem, complaint.help).of_model()
    })?;
    let chain = Chain::new(head.signal, network)?;
    let mut layers = Vec::new();
    for (index, affine) in chain.layers.iter().rev().enumerate() {
        layers.push(affine.rounded().map_err(|complaint| {
            let problem = format!("layer {index}: {}", complaint.problem);
            Complaint::new(problem, complaint.help).of_model()
        })?);
    }
    Ok(PerceptronPolicy {
        layers,
        activations: chain.activations(),
        observation_mean: chain.mean.iter().map(|x| *x as f32).collect(),
        observation_scale: chain.std.iter().map(|x| *x as f32).collect(),
        actions: head.actions,
    })
}
