//! K networks and their moments (DESIGN 3.6): mu is the mean of the member
//! means, the epistemic variance their population variance, the aleatoric
//! variance the mean of the member variances.

use heapless::Vec;

use super::{Activation, Prediction, PredictionCotangent};
use crate::arithmetic::dense::{Dense, TILE, padded};
use crate::arithmetic::elementary::{minimum, sigmoid, softplus, square_root};

/// The largest number of hidden layers.
pub const MAX_HIDDEN_LAYERS: usize = 7;
const MAX_LAYERS: usize = MAX_HIDDEN_LAYERS + 1;

/// The sizes of an ensemble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnsembleShape {
    /// ds.
    pub state_dimension: usize,
    /// da.
    pub action_dimension: usize,
    /// K.
    pub members: usize,
    /// Units of each hidden layer.
    pub hidden: Vec<u16, MAX_HIDDEN_LAYERS>,
}

impl EnsembleShape {
    /// dx = ds + da.
    #[must_use]
    pub fn input_dimension(&self) -> usize {
        self.state_dimension.saturating_add(self.action_dimension)
    }

    /// Two heads for each state dimension: mean and raw standard deviation.
    fn output_dimension(&self) -> usize {
        self.state_dimension.saturating_mul(2)
    }

    /// (inputs, outputs) of every layer.
    fn layers(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let widths = self.hidden.iter().map(|w| usize::from(*w));
        let inputs = core::iter::once(self.input_dimension()).chain(widths.clone());
        inputs.zip(widths.chain(core::iter::once(self.output_dimension())))
    }

    /// Weight tiles of one member; `None` if that is not a number of tiles.
    #[must_use]
    pub fn tiles_per_member(&self) -> Option<usize> {
        self.layers().try_fold(0_usize, |sum, (inputs, outputs)| {
            sum.checked_add(Dense::tiles(inputs, outputs)?)
        })
    }

    /// Rows that hold the values before the activations of all hidden layers
    /// of one member.
    fn hidden_rows(&self) -> usize {
        self.hidden.iter().map(|w| padded(usize::from(*w))).sum()
    }

    /// Rows of the widest layer, input and output included.
    fn widest(&self) -> usize {
        self.layers()
            .flat_map(|(inputs, outputs)| [padded(inputs), padded(outputs)])
            .fold(0, usize::max)
    }
}

/// The linear maps between physical units and those of the networks.
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
#[derive(Clone, Debug)]
pub struct Ensemble<'a> {
    shape: EnsembleShape,
    activation: Activation,
    standardisation: Standardisation<'a>,
    std_floor: f32,
    std_cap: f32,
    /// (inputs, outputs, offset of the first tile) of every layer.
    layers: Vec<(usize, usize, usize), MAX_LAYERS>,
    tiles_per_member: usize,
    tiles: &'a [[f32; TILE]],
}

