//! Multilayer perceptrons: members of an ensemble (h_theta and nu_theta of
//! equation (5)), controllers, adversaries.
//!
//! `NetworkShape` is apart from the weights, so that the members of an
//! ensemble share it; `Perceptrons` has weights and scratch. What the
//! derivatives of the activations need is kept for the way back.

mod activation;
mod perceptrons;

pub use activation::Activation;
pub(crate) use perceptrons::Perceptrons;

use heapless::Vec;

use crate::ParameterError;
use crate::arithmetic::dense::{Dense, TILE, padded};
use crate::pause::Slices;

/// The largest number of hidden layers.
pub const MAX_HIDDEN_LAYERS: usize = 7;
const MAX_LAYERS: usize = MAX_HIDDEN_LAYERS + 1;

/// One dense layer inside a run of weight tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LayerShape {
    inputs: usize,
    outputs: usize,
    /// Where its tiles start.
    offset: usize,
    /// What follows it; of the last layer it does not matter.
    activation: Activation,
}

/// The sizes of a perceptron.
#[derive(Clone, Debug, PartialEq, Eq)]
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

    /// Width of the input.
    pub fn inputs(&self) -> usize {
        self.layers.first().map_or(0, |layer| layer.inputs)
    }

    /// Width of the output.
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

/// Does `work` for one block of a layer's outputs after the other, with a pause
/// before each. `None` if there are too few rows, or it was stopped.
fn in_slices<const B: usize>(
    layer: &Dense<'_>,
    output: &mut [[f32; B]],
    slices: &Slices<'_>,
    mut work: impl FnMut(&Dense<'_>, &mut [[f32; B]]),
) -> Option<()> {
    let mut rest = output;
    for (block, rows) in layer.blocks() {
        slices.next()?;
        let (own, after) = rest.split_at_mut_checked(rows)?;
        rest = after;
        work(&block, own);
    }
    Some(())
}

/// `output = W input + b`, see [`in_slices`].
fn forward_in_slices<const B: usize>(
    layer: &Dense<'_>,
    input: &[[f32; B]],
    output: &mut [[f32; B]],
    slices: &Slices<'_>,
) -> Option<()> {
    in_slices(layer, output, slices, |layer, output| {
        layer.forward(input, output);
    })
}

/// `input_cotangent = Wᵀ output_cotangent`, see [`in_slices`] and
/// [`Dense::add_back`].
fn pull_back_in_slices<const B: usize>(
    layer: &Dense<'_>,
    rectified: &[[f32; B]],
    output_cotangent: &[[f32; B]],
    input_cotangent: &mut [[f32; B]],
    slices: &Slices<'_>,
) -> Option<()> {
    for row in input_cotangent.iter_mut() {
        *row = [0.0; B];
    }
    let mut rest = output_cotangent;
    for (block, rows) in layer.blocks() {
        slices.next()?;
        let (own, after) = rest.split_at_checked(rows)?;
        rest = after;
        block.add_back(rectified, own, input_cotangent);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_and_derivative_of_a_network_of_one_hidden_unit() -> Result<(), ParameterError> {
        // 2 relu(x) + 1, for two lanes.
        let shape = NetworkShape::new(1, &[1], 1, Activation::Relu)?;
        let tiles = [
            [0.0; 4],
            [1.0, 0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0],
            [2.0, 0.0, 0.0, 0.0],
        ];
        assert_eq!(shape.tiles(), tiles.len());
        assert_eq!((shape.inputs(), shape.outputs()), (1, 1));
        // Rows come in fours, as the outputs of a layer do.
        assert_eq!((shape.hidden_rows(), shape.widest()), (4, 4));
        // At (x − 1) · 2, so that standardisation takes part.
        let network = Perceptrons::new(shape, &tiles, &[1.0], &[2.0])?;
        let mut scratch = vec![[0.0; 2]; network.scratch_rows().unwrap_or(0)];
        let whole = Slices::default();
        let outputs = network.forward(&[[3.0, -1.0]], &[], &mut scratch, &whole);
        assert_eq!(outputs.and_then(|rows| rows.first()), Some(&[9.0, 1.0]));
        let mut gradient = [[0.5; 2]];
        let ones = |outputs: &mut [[f32; 2]]| {
            outputs.fill([0.0; 2]);
            *outputs.first_mut()? = [1.0; 2];
            Some(())
        };
        let cotangents = (&mut gradient[..], &mut [][..]);
        let done = network.pull_back(&mut scratch, ones, cotangents, &Slices::default());
        assert_eq!((done, gradient), (Some(()), [[4.5, 0.5]]));
        assert!(
            network
                .forward(&[[0.0; 2]], &[], &mut scratch[1..], &whole)
                .is_none()
        );
        Ok(())
    }

    #[test]
    fn layers_may_have_activations_of_their_own() -> Result<(), ParameterError> {
        use Activation::{Relu, Silu, Tanh};
        // Three hidden layers of one unit, each with weight 1 and no bias.
        let one = [1.0, 0.0, 0.0, 0.0];
        let tiles = [[0.0; 4], one, [0.0; 4], one, [0.0; 4], one, [0.0; 4], one];
        for order in [[Tanh, Silu, Relu], [Silu, Relu, Tanh], [Relu, Tanh, Silu]] {
            let shape = NetworkShape::mixed(1, order.into_iter().map(|one| (1, one)), 1)?;
            let network = Perceptrons::new(shape, &tiles, &[0.0], &[1.0])?;
            let mut scratch = vec![[0.0; 1]; network.scratch_rows().unwrap_or(0)];
            let mut value = |x: f32| {
                let outputs = network.forward(&[[x]], &[], &mut scratch, &Slices::default());
                outputs
                    .and_then(|rows| rows.first())
                    .map_or(f32::NAN, |row| row[0])
            };
            let wanted = order.iter().fold(0.7, |x, activation| activation.of(x));
            assert!((value(0.7) - wanted).abs() < 1e-6, "{order:?}");
            let slope = (value(0.71) - value(0.69)) / 0.02;
            value(0.7);
            let mut gradient = [[0.0; 1]];
            let ones = |outputs: &mut [[f32; 1]]| {
                *outputs.first_mut()? = [1.0];
                Some(())
            };
            let cotangents = (&mut gradient[..], &mut [][..]);
            let done = network.pull_back(&mut scratch, ones, cotangents, &Slices::default());
            assert!(
                done.is_some() && (gradient[0][0] - slope).abs() < 1e-3,
                "{order:?}"
            );
        }
        Ok(())
    }

    #[test]
    fn a_width_of_zero_is_no_shape() {
        let shape = |hidden: &[u16]| NetworkShape::new(4, hidden, 2, Activation::Tanh);
        assert!(shape(&[64, 64]).is_ok());
        assert_eq!(shape(&[0]), Err(ParameterError::Size("layer")));
        let full = ParameterError::Size("hidden layers");
        assert_eq!(shape(&[1; MAX_HIDDEN_LAYERS + 1]), Err(full));
    }
}
