//! The sizes of a perceptron, and the ways through it: forward and back.

use heapless::Vec;
use serde::Serialize;

use super::activation::Activation;
use super::blocks::{forward_in_slices, pull_back_in_slices};
use crate::numeric::dense::{Dense, TILE, padded};
use crate::numeric::error::ParameterError;
use crate::numeric::slices::Slices;

/// The largest number of hidden layers.
pub const MAX_HIDDEN_LAYERS: usize = 7;
const MAX_LAYERS: usize = MAX_HIDDEN_LAYERS + 1;

/// One dense layer inside a run of weight tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct LayerShape {
    inputs: usize,
    outputs: usize,
    /// Where its tiles start.
    offset: usize,
    /// What follows it; of the last layer it does not matter.
    activation: Activation,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct NetworkShape {
    layers: Vec<LayerShape, MAX_LAYERS>,
    tiles: usize,
    hidden_rows: usize,
    widest: usize,
}

impl NetworkShape {
    /// A network with these widths and one activation after every hidden layer.
    ///
    /// # Errors
    /// If one of them is zero, or there are too many.
    pub fn new(
        inputs: usize,
        hidden: &[u16],
        outputs: usize,
        activation: Activation,
    ) -> Result<Self, ParameterError> {
        let hidden = hidden.iter().map(|width| (*width, activation));
        Self::mixed(inputs, hidden, outputs)
    }

    /// A network with hidden layers of these widths and activations.
    ///
    /// # Errors
    /// If a width is zero, or there are too many.
    pub fn mixed(
        inputs: usize,
        hidden: impl Iterator<Item = (u16, Activation)>,
        outputs: usize,
    ) -> Result<Self, ParameterError> {
        let too_large = ParameterError::Size("network");
        let mut shape = Self {
            layers: Vec::new(),
            tiles: 0,
            hidden_rows: 0,
            widest: padded(inputs),
        };
        let mut before = inputs;
        let hidden = hidden.map(|(width, activation)| (usize::from(width), activation));
        let last = (outputs, Activation::default());
        for (width, activation) in hidden.chain(core::iter::once(last)) {
            let layer = LayerShape {
                inputs: before,
                outputs: width,
                offset: shape.tiles,
                activation,
            };
            let full = ParameterError::Size("hidden layers");
            shape.layers.push(layer).map_err(|_| full)?;
            let tiles = Dense::tiles(before, width).ok_or(ParameterError::Size("layer"))?;
            shape.tiles = shape.tiles.checked_add(tiles).ok_or(too_large)?;
            let rows = shape.hidden_rows.checked_add(padded(width));
            shape.hidden_rows = rows.ok_or(too_large)?;
            shape.widest = shape.widest.max(padded(width));
            before = width;
        }
        shape.hidden_rows = shape.hidden_rows.saturating_sub(padded(outputs));
        Ok(shape)
    }

    pub fn inputs(&self) -> usize {
        self.layers.first().map_or(0, |layer| layer.inputs)
    }

    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.outputs)
    }

    /// Rows of the output: whole tiles.
    pub fn output_rows(&self) -> usize {
        padded(self.outputs())
    }

    /// Weight tiles of one network.
    pub fn tiles(&self) -> usize {
        self.tiles
    }

    /// Rows that hold what is kept of all hidden layers.
    pub fn hidden_rows(&self) -> usize {
        self.hidden_rows
    }

    /// Rows of the widest layer, input and output included.
    pub fn widest(&self) -> usize {
        self.widest
    }

    /// The network's output for `input`, in `output`. Keeps what
    /// [`Self::pull_back`] needs in `hidden`; `ping` and `pong` have
    /// [`Self::widest`] rows. `None` if one of them is too short, or it was
    /// stopped.
    pub fn forward<'r, const B: usize>(
        &self,
        tiles: &[[f32; TILE]],
        input: &[[f32; B]],
        hidden: &mut [[f32; B]],
        output: &mut [[f32; B]],
        (ping, pong): (&'r mut [[f32; B]], &'r mut [[f32; B]]),
        slices: &Slices<'_>,
    ) -> Option<()> {
        let (last, inner) = self.layers.split_last()?;
        let output = output.get_mut(..padded(last.outputs))?;
        let (mut from, mut to) = (ping, pong);
        let mut hidden = hidden;
        if inner.iter().all(LayerShape::keeps_output) {
            // The kept values are the next layer's input.
            let mut input = input;
            for layer in inner {
                let (values, rest) = hidden.split_at_mut_checked(padded(layer.outputs))?;
                hidden = rest;
                let dense = layer.dense(tiles)?;
                layer.activation.after(&dense, input, values, slices)?;
                input = values;
            }
            return forward_in_slices(&last.dense(tiles)?, input, output, slices);
        }
        for (to, x) in from.iter_mut().zip(input) {
            *to = *x;
        }
        for layer in inner {
            let (values, rest) = hidden.split_at_mut_checked(padded(layer.outputs))?;
            hidden = rest;
            let dense = layer.dense(tiles)?;
            if layer.keeps_output() {
                layer.activation.after(&dense, from, values, slices)?;
                for (y, x) in to.iter_mut().zip(&*values) {
                    *y = *x;
                }
            } else {
                forward_in_slices(&dense, from, values, slices)?;
                for (y, x) in to.as_flattened_mut().iter_mut().zip(values.as_flattened()) {
                    *y = layer.activation.of(*x);
                }
            }
            core::mem::swap(&mut from, &mut to);
        }
        forward_in_slices(&last.dense(tiles)?, from, output, slices)
    }

    /// The derivative of [`Self::forward`], transposed: `ping` holds the
    /// derivative in the outputs, and that in the inputs is returned from one
    /// of the two buffers. `None` as there.
    pub fn pull_back<'r, const B: usize>(
        &self,
        tiles: &[[f32; TILE]],
        hidden: &[[f32; B]],
        (ping, pong): (&'r mut [[f32; B]], &'r mut [[f32; B]]),
        slices: &Slices<'_>,
    ) -> Option<&'r [[f32; B]]> {
        let mut kept = hidden.get(..self.hidden_rows)?;
        let (mut from, mut to) = (ping, pong);
        let (first, inner) = self.layers.split_first()?;
        for (layer, before) in inner.iter().zip(&self.layers).rev() {
            let rows = padded(layer.inputs);
            let (rest, values) = kept.split_at_checked(kept.len().checked_sub(rows)?)?;
            kept = rest;
            let cotangent = to.get_mut(..rows)?;
            let outputs = from.get(..padded(layer.outputs))?;
            let dense = layer.dense(tiles)?;
            before
                .activation
                .pull_back_through(&dense, values, outputs, cotangent, slices)?;
            core::mem::swap(&mut from, &mut to);
        }
        let outputs = from.get(..padded(first.outputs))?;
        let gradient = to.get_mut(..first.inputs)?;
        pull_back_in_slices(&first.dense(tiles)?, &[], outputs, gradient, slices)?;
        Some(gradient)
    }
}

impl LayerShape {
    /// Whether what is kept of it is its value after the activation.
    fn keeps_output(&self) -> bool {
        self.activation.derivative_follows_from_value()
    }

    fn dense<'a>(&self, tiles: &'a [[f32; TILE]]) -> Option<Dense<'a>> {
        Dense::new(tiles.get(self.offset..)?, self.inputs, self.outputs)
    }
}
