//! From a conditioned Gaussian process to the bytes of a model part.

use hambo_core::image::{DynamicsManifest, GaussianProcessManifest, ModelManifest, Part};
use hambo_core::model::{Arithmetic, Kernel};

use super::encode::{ArenaWriter, EncodeError, Uncertainty, encode_part, limited, small};
use crate::learn::gaussian_process::{GaussianProcessFit, stored_output};

/// A model part.
///
/// # Errors
/// If a size does not fit the format, or the points cannot be told apart after
/// they were moved to whole coordinates.
pub fn encode_gaussian_process(
    fit: &GaussianProcessFit,
    uncertainty: &Uncertainty,
) -> Result<Vec<u8>, EncodeError> {
    encode_known_to(fit, uncertainty, 0.0)
}

/// Likewise of points and lengthscales that are known to so many units of
/// rounding.
pub(crate) fn encode_known_to(
    fit: &GaussianProcessFit,
    uncertainty: &Uncertainty,
    known_to: f64,
) -> Result<Vec<u8>, EncodeError> {
    let units = &fit.standardisation;
    let state_dimension = units.output_mean.len();
    let outputs = 0..fit.outputs.len();
    let outputs = outputs.map(|output| stored_output(fit, output, known_to));
    let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
    let kernels = fit.outputs.iter().zip(&outputs);
    let kernels: Vec<(Kernel, Arithmetic)> = kernels
        .map(|(fit, stored)| (fit.hyperparameters.kernel, stored.arithmetic))
        .collect();
    let manifest = ModelManifest {
        state_dimension: small("the state", state_dimension)?,
        action_dimension: small("the action", units.input_mean.len() - state_dimension)?,
        beta: uncertainty.beta,
        calibration: uncertainty.calibration,
        dynamics: DynamicsManifest::GaussianProcess(GaussianProcessManifest {
            points: small("the number of points", fit.rows())?,
            kernels: limited("the number of outputs", &kernels)?,
        }),
    };
    let mut arena = ArenaWriter::default();
    arena.put(uncertainty.calibration_scale.iter().copied());
    arena.put(uncertainty.support_low.iter().copied());
    arena.put(uncertainty.support_high.iter().copied());
    arena.put(units.input_mean.iter().copied());
    arena.put(units.input_scale.iter().map(|std| 1.0 / std));
    arena.put(units.output_mean.iter().copied());
    arena.put(units.output_scale.iter().copied());
    for run in outputs.into_iter().flat_map(|output| output.runs) {
        arena.put(run);
    }
    encode_part(Part::Model, &manifest, &arena.numbers)
}
