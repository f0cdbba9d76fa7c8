//! From a conditioned Gaussian process to the bytes of a model part.

use hambo_core::image::{DynamicsManifest, GaussianProcessManifest, ModelManifest, Part};
use hambo_core::model::Kernel;

use super::encode::{ArenaWriter, EncodeError, Uncertainty, encode_part, limited, small};
use crate::gaussian_process::{GaussianProcessFit, stored_output};

/// A model part.
///
/// # Errors
/// If a size does not fit the format.
pub fn encode_gaussian_process(
    fit: &GaussianProcessFit,
    uncertainty: &Uncertainty,
) -> Result<Vec<u8>, EncodeError> {
    let units = &fit.standardisation;
    let state_dimension = units.output_mean.len();
    let kernels: Vec<Kernel> = fit
        .outputs
        .iter()
        .map(|output| output.hyperparameters.kernel)
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
    arena.put(fit.points.iter().map(|x| *x as f32));
    for output in &fit.outputs {
        let stored = stored_output(output, &fit.points);
        arena.put(stored.numbers.to_tiles().into_iter().flatten());
        arena.put(stored.precision);
        arena.put(stored.weights);
        arena.put(stored.row_sums);
        arena.put(stored.product_errors);
        arena.put(stored.factor);
    }
    encode_part(Part::Model, &manifest, &arena.numbers)
}
