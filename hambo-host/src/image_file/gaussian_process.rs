//! From a conditioned Gaussian process to the bytes of a model part.

use hambo_core::image::{DynamicsManifest, GaussianProcessManifest, ModelManifest, Part};
use hambo_core::model::{Kernel, whole_to_bits};

use super::encode::{ArenaWriter, EncodeError, Uncertainty, encode_part, limited, small};
use crate::gaussian_process::{GaussianProcessFit, stored_output};

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
    let whole = |numbers: Vec<i32>| {
        let bits = numbers.into_iter().map(whole_to_bits);
        bits.map(f32::from_bits)
    };
    for output in 0..fit.outputs.len() {
        let stored = stored_output(fit, output, known_to)?;
        arena.put(stored.numbers.to_tiles().into_iter().flatten());
        arena.put(stored.factors);
        arena.put(stored.linear_weights);
        arena.put(whole(stored.coordinates));
        arena.put(whole(stored.weights));
        arena.put(stored.row_sums);
        arena.put(stored.product_errors);
        arena.put(stored.factor);
    }
    encode_part(Part::Model, &manifest, &arena.numbers)
}
