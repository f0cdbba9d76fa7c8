//! Networks of one shape over one standardised input, with their weights and
//! their rows of scratch: the members of an ensemble, or one network that is
//! a controller or an adversary.
//!
//! Scratch: the input, standardised · what every network keeps for the way
//! back · the outputs of every network · two buffers of the widest layer.

use core::ops::Range;

use super::shape::NetworkShape;
use crate::numeric::checksum::Checksum;
use crate::numeric::dense::TILE;
use crate::numeric::error::ParameterError;
use crate::numeric::slices::Slices;

/// `count` networks whose weights are borrowed.
#[derive(Clone, Debug)]
pub(crate) struct Perceptrons<'a> {
    shape: NetworkShape,
    count: usize,
    tiles: &'a [[f32; TILE]],
    input_mean: &'a [f32],
    /// One over the standard deviation of each input.
    input_scale: &'a [f32],
}

struct Scratch<'r, const B: usize> {
    input: &'r mut [[f32; B]],
    hidden: &'r mut [[f32; B]],
    outputs: &'r mut [[f32; B]],
    ping: &'r mut [[f32; B]],
    pong: &'r mut [[f32; B]],
}

/// A network's share of something that all have `each` of.
fn share(network: usize, each: usize) -> Option<Range<usize>> {
    let first = network.checked_mul(each)?;
    Some(first..first.checked_add(each)?)
}

impl<'a> Perceptrons<'a> {
    /// As many networks as `tiles` has weights for.
    ///
    /// # Errors
    /// If sizes do not fit together.
    pub fn new(
        shape: NetworkShape,
        tiles: &'a [[f32; TILE]],
        input_mean: &'a [f32],
        input_scale: &'a [f32],
    ) -> Result<Self, ParameterError> {
        let inputs = shape.inputs();
        ParameterError::size("input mean", input_mean.len() == inputs)?;
        ParameterError::size("input scale", input_scale.len() == inputs)?;
        let count = tiles.len().checked_div(shape.tiles()).unwrap_or(0);
        let whole = shape.tiles().checked_mul(count) == Some(tiles.len());
        ParameterError::size("weights", whole && count > 0)?;
        Ok(Self {
            shape,
            count,
            tiles,
            input_mean,
            input_scale,
        })
    }

    /// Adds sizes, and where the numbers lie.
    pub fn add_to(&self, sum: &mut Checksum) {
        let Self {
            shape,
            count,
            tiles,
            input_mean,
            input_scale,
        } = self;
        sum.value(&(shape, count));
        sum.place(*tiles);
        sum.place(*input_mean);
        sum.place(*input_scale);
    }

    /// How many networks there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The width of the input.
    pub fn inputs(&self) -> usize {
        self.shape.inputs()
    }

    /// The outputs of one network.
    pub fn outputs(&self) -> usize {
        self.shape.outputs()
    }

    /// The rows of one network's outputs.
    pub fn output_rows(&self) -> usize {
        self.shape.output_rows()
    }

    /// The rows of scratch that they work in.
    pub fn scratch_rows(&self) -> Option<usize> {
        let each = self.shape.hidden_rows().checked_add(self.output_rows())?;
        self.count
            .checked_mul(each)?
            .checked_add(self.shape.inputs())?
            .checked_add(self.shape.widest().checked_mul(2)?)
    }

    fn carve<'r, const B: usize>(&self, rows: &'r mut [[f32; B]]) -> Option<Scratch<'r, B>> {
        let hidden = self.count.checked_mul(self.shape.hidden_rows())?;
        let outputs = self.count.checked_mul(self.output_rows())?;
        let (input, rows) = rows.split_at_mut_checked(self.shape.inputs())?;
        let (hidden, rows) = rows.split_at_mut_checked(hidden)?;
        let (outputs, rows) = rows.split_at_mut_checked(outputs)?;
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

    fn tiles(&self, network: usize) -> Option<&'a [[f32; TILE]]> {
        self.tiles.get(share(network, self.shape.tiles())?)
    }

    /// The outputs that [`Self::forward`] left, one network after the other.
    pub fn outputs_in<'r, const B: usize>(
        &self,
        scratch: &'r mut [[f32; B]],
    ) -> Option<&'r mut [[f32; B]]> {
        Some(self.carve(scratch)?.outputs)
    }

    /// The outputs of all networks, one after the other, for an input of
    /// states and actions; a controller's has no actions. `None` if the
    /// scratch is too short, or it was stopped.
    pub fn forward<'r, const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &'r mut [[f32; B]],
        slices: &Slices<'_>,
    ) -> Option<&'r mut [[f32; B]]> {
        let Scratch {
            input,
            hidden,
            outputs,
            ping,
            pong,
        } = self.carve(scratch)?;
        let units = self.input_mean.iter().zip(self.input_scale);
        for ((row, x), (mean, scale)) in input.iter_mut().zip(state.iter().chain(action)).zip(units)
        {
            for (y, x) in row.iter_mut().zip(x) {
                *y = (*x - *mean) * *scale;
            }
        }
        for network in 0..self.count {
            self.shape.forward(
                self.tiles(network)?,
                input,
                hidden.get_mut(share(network, self.shape.hidden_rows())?)?,
                outputs.get_mut(share(network, self.output_rows())?)?,
                (&mut *ping, &mut *pong),
                slices,
            )?;
        }
        Some(outputs)
    }

    /// The derivative of the last [`Self::forward`], transposed, added to the
    /// two cotangents. `to_cotangents` gets the outputs of all networks and
    /// puts the derivative in them in their place. `None` as there.
    pub fn pull_back<const B: usize>(
        &self,
        scratch: &mut [[f32; B]],
        to_cotangents: impl FnOnce(&mut [[f32; B]]) -> Option<()>,
        (state_cotangent, action_cotangent): (&mut [[f32; B]], &mut [[f32; B]]),
        slices: &Slices<'_>,
    ) -> Option<()> {
        let Scratch {
            hidden,
            outputs,
            ping,
            pong,
            ..
        } = self.carve(scratch)?;
        to_cotangents(outputs)?;
        for network in 0..self.count {
            let own = outputs.get(share(network, self.output_rows())?)?;
            for (row, c) in ping.iter_mut().zip(own) {
                *row = *c;
            }
            let gradient = self.shape.pull_back(
                self.tiles(network)?,
                hidden.get(share(network, self.shape.hidden_rows())?)?,
                (&mut *ping, &mut *pong),
                slices,
            )?;
            let sums = state_cotangent
                .iter_mut()
                .chain(action_cotangent.iter_mut());
            for ((sum, row), scale) in sums.zip(gradient).zip(self.input_scale) {
                for (s, g) in sum.iter_mut().zip(row) {
                    *s += *scale * *g;
                }
            }
        }
        Some(())
    }
}
