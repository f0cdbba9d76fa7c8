//! The moments of K networks and their derivatives.

use super::priors::Priors;
use crate::model::prediction::{Prediction, PredictionCotangent};
use crate::model::standardisation::Standardisation;
use crate::numeric::dense::TILE;
use crate::numeric::elementary::{minimum, sigmoid, softplus, sqrt};
use crate::numeric::network::{NetworkShape, Perceptrons};
use crate::numeric::vectors::{LaneLoop, Vectors};
use crate::numeric::{ParameterError, Slices};

type Rows<'r, const B: usize> = &'r mut [[f32; B]];

/// An ensemble whose weights are borrowed.
#[derive(Clone, Debug)]
pub struct Ensemble<'a> {
    pub(super) features: usize,
    pub(super) outputs: usize,
    pub(super) networks: Perceptrons<'a>,
    pub(super) priors: Option<Priors<'a>>,
    pub(super) output_mean: &'a [f32],
    pub(super) output_scale: &'a [f32],
    pub(super) noise_scale: &'a [f32],
    pub(super) std_floor: f32,
    pub(super) std_cap: f32,
}

/// Mean and standard deviations over the members, in standardised units, for
/// one dimension and all lanes.
struct Moments<const B: usize> {
    mean: [f32; B],
    epistemic_std: [f32; B],
    aleatoric_std: [f32; B],
}

impl<'a> Ensemble<'a> {
    /// An ensemble of as many members as `tiles` has weights for. The networks
    /// take `features` features of the state and the action, and have two heads for
    /// each output: the means, then the raw standard deviations.
    pub(crate) fn new(
        shape: NetworkShape,
        features: usize,
        (std_floor, std_cap): (f32, f32),
        units: Standardisation<'a>,
        tiles: &'a [[f32; TILE]],
    ) -> Result<Self, ParameterError> {
        let outputs = units.output_mean.len();
        let networks = Perceptrons::new(shape, tiles, units.input_mean, units.input_scale)?;
        let heads = outputs.checked_mul(2);
        ParameterError::size("outputs", heads == Some(networks.outputs()))?;
        for (name, scales) in [
            ("output scale", units.output_scale),
            ("noise scale", units.noise_scale),
        ] {
            ParameterError::size(name, scales.len() == outputs)?;
        }
        ParameterError::size("inputs", networks.inputs() >= features)?;
        Ok(Self {
            features,
            outputs,
            networks,
            priors: None,
            output_mean: units.output_mean,
            output_scale: units.output_scale,
            noise_scale: units.noise_scale,
            std_floor,
            std_cap,
        })
    }

    /// The same with a random network beside each member.
    pub(crate) fn with_priors(self, priors: Priors<'a>) -> Result<Self, ParameterError> {
        priors.check(self.members(), self.outputs)?;
        Ok(Self {
            priors: Some(priors),
            ..self
        })
    }

    /// The inputs that describe the state.
    pub(crate) fn features(&self) -> usize {
        self.features
    }

    pub(crate) fn action_dimension(&self) -> usize {
        self.networks.inputs().saturating_sub(self.features)
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    pub(crate) fn members(&self) -> usize {
        self.networks.count()
    }

    pub(super) fn output_rows(&self) -> usize {
        self.networks.output_rows()
    }

    /// The rows of scratch that [`Self::predict`] needs.
    pub(crate) fn scratch_rows(&self) -> Option<usize> {
        let priors = match &self.priors {
            Some(priors) => priors.scratch_rows()?,
            None => 0,
        };
        self.networks.scratch_rows()?.checked_add(priors)
    }

    /// The rows of the networks, and those of the priors.
    fn scratch_of<'r, const B: usize>(
        &self,
        scratch: &'r mut [[f32; B]],
    ) -> Option<(Rows<'r, B>, Rows<'r, B>)> {
        scratch.split_at_mut_checked(self.networks.scratch_rows()?)
    }

    /// nu_theta of equation (5) for a raw output: a softplus, floored and capped.
    #[inline(always)]
    pub(super) fn member_std(&self, raw: f32) -> f32 {
        minimum(self.std_floor + softplus(raw), self.std_cap)
    }

