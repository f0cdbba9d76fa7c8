//! K networks and their moments (the mixture of equation (5)): mu is the mean of the member
//! means, the epistemic variance their population variance, the aleatoric
//! variance the mean of the member variances.

mod members;

use super::{Prediction, PredictionCotangent};
use crate::arithmetic::dense::{TILE, padded};
use crate::arithmetic::elementary::{minimum, sigmoid, softplus, sqrt};
use crate::network::NetworkShape;

/// The linear maps between physical units and those of the networks.
///
/// ```
/// use hambo_core::model::Standardisation;
/// // Inputs s and a in metres and volts, target s' - s in metres.
/// let units = Standardisation {
///     input_mean: &[2.0, 0.0],
///     input_scale: &[1.0 / 0.5, 1.0 / 6.0],
///     output_mean: &[0.01],
///     output_scale: &[0.2],
/// };
/// assert_eq!(units.input_mean.len(), 2 * units.output_mean.len());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Standardisation<'a> {
    /// Mean of each input.
    pub input_mean: &'a [f32],
    /// One over the standard deviation of each input.
    pub input_scale: &'a [f32],
    /// Mean of each target.
    pub output_mean: &'a [f32],
    /// Standard deviation of each target.
    pub output_scale: &'a [f32],
}

/// An ensemble whose weights are borrowed.
///
/// ```
/// use hambo_core::model::{Ensemble, Prediction, Standardisation};
/// use hambo_core::network::{Activation, NetworkShape};
/// // Two members without hidden layers, which say a + 1 and a - 1.
/// let tiles = [
///     [1.0, -9.0, 0.0, 0.0], [0.0; 4], [1.0, 0.0, 0.0, 0.0],
///     [-1.0, -9.0, 0.0, 0.0], [0.0; 4], [1.0, 0.0, 0.0, 0.0],
/// ];
/// let units = Standardisation {
///     input_mean: &[0.0; 2],
///     input_scale: &[1.0; 2],
///     output_mean: &[0.0],
///     output_scale: &[1.0],
/// };
/// let network = NetworkShape::new(2, &[], 2, Activation::Relu).ok_or("bad shape")?;
/// let ensemble = Ensemble::new(network, (0.01, 1.0), units, &tiles).ok_or("bad ensemble")?;
/// assert_eq!(ensemble.members(), 2);
/// let mut scratch = vec![[0.0]; ensemble.scratch_rows().ok_or("too large")?];
/// let (mut mean, mut epistemic, mut aleatoric) = ([[0.0]], [[0.0]], [[0.0]]);
/// let mut prediction = Prediction {
///     mean: &mut mean,
///     epistemic_std: &mut epistemic,
///     aleatoric_std: &mut aleatoric,
/// };
/// ensemble.predict(&[[7.0]], &[[3.0]], &mut scratch, &mut prediction);
/// assert_eq!((mean, epistemic), ([[3.0]], [[1.0]]));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ensemble<'a> {
    state_dimension: usize,
    action_dimension: usize,
    members: usize,
    network: NetworkShape,
    standardisation: Standardisation<'a>,
    std_floor: f32,
    std_cap: f32,
    tiles: &'a [[f32; TILE]],
}

/// The rows of an ensemble's scratch.
struct Scratch<'r, const B: usize> {
    /// Standardised inputs.
    input: &'r mut [[f32; B]],
    /// What the networks keep for the way back, all members one after the other.
    hidden: &'r mut [[f32; B]],
    /// Outputs of all members.
    outputs: &'r mut [[f32; B]],
    ping: &'r mut [[f32; B]],
    pong: &'r mut [[f32; B]],
}

/// Mean and standard deviations over the members, in standardised units, for
/// one dimension and all lanes.
struct Moments<const B: usize> {
    mean: [f32; B],
    epistemic_std: [f32; B],
    aleatoric_std: [f32; B],
}

impl<'a> Ensemble<'a> {
    /// An ensemble of as many members as `tiles` has weights for; `None` if
    /// sizes do not fit together. The networks have two heads for each state
    /// dimension: the means, then the raw standard deviations.
    #[must_use]
    pub fn new(
        network: NetworkShape,
        (std_floor, std_cap): (f32, f32),
        standardisation: Standardisation<'a>,
        tiles: &'a [[f32; TILE]],
    ) -> Option<Self> {
        let state_dimension = standardisation.output_mean.len();
        let inputs = standardisation.input_mean.len();
        let members = tiles.len().checked_div(network.tiles())?;
        let all_there = members > 0
            && tiles.len() == network.tiles().checked_mul(members)?
            && network.inputs() == inputs
            && network.outputs() == state_dimension.checked_mul(2)?
            && standardisation.input_scale.len() == inputs
            && standardisation.output_scale.len() == state_dimension;
        let action_dimension = inputs.checked_sub(state_dimension)?;
        all_there.then_some(Self {
            state_dimension,
            action_dimension,
            members,
            network,
            standardisation,
            std_floor,
            std_cap,
            tiles,
        })
    }

