//! From a trained ensemble to the bytes of a model part.

use hambo_core::image::{DynamicsManifest, EnsembleManifest};

use super::trained::TrainedEnsemble;
use hambo_task::image::{EncodeError, Uncertainty, encode_model, limited, small};

/// A model part.
///
/// # Errors
/// If a size does not fit the format.
pub fn encode_ensemble(
    ensemble: &TrainedEnsemble,
    uncertainty: &Uncertainty,
) -> Result<Vec<u8>, EncodeError> {
    let hidden = ensemble.widths.iter().skip(1);
    let hidden = hidden.take(ensemble.widths.len().saturating_sub(2));
    let hidden: Vec<u16> = hidden
        .map(|w| small("a layer", *w))
        .collect::<Result<_, _>>()?;
    let prior = ensemble
        .priors
        .first()
        .and_then(|prior| prior.layers.first());
    let prior_units = prior.map_or(0, |layer| layer.outputs);
    let dynamics = DynamicsManifest::Ensemble(EnsembleManifest {
        members: small("the ensemble", ensemble.members.len())?,
        hidden: limited("the number of hidden layers", &hidden)?,
        activation: ensemble.activation,
        std_floor: ensemble.std_floor,
        std_cap: ensemble.std_cap,
        prior_units: small("a prior", prior_units)?,
    });
    encode_model(&ensemble.standardisation, uncertainty, dynamics, |arena| {
        let networks = ensemble.members.iter().chain(&ensemble.priors);
        for layer in networks.flat_map(|member| &member.layers) {
            arena.put_layer(layer);
        }
    })
}