    /// See [`crate::model::Dynamics::predict`]. `None` if the scratch is too short, or a pause
    /// stopped the work.
    pub(crate) fn predict<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        prediction: &mut Prediction<'_, B>,
        slices: &Slices<'_>,
    ) -> Option<()> {
        let (scratch, prior_scratch) = self.scratch_of(scratch)?;
        let outputs = self.networks.forward(state, action, scratch, slices)?;
        if let Some(priors) = &self.priors {
            let stride = self.networks.output_rows();
            priors.add_to(state, action, prior_scratch, outputs, stride, slices)?;
        }
        Vectors::widest().run(Predicted {
            ensemble: self,
            outputs,
            prediction,
        })
    }

    /// Mean head and raw head of every member for one dimension.
    #[inline(always)]
    pub(super) fn heads<'r, const B: usize>(
        &self,
        outputs: &'r [[f32; B]],
        dimension: usize,
    ) -> impl Iterator<Item = (&'r [f32; B], &'r [f32; B])> + Clone + use<'r, 'a, B> {
        let stride = self.output_rows().max(1);
        let means = outputs.iter().skip(dimension).step_by(stride);
        let raws = outputs
            .iter()
            .skip(dimension.saturating_add(self.outputs))
            .step_by(stride);
        means.zip(raws).take(self.members())
    }

    #[inline(always)]
    fn moments<const B: usize>(
        &self,
        outputs: &[[f32; B]],
        dimension: usize,
    ) -> Option<Moments<B>> {
        let share = 1.0 / self.members() as f32;
        let heads = self.heads(outputs, dimension);
        let mut mean = [0.0; B];
        let mut aleatoric = [0.0; B];
        for (member_mean, raw) in heads.clone() {
            for (sum, h) in mean.iter_mut().zip(member_mean) {
                *sum += *h;
            }
            for (sum, raw) in aleatoric.iter_mut().zip(raw) {
                let std = self.member_std(*raw);
                *sum += std * std;
            }
        }
        for m in &mut mean {
            *m *= share;
        }
        let mut epistemic = [0.0; B];
        for (member_mean, _) in heads {
            for ((sum, h), m) in epistemic.iter_mut().zip(member_mean).zip(&mean) {
                let deviation = *h - *m;
                *sum += deviation * deviation;
            }
        }
        Some(Moments {
            mean,
            epistemic_std: epistemic.map(|sum| sqrt(sum * share)),
            aleatoric_std: aleatoric.map(|sum| sqrt(sum * share)),
        })
    }

    /// See [`crate::model::Dynamics::pull_back`].
    pub(crate) fn pull_back<const B: usize>(
        &self,
        cotangent: &PredictionCotangent<'_, B>,
        scratch: &mut [[f32; B]],
        cotangents: (&mut [[f32; B]], &mut [[f32; B]]),
        slices: &Slices<'_>,
    ) -> Option<()> {
        let to_cotangents = |outputs: &mut [[f32; B]]| self.output_cotangents(cotangent, outputs);
        self.pull_back_outputs(scratch, to_cotangents, cotangents, slices)
    }

    /// What `to_cotangents` makes of the members' outputs, pulled back through
    /// the networks and their priors.
    pub(super) fn pull_back_outputs<const B: usize>(
        &self,
        scratch: &mut [[f32; B]],
        to_cotangents: impl FnOnce(&mut [[f32; B]]) -> Option<()>,
        (state_cotangent, action_cotangent): (&mut [[f32; B]], &mut [[f32; B]]),
        slices: &Slices<'_>,
    ) -> Option<()> {
        let (scratch, prior_scratch) = self.scratch_of(scratch)?;
        let cotangents = (&mut *state_cotangent, &mut *action_cotangent);
        self.networks
            .pull_back(scratch, to_cotangents, cotangents, slices)?;
        if let Some(priors) = &self.priors {
            let outputs = self.networks.outputs_in(scratch)?;
            let stride = self.networks.output_rows();
            let cotangents = (state_cotangent, action_cotangent);
            priors.pull_back(outputs, stride, prior_scratch, cotangents, slices)?;
        }
        Some(())
    }

    /// Puts the derivative in every member's outputs in the place of those
    /// outputs.
    fn output_cotangents<const B: usize>(
        &self,
        cotangent: &PredictionCotangent<'_, B>,
        outputs: &mut [[f32; B]],
    ) -> Option<()> {
        Vectors::widest().run(OutputCotangents {
            ensemble: self,
            cotangent,
            outputs,
        })
    }
}

