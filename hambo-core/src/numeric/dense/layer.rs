//! The weights of a dense layer, and its blocks of outputs.

use crate::numeric::checksum::Checksum;
use crate::numeric::slices::{OUTPUTS, WEIGHTS};

/// Outputs computed side by side.
pub const TILE: usize = 4;

/// The number of rows that hold `n` outputs: the next multiple of [`TILE`].
///
/// ```
/// use hambo_core::numeric::dense::padded;
/// assert_eq!([0, 1, 4, 5].map(padded), [0, 4, 4, 8]);
/// ```
pub const fn padded(n: usize) -> usize {
    n.div_ceil(TILE).saturating_mul(TILE)
}

/// An affine layer `W x + b` whose weights are borrowed, on the device from
/// flash.
///
/// ```
/// use hambo_core::numeric::dense::Dense;
/// // One output of two inputs: 2 x + 3 y + 1, in a tile of four.
/// let tiles = [[1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]];
/// assert_eq!(Dense::tiles(2, 1), Some(tiles.len()));
/// let layer = Dense::new(&tiles, 2, 1).ok_or("too few tiles")?;
/// let mut output = [[0.0]; 4];
/// layer.forward(&[[10.0], [100.0]], &mut output);
/// assert_eq!(output[0], [321.0]);
/// let mut gradient = [[0.0]; 2];
/// layer.pull_back(&[[1.0], [0.0], [0.0], [0.0]], &mut gradient);
/// assert_eq!(gradient, [[2.0], [3.0]]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Dense<'a> {
    pub(super) bias: &'a [[f32; TILE]],
    pub(super) weights: &'a [[f32; TILE]],
    pub(super) inputs: usize,
}

impl<'a> Dense<'a> {
    /// Adds sizes, and where the numbers lie.
    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            bias,
            weights,
            inputs,
        } = self;
        sum.place(*bias);
        sum.place(*weights);
        sum.value(inputs);
    }

    /// The number of tiles that a layer takes in the arena.
    pub fn tiles(inputs: usize, outputs: usize) -> Option<usize> {
        outputs
            .div_ceil(TILE)
            .checked_mul(inputs.checked_add(1)?)
            .filter(|_| inputs > 0 && outputs > 0)
    }

    /// A layer over `tiles`: first one bias tile for each block of outputs,
    /// then the blocks. `None` if there are too few tiles.
    pub fn new(tiles: &'a [[f32; TILE]], inputs: usize, outputs: usize) -> Option<Self> {
        let needed = Self::tiles(inputs, outputs)?;
        let (bias, weights) = tiles
            .get(..needed)?
            .split_at_checked(outputs.div_ceil(TILE))?;
        Some(Self {
            bias,
            weights,
            inputs,
        })
    }

    /// The layer's outputs in blocks, each with work for one slice: a layer for each, and
    /// its rows.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (Self, usize)> + use<'a> {
        let most = WEIGHTS.checked_div(self.inputs).unwrap_or(0).min(OUTPUTS);
        let mut rest = *self;
        core::iter::from_fn(move || {
            let tiles = (most / TILE).min(rest.bias.len()).max(1);
            let (bias, later_bias) = rest.bias.split_at_checked(tiles)?;
            let weights = tiles.checked_mul(rest.inputs)?;
            let (weights, later_weights) = rest.weights.split_at_checked(weights)?;
            let block = Self {
                bias,
                weights,
                ..rest
            };
            (rest.bias, rest.weights) = (later_bias, later_weights);
            Some((block, tiles.checked_mul(TILE)?))
        })
    }
}
