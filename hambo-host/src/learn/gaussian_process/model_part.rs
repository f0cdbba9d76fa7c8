//! From a conditioned Gaussian process to the bytes of a model part.

use hambo_core::image::{DynamicsManifest, GaussianProcessManifest};
use hambo_core::model::{Arithmetic, Kernel};

use super::{GaussianProcessError, GaussianProcessFit, stored_output};
use crate::formats::image::{Uncertainty, encode_model, limited, small};

/// A model part.
///
/// # Errors
/// If a size does not fit the format, or the points cannot be told apart after
/// they were moved to whole coordinates.
pub fn encode_gaussian_process(
    fit: &GaussianProcessFit,
    uncertainty: &Uncertainty,
) -> Result<Vec<u8>, GaussianProcessError> {
    let outputs = 0..fit.outputs.len();
    let outputs = outputs.map(|output| stored_output(fit, output));
    let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
    let kernels = fit.outputs.iter().zip(&outputs);
    let kernels: Vec<(Kernel, Arithmetic)> = kernels
        .map(|(fit, stored)| (fit.hyperparameters.kernel, stored.arithmetic))
        .collect();
    let dynamics = DynamicsManifest::GaussianProcess(GaussianProcessManifest {
        points: small("the number of points", fit.rows())?,
        kernels: limited("the number of outputs", &kernels)?,
    });
    let part = encode_model(&fit.standardisation, uncertainty, dynamics, |arena| {
        for run in outputs.into_iter().flat_map(|output| output.runs) {
            arena.put(run);
        }
    });
    Ok(part?)
}