/// What the members' outputs say of the next state, in its own units.
struct Predicted<'p, 'a, 'r, const B: usize> {
    ensemble: &'p Ensemble<'a>,
    outputs: &'p [[f32; B]],
    prediction: &'p mut Prediction<'r, B>,
}

impl<const B: usize> LaneLoop for Predicted<'_, '_, '_, B> {
    type Output = Option<()>;

    #[inline(always)]
    fn run<const GROUP: usize>(self) -> Option<()> {
        let Self {
            ensemble,
            outputs,
            prediction,
        } = self;
        let parts = prediction
            .mean
            .iter_mut()
            .zip(prediction.epistemic_std.iter_mut())
            .zip(prediction.aleatoric_std.iter_mut());
        let units = ensemble.output_mean.iter().zip(ensemble.output_scale);
        let units = units.zip(ensemble.noise_scale);
        for (dimension, (((mean, epistemic), aleatoric), ((shift, scale), noise))) in
            parts.zip(units).enumerate()
        {
            let moments = ensemble.moments(outputs, dimension)?;
            for (y, m) in mean.iter_mut().zip(&moments.mean) {
                *y = *shift + *scale * *m;
            }
            for (y, m) in epistemic.iter_mut().zip(&moments.epistemic_std) {
                *y = *scale * *m;
            }
            for (y, m) in aleatoric.iter_mut().zip(&moments.aleatoric_std) {
                *y = *noise * *m;
            }
        }
        Some(())
    }
}

/// Since the deviations from the mean sum to zero, d sigma_e / d h_k is
/// (h_k − mu) / (K sigma_e).
struct OutputCotangents<'p, 'a, 'r, const B: usize> {
    ensemble: &'p Ensemble<'a>,
    cotangent: &'p PredictionCotangent<'r, B>,
    outputs: &'p mut [[f32; B]],
}

impl<const B: usize> LaneLoop for OutputCotangents<'_, '_, '_, B> {
    type Output = Option<()>;

    #[inline(always)]
    fn run<const GROUP: usize>(self) -> Option<()> {
        let Self {
            ensemble,
            cotangent,
            outputs,
        } = self;
        let share = 1.0 / ensemble.members() as f32;
        let cotangents = cotangent
            .mean
            .iter()
            .zip(cotangent.epistemic_std)
            .zip(cotangent.aleatoric_std);
        let scales = ensemble.output_scale.iter().zip(ensemble.noise_scale);
        for (dimension, (((c_mean, c_epistemic), c_aleatoric), (scale, noise))) in
            cotangents.zip(scales).enumerate()
        {
            let moments = ensemble.moments(outputs, dimension)?;
            let (weight, noise_weight) = (*scale * share, *noise * share);
            for own in outputs.chunks_exact_mut(ensemble.output_rows().max(1)) {
                let (means, raws) = own.split_at_mut_checked(ensemble.outputs)?;
                for (((h, m), s), (c_mean, c_epistemic)) in means
                    .get_mut(dimension)?
                    .iter_mut()
                    .zip(&moments.mean)
                    .zip(&moments.epistemic_std)
                    .zip(c_mean.iter().zip(c_epistemic))
                {
                    let direction = if *s > 0.0 { (*h - *m) / *s } else { 0.0 };
                    *h = weight * (*c_mean + *c_epistemic * direction);
                }
                for ((raw, s), c) in raws
                    .get_mut(dimension)?
                    .iter_mut()
                    .zip(&moments.aleatoric_std)
                    .zip(c_aleatoric)
                {
                    let std = ensemble.member_std(*raw);
                    let free = std < ensemble.std_cap && *s > 0.0;
                    let slope = if free { std / *s * sigmoid(*raw) } else { 0.0 };
                    *raw = noise_weight * (*c * slope);
                }
            }
        }
        Some(())
    }
}
