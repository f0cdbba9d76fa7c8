//! What an ensemble is in memory, for a checksum.

use super::moments::Ensemble;
use crate::numeric::checksum::Checksum;

impl Ensemble<'_> {
    /// Adds all of it.
    pub(in crate::model) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            features,
            outputs,
            networks,
            priors,
            output_mean,
            output_scale,
            noise_scale,
            std_floor,
            std_cap,
        } = self;
        sum.value(&(features, outputs, std_floor, std_cap, priors.is_some()));
        networks.add_to(sum);
        if let Some(priors) = priors {
            priors.networks().add_to(sum);
        }
        for numbers in [output_mean, output_scale, noise_scale] {
            sum.place(*numbers);
        }
    }
}
