//! From a posterior in f64 to the bytes of a model part, with bounds on what
//! the core's arithmetic loses.
//!
//! Every number that makes the core's standard deviation larger than the exact
//! one is computed here; `model::gaussian_process::posterior` in the core says
//! what each of them covers.

mod coordinates;
mod inverse_factor;
mod linear;
mod nearest_plane;
mod rounding;
mod stationary;

use hambo_core::image::{
    DynamicsManifest, GaussianProcessManifest, GroupedGaussianProcessManifest,
};
use hambo_core::model::Kernel;

use super::error::GaussianProcessError;
use super::posterior::{GaussianProcessFit, OutputFit};
use hambo_task::image::{Uncertainty, encode_model, limited, small};

/// A model part.
///
/// # Errors
/// If a size does not fit the format, or the points cannot be told apart after
/// they were moved to integer coordinates.
pub fn encode_gaussian_process(
    fit: &GaussianProcessFit,
    uncertainty: &Uncertainty,
) -> Result<Vec<u8>, GaussianProcessError> {
    let kernels = fit.outputs.iter().map(|fit| fit.hyperparameters.kernel);
    let kernels: Vec<Kernel> = kernels.collect();
    let process = GaussianProcessManifest {
        points: small("the number of points", fit.rows())?,
        kernels: limited("the number of outputs", &kernels)?,
    };
    let groupings = fit.outputs.iter().map(|output| output.grouping.as_ref());
    let dynamics = if groupings.clone().all(|grouping| grouping.is_none()) {
        DynamicsManifest::GaussianProcess(process)
    } else {
        let groups = groupings.map(|grouping| {
            let groups = grouping.map_or(fit.rows(), |grouping| grouping.sizes.len());
            small("the number of groups", groups)
        });
        let groups: Vec<u16> = groups.collect::<Result<_, _>>()?;
        DynamicsManifest::GroupedGaussianProcess(GroupedGaussianProcessManifest {
            process,
            groups: limited("the number of outputs", &groups)?,
        })
    };
    let mut singular = None;
    let part = encode_model(&fit.standardisation, uncertainty, dynamics, |arena| {
        singular = fit.outputs.iter().position(|output| {
            let put = match output.hyperparameters.kernel {
                Kernel::Linear => linear::put(fit, output, arena),
                Kernel::Rbf | Kernel::Matern32 | Kernel::Matern52 => {
                    stationary::put(fit, output, arena)
                }
            };
            put.is_none()
        });
    })?;
    match singular {
        Some(output) => Err(GaussianProcessError::Singular { output }),
        None => Ok(part),
    }
}

/// Factors between inputs, in physical units, and `units` of x / l.
fn factors(fit: &GaussianProcessFit, output: &OutputFit, units: f64) -> Vec<f32> {
    let lengthscales = output.hyperparameters.lengthscales.iter();
    lengthscales
        .zip(&fit.standardisation.input_scale)
        .map(|(l, scale)| (units / (l * f64::from(*scale))) as f32)
        .collect()
}