    /// ds.
    #[must_use]
    pub fn state_dimension(&self) -> usize {
        self.state_dimension
    }

    /// da.
    #[must_use]
    pub fn action_dimension(&self) -> usize {
        self.action_dimension
    }

    /// K.
    #[must_use]
    pub fn members(&self) -> usize {
        self.members
    }

    fn output_rows(&self) -> usize {
        padded(self.network.outputs())
    }

    /// The rows of scratch that [`Self::predict`] needs.
    #[must_use]
    pub fn scratch_rows(&self) -> Option<usize> {
        let per_member = self.network.hidden_rows().checked_add(self.output_rows())?;
        self.members
            .checked_mul(per_member)?
            .checked_add(self.network.inputs())?
            .checked_add(self.network.widest().checked_mul(2)?)
    }

    fn carve<'r, const B: usize>(&self, rows: &'r mut [[f32; B]]) -> Option<Scratch<'r, B>> {
        let hidden = self.members.checked_mul(self.network.hidden_rows())?;
        let outputs = self.members.checked_mul(self.output_rows())?;
        let (input, rows) = rows.split_at_mut_checked(self.network.inputs())?;
        let (hidden, rows) = rows.split_at_mut_checked(hidden)?;
        let (outputs, rows) = rows.split_at_mut_checked(outputs)?;
        let (ping, rows) = rows.split_at_mut_checked(self.network.widest())?;
        let (pong, _) = rows.split_at_mut_checked(self.network.widest())?;
        Some(Scratch {
            input,
            hidden,
            outputs,
            ping,
            pong,
        })
    }

    /// A member's share of something that all have `count` of.
    fn range(member: usize, count: usize) -> Option<core::ops::Range<usize>> {
        let first = member.checked_mul(count)?;
        Some(first..first.checked_add(count)?)
    }

    fn member_tiles(&self, member: usize) -> Option<&'a [[f32; TILE]]> {
        self.tiles.get(Self::range(member, self.network.tiles())?)
    }

    /// nu_theta of equation (5) for a raw output: a softplus, floored and capped.
    fn member_std(&self, raw: f32) -> f32 {
        minimum(self.std_floor + softplus(raw), self.std_cap)
    }

    /// See [`super::Dynamics::predict`].
    pub fn predict<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        prediction: &mut Prediction<'_, B>,
    ) {
        // A scratch that is too short leaves NaN, which never deploys.
        if self
            .try_predict(state, action, scratch, prediction)
            .is_none()
        {
            for row in prediction.mean.iter_mut() {
                *row = [f32::NAN; B];
            }
        }
    }

    fn try_predict<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        prediction: &mut Prediction<'_, B>,
    ) -> Option<()> {
        let Scratch {
            input,
            hidden,
            outputs,
            ping,
            pong,
        } = self.carve(scratch)?;
        let units = &self.standardisation;
        let shifts = units.input_mean.iter().zip(units.input_scale);
        for ((row, x), (mean, scale)) in
            input.iter_mut().zip(state.iter().chain(action)).zip(shifts)
        {
            for (y, x) in row.iter_mut().zip(x) {
                *y = (*x - *mean) * *scale;
            }
        }
        for member in 0..self.members {
            self.network.forward(
                self.member_tiles(member)?,
                input,
                hidden.get_mut(Self::range(member, self.network.hidden_rows())?)?,
                outputs.get_mut(Self::range(member, self.output_rows())?)?,
                (&mut *ping, &mut *pong),
            )?;
        }
        let parts = prediction
            .mean
            .iter_mut()
            .zip(prediction.epistemic_std.iter_mut())
            .zip(prediction.aleatoric_std.iter_mut());
        let units = units.output_mean.iter().zip(units.output_scale);
        for (dimension, (((mean, epistemic), aleatoric), (shift, scale))) in
            parts.zip(units).enumerate()
        {
            let moments = self.moments(outputs, dimension)?;
            for (y, m) in mean.iter_mut().zip(&moments.mean) {
                *y = *shift + *scale * *m;
            }
            for (y, m) in epistemic.iter_mut().zip(&moments.epistemic_std) {
                *y = *scale * *m;
            }
            for (y, m) in aleatoric.iter_mut().zip(&moments.aleatoric_std) {
                *y = *scale * *m;
            }
        }
        Some(())
    }

    /// Mean head and raw head of every member for one dimension.
    fn heads<'r, const B: usize>(
        &self,
        outputs: &'r [[f32; B]],
        dimension: usize,
    ) -> impl Iterator<Item = (&'r [f32; B], &'r [f32; B])> + Clone + use<'r, 'a, B> {
        let stride = self.output_rows().max(1);
        let means = outputs.iter().skip(dimension).step_by(stride);
        let raws = outputs
            .iter()
            .skip(dimension.saturating_add(self.state_dimension))
            .step_by(stride);
        means.zip(raws).take(self.members)
    }

    fn moments<const B: usize>(
        &self,
        outputs: &[[f32; B]],
        dimension: usize,
    ) -> Option<Moments<B>> {
        let share = 1.0 / self.members as f32;
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

    /// See [`super::Dynamics::pull_back`].
    pub fn pull_back<const B: usize>(
        &self,
        cotangent: &PredictionCotangent<'_, B>,
        scratch: &mut [[f32; B]],
        state_cotangent: &mut [[f32; B]],
        action_cotangent: &mut [[f32; B]],
    ) {
        // A scratch that is too short gives a zero gradient: the adversary
        // stays where it is and the forward sweep reports the NaN.
        let _ = self.pull_back_outputs(scratch, state_cotangent, action_cotangent, |outputs| {
            self.output_cotangents(cotangent, outputs)
        });
    }

    /// Back through all members. `output_cotangents` puts the derivative in
    /// every member's outputs in the place of those outputs.
    fn pull_back_outputs<const B: usize>(
        &self,
        scratch: &mut [[f32; B]],
        state_cotangent: &mut [[f32; B]],
        action_cotangent: &mut [[f32; B]],
        output_cotangents: impl FnOnce(&mut [[f32; B]]) -> Option<()>,
    ) -> Option<()> {
        let Scratch {
            hidden,
            outputs,
            ping,
            pong,
            ..
        } = self.carve(scratch)?;
        output_cotangents(outputs)?;
        for member in 0..self.members {
            let own = outputs.get(Self::range(member, self.output_rows())?)?;
            for (row, c) in ping.iter_mut().zip(own) {
                *row = *c;
            }
            let gradient = self.network.pull_back(
                self.member_tiles(member)?,
                hidden.get(Self::range(member, self.network.hidden_rows())?)?,
                (&mut *ping, &mut *pong),
            )?;
            let inputs = state_cotangent
                .iter_mut()
                .chain(action_cotangent.iter_mut());
            for ((sum, row), scale) in inputs.zip(gradient).zip(self.standardisation.input_scale) {
                for (s, g) in sum.iter_mut().zip(row) {
                    *s += *scale * *g;
                }
            }
        }
        Some(())
    }

    /// Puts the derivative in every member's outputs in the place of those
    /// outputs. Since the deviations from the mean sum to zero,
    /// d sigma_e / d h_k is (h_k − mu) / (K sigma_e).
    fn output_cotangents<const B: usize>(
        &self,
        cotangent: &PredictionCotangent<'_, B>,
        outputs: &mut [[f32; B]],
    ) -> Option<()> {
        let share = 1.0 / self.members as f32;
        let cotangents = cotangent
            .mean
            .iter()
            .zip(cotangent.epistemic_std)
            .zip(cotangent.aleatoric_std);
        let scales = self.standardisation.output_scale;
        for (dimension, (((c_mean, c_epistemic), c_aleatoric), scale)) in
            cotangents.zip(scales).enumerate()
        {
            let moments = self.moments(outputs, dimension)?;
            let weight = *scale * share;
            for own in outputs.chunks_exact_mut(self.output_rows().max(1)) {
                let (means, raws) = own.split_at_mut_checked(self.state_dimension)?;
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
                    let std = self.member_std(*raw);
                    let free = std < self.std_cap && *s > 0.0;
                    let slope = if free { std / *s * sigmoid(*raw) } else { 0.0 };
                    *raw = weight * (*c * slope);
                }
            }
        }
        Some(())
    }
}
