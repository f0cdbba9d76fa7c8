//! What a model is in memory, for a checksum: its sizes and numbers, and where the numbers lie
//! that it borrows. A field that is not added does not compile.

use super::confidence::ConfidenceSet;
use super::dynamics::{Dynamics, Model, StatisticalModel};
use super::noise::Noise;
use super::standardisation::Standardisation;
use super::support::Support;
use crate::numeric::checksum::Checksum;

impl Model<'_> {
    /// Adds all of it.
    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            dynamics,
            confidence,
            noise,
            support,
        } = self;
        let Dynamics { learned, width } = dynamics;
        sum.value(&learned.kind());
        match learned {
            StatisticalModel::Ensemble(ensemble) => ensemble.add_to(sum),
            StatisticalModel::GaussianProcess(process) => process.add_to(sum),
        }
        width.add_to(sum);
        confidence.add_to(sum);
        noise.add_to(sum);
        support.add_to(sum);
    }
}

impl StatisticalModel<'_> {
    /// Which kind it is.
    fn kind(&self) -> u8 {
        match self {
            Self::Ensemble(_) => 0,
            Self::GaussianProcess(_) => 1,
        }
    }
}

impl ConfidenceSet<'_> {
    fn add_to(&self, sum: &mut Checksum) {
        let Self {
            beta,
            calibration_scale,
            calibration,
            tested_steps,
        } = self;
        sum.value(&(beta, calibration, tested_steps));
        sum.place(*calibration_scale);
    }
}

impl Noise<'_> {
    fn add_to(&self, sum: &mut Checksum) {
        let Self {
            factor,
            extremes,
            offsets,
        } = self;
        factor.add_to(sum);
        extremes.add_to(sum);
        offsets.add_to(sum);
    }
}

impl Support<'_> {
    fn add_to(&self, sum: &mut Checksum) {
        let Self {
            centre,
            scale,
            whitening,
            rows,
            limit,
            gaps,
            exit_rate,
        } = self;
        for numbers in [centre, scale, whitening, rows, gaps] {
            sum.place(*numbers);
        }
        sum.numbers(&[*limit, *exit_rate]);
    }
}

impl Standardisation<'_> {
    pub(super) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            input_mean,
            input_scale,
            output_mean,
            output_scale,
            noise_scale,
        } = self;
        for numbers in [
            input_mean,
            input_scale,
            output_mean,
            output_scale,
            noise_scale,
        ] {
            sum.place(*numbers);
        }
    }
}
