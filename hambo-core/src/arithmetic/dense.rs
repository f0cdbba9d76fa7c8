//! The one kernel for dense layers: a tile of four outputs × `B` lanes.
//!
//! Weights are stored in blocks of four outputs, input-major inside a block
//! (`[[w0, w1, w2, w3]; inputs]`), so that a block is read in one straight
//! run. The sum over the inputs has one order, and each lane is its own sum:
//! the same bits for every `B`.

/// Outputs computed side by side.
pub const TILE: usize = 4;

/// The number of rows that hold `n` outputs: the next multiple of [`TILE`].
#[must_use]
pub const fn padded(n: usize) -> usize {
    n.div_ceil(TILE).saturating_mul(TILE)
}

/// An affine layer `W x + b` whose weights are borrowed, on the device from
/// flash.
#[derive(Clone, Copy, Debug)]
pub struct Dense<'a> {
    bias: &'a [[f32; TILE]],
    weights: &'a [[f32; TILE]],
    inputs: usize,
}

impl<'a> Dense<'a> {
    /// The number of tiles that a layer takes in the arena.
    #[must_use]
    pub fn tiles(inputs: usize, outputs: usize) -> Option<usize> {
        outputs
            .div_ceil(TILE)
            .checked_mul(inputs.checked_add(1)?)
            .filter(|_| inputs > 0 && outputs > 0)
    }

    /// A layer over `tiles`: first one bias tile for each block of outputs,
    /// then the blocks. `None` if there are too few tiles.
    #[must_use]
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

    /// `output = W input + b`. `output` has [`padded`] rows.
    pub fn forward<const B: usize>(&self, input: &[[f32; B]], output: &mut [[f32; B]]) {
        let mut weights = self.weights;
        let (tiles, _) = output.as_chunks_mut::<TILE>();
        for (bias, tile) in self.bias.iter().zip(tiles) {
            let Some((block, rest)) = weights.split_at_checked(self.inputs) else {
                return;
            };
            weights = rest;
            let mut sums = bias.map(|b| [b; B]);
            for (weight, x) in block.iter().zip(input) {
                for (sum, w) in sums.iter_mut().zip(weight) {
                    for (s, x) in sum.iter_mut().zip(x) {
                        *s += *w * *x;
                    }
                }
            }
            *tile = sums;
        }
    }

    /// `input_cotangent = Wᵀ output_cotangent`: the derivative of
    /// [`Self::forward`], transposed.
    pub fn pull_back<const B: usize>(
        &self,
        output_cotangent: &[[f32; B]],
        input_cotangent: &mut [[f32; B]],
    ) {
        for row in input_cotangent.iter_mut() {
            *row = [0.0; B];
        }
        let mut weights = self.weights;
        let (tiles, _) = output_cotangent.as_chunks::<TILE>();
        for tile in tiles {
            let Some((block, rest)) = weights.split_at_checked(self.inputs) else {
                return;
            };
            weights = rest;
            for (weight, sum) in block.iter().zip(input_cotangent.iter_mut()) {
                for (w, c) in weight.iter().zip(tile) {
                    for (s, c) in sum.iter_mut().zip(c) {
                        *s += *w * *c;
                    }
                }
            }
        }
    }
}