/// The rows of an ensemble's scratch.
struct Scratch<'r, const B: usize> {
    /// Standardised inputs.
    input: &'r mut [[f32; B]],
    /// Values before the activations, all members one after the other.
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
    /// An ensemble over `tiles`; `None` if sizes do not fit together.
    #[must_use]
    pub fn new(
        shape: EnsembleShape,
        activation: Activation,
        (std_floor, std_cap): (f32, f32),
        standardisation: Standardisation<'a>,
        tiles: &'a [[f32; TILE]],
    ) -> Option<Self> {
        let tiles_per_member = shape.tiles_per_member()?;
        let all_there = tiles.len() == tiles_per_member.checked_mul(shape.members)?
            && standardisation.input_mean.len() == shape.input_dimension()
            && standardisation.input_scale.len() == shape.input_dimension()
            && standardisation.output_mean.len() == shape.state_dimension
            && standardisation.output_scale.len() == shape.state_dimension;
        if !all_there || shape.members == 0 {
            return None;
        }
        let mut layers = Vec::new();
        let mut offset = 0_usize;
        for (inputs, outputs) in shape.layers() {
            layers.push((inputs, outputs, offset)).ok()?;
            offset = offset.checked_add(Dense::tiles(inputs, outputs)?)?;
        }
        Some(Self {
            shape,
            activation,
            standardisation,
            std_floor,
            std_cap,
            layers,
            tiles_per_member,
            tiles,
        })
    }

    /// The sizes.
    #[must_use]
    pub fn shape(&self) -> &EnsembleShape {
        &self.shape
    }

    /// The rows of scratch that [`Self::predict`] needs.
    #[must_use]
    pub fn scratch_rows(&self) -> Option<usize> {
        let per_member = self
            .shape
            .hidden_rows()
            .checked_add(padded(self.shape.output_dimension()))?;
        self.shape
            .members
            .checked_mul(per_member)?
            .checked_add(self.shape.input_dimension())?
            .checked_add(self.shape.widest().checked_mul(2)?)
    }

    fn carve<'r, const B: usize>(&self, rows: &'r mut [[f32; B]]) -> Option<Scratch<'r, B>> {
        let members = self.shape.members;
        let outputs = padded(self.shape.output_dimension());
        let (input, rows) = rows.split_at_mut_checked(self.shape.input_dimension())?;
        let (hidden, rows) =
            rows.split_at_mut_checked(members.checked_mul(self.shape.hidden_rows())?)?;
        let (outputs, rows) = rows.split_at_mut_checked(members.checked_mul(outputs)?)?;
        let (ping, rows) = rows.split_at_mut_checked(self.shape.widest())?;
        let (pong, _) = rows.split_at_mut_checked(self.shape.widest())?;
        Some(Scratch {
            input,
            hidden,
            outputs,
            ping,
            pong,
        })
    }

    fn dense(
        &self,
        member: usize,
        (inputs, outputs, offset): (usize, usize, usize),
    ) -> Option<Dense<'a>> {
        let first = member
            .checked_mul(self.tiles_per_member)?
            .checked_add(offset)?;
        Dense::new(self.tiles.get(first..)?, inputs, outputs)
    }

    /// nu of DESIGN 3.5 for a raw output.
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
        for member in 0..self.shape.members {
            self.forward(member, input, (hidden, outputs), ping, pong)?;
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

    /// One member: keeps the values before the activations for the way back.
    fn forward<'r, const B: usize>(
        &self,
        member: usize,
        input: &[[f32; B]],
        (hidden, outputs): (&mut [[f32; B]], &mut [[f32; B]]),
        ping: &'r mut [[f32; B]],
        pong: &'r mut [[f32; B]],
    ) -> Option<()> {
        let first = member.checked_mul(self.shape.hidden_rows())?;
        let mut before = hidden.get_mut(first..)?;
        let (last, inner) = self.layers.split_last()?;
        let (mut from, mut to) = (ping, pong);
        for (to, x) in from.iter_mut().zip(input) {
            *to = *x;
        }
        for layer in inner {
            let rows = padded(layer.1);
            let (values, rest) = before.split_at_mut_checked(rows)?;
            before = rest;
            self.dense(member, *layer)?.forward(from, values);
            self.activation.apply(values, to);
            core::mem::swap(&mut from, &mut to);
        }
        let rows = padded(last.1);
        let first = member.checked_mul(rows)?;
        let output = outputs.get_mut(first..first.checked_add(rows)?)?;
        self.dense(member, *last)?.forward(from, output);
        Some(())
    }

    /// Mean head and raw head of every member for one dimension.
    fn heads<'r, const B: usize>(
        &self,
        outputs: &'r [[f32; B]],
        dimension: usize,
    ) -> impl Iterator<Item = (&'r [f32; B], &'r [f32; B])> + Clone + use<'r, 'a, B> {
        let stride = padded(self.shape.output_dimension()).max(1);
        let means = outputs.iter().skip(dimension).step_by(stride);
        let raws = outputs
            .iter()
            .skip(dimension.saturating_add(self.shape.state_dimension))
            .step_by(stride);
        means.zip(raws).take(self.shape.members)
    }

    fn moments<const B: usize>(
        &self,
        outputs: &[[f32; B]],
        dimension: usize,
    ) -> Option<Moments<B>> {
        let share = 1.0 / self.shape.members as f32;
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
            epistemic_std: epistemic.map(|sum| square_root(sum * share)),
            aleatoric_std: aleatoric.map(|sum| square_root(sum * share)),
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
        let _ = self.try_pull_back(cotangent, scratch, state_cotangent, action_cotangent);
    }

    fn try_pull_back<const B: usize>(
        &self,
        cotangent: &PredictionCotangent<'_, B>,
        scratch: &mut [[f32; B]],
        state_cotangent: &mut [[f32; B]],
        action_cotangent: &mut [[f32; B]],
    ) -> Option<()> {
        let Scratch {
            hidden,
            outputs,
            ping,
            pong,
            ..
        } = self.carve(scratch)?;
        for member in 0..self.shape.members {
            self.output_cotangent(member, cotangent, outputs, ping)?;
            let gradient = self.backward(member, hidden, ping, pong)?;
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

    /// The derivative in one member's outputs, written to `rows`. Since the
    /// deviations from the mean sum to zero, d sigma_e / d h_k is
    /// (h_k − mu) / (K sigma_e).
    fn output_cotangent<const B: usize>(
        &self,
        member: usize,
        cotangent: &PredictionCotangent<'_, B>,
        outputs: &[[f32; B]],
        rows: &mut [[f32; B]],
    ) -> Option<()> {
        let share = 1.0 / self.shape.members as f32;
        let width = padded(self.shape.output_dimension());
        for row in rows.get_mut(..width)? {
            *row = [0.0; B];
        }
        let (mean_rows, raw_rows) = rows.split_at_mut_checked(self.shape.state_dimension)?;
        let targets = mean_rows.iter_mut().zip(raw_rows);
        let cotangents = cotangent
            .mean
            .iter()
            .zip(cotangent.epistemic_std)
            .zip(cotangent.aleatoric_std);
        let scales = self.standardisation.output_scale;
        for (dimension, (((mean_row, raw_row), ((c_mean, c_epistemic), c_aleatoric)), scale)) in
            targets.zip(cotangents).zip(scales).enumerate()
        {
            let moments = self.moments(outputs, dimension)?;
            let (member_mean, raw) = self.heads(outputs, dimension).nth(member)?;
            let weight = *scale * share;
            for ((((y, h), m), s), (c_mean, c_epistemic)) in mean_row
                .iter_mut()
                .zip(member_mean)
                .zip(&moments.mean)
                .zip(&moments.epistemic_std)
                .zip(c_mean.iter().zip(c_epistemic))
            {
                let direction = if *s > 0.0 { (*h - *m) / *s } else { 0.0 };
                *y = weight * (*c_mean + *c_epistemic * direction);
            }
            for (((y, raw), s), c) in raw_row
                .iter_mut()
                .zip(raw)
                .zip(&moments.aleatoric_std)
                .zip(c_aleatoric)
            {
                let std = self.member_std(*raw);
                let free = std < self.std_cap && *s > 0.0;
                let slope = if free { std / *s * sigmoid(*raw) } else { 0.0 };
                *y = weight * (*c * slope);
            }
        }
        Some(())
    }

    /// Back through one member's layers; the derivative in the standardised
    /// inputs ends up in one of the two buffers.
    fn backward<'r, const B: usize>(
        &self,
        member: usize,
        hidden: &[[f32; B]],
        ping: &'r mut [[f32; B]],
        pong: &'r mut [[f32; B]],
    ) -> Option<&'r [[f32; B]]> {
        let first = member.checked_mul(self.shape.hidden_rows())?;
        let last = first.checked_add(self.shape.hidden_rows())?;
        let mut before = hidden.get(first..last)?;
        let (mut from, mut to) = (ping, pong);
        let (first, inner) = self.layers.split_first()?;
        for layer in inner.iter().rev() {
            let rows = padded(layer.0);
            let (rest, values) = before.split_at_checked(before.len().checked_sub(rows)?)?;
            before = rest;
            let cotangent = to.get_mut(..rows)?;
            let outputs = from.get(..padded(layer.1))?;
            self.dense(member, *layer)?.pull_back(outputs, cotangent);
            self.activation.pull_back(values, cotangent);
            core::mem::swap(&mut from, &mut to);
        }
        let outputs = from.get(..padded(first.1))?;
        let gradient = to.get_mut(..first.0)?;
        self.dense(member, *first)?.pull_back(outputs, gradient);
        Some(gradient)
    }
}
