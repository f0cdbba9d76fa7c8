//! The one kernel for dense layers: a tile of four outputs × `B` lanes.
//!
//! Weights are stored in blocks of four outputs, input-major inside a block
//! (`[[w0, w1, w2, w3]; inputs]`), so that a block is read in one straight
//! run. The sum over the inputs has one order, and each lane is its own sum:
//! the same bits for every `B`.

/// Outputs computed side by side.
pub const TILE: usize = 4;

/// Lanes of a tile that are summed together when there are more: sums of more
/// lanes do not fit the registers, and the compiler gives up on vectors.
const GROUP: usize = 8;

/// The number of rows that hold `n` outputs: the next multiple of [`TILE`].
///
/// ```
/// use hambo_core::arithmetic::dense::padded;
/// assert_eq!([0, 1, 4, 5].map(padded), [0, 4, 4, 8]);
/// ```
#[must_use]
pub const fn padded(n: usize) -> usize {
    n.div_ceil(TILE).saturating_mul(TILE)
}

/// An affine layer `W x + b` whose weights are borrowed, on the device from
/// flash.
///
/// ```
/// use hambo_core::arithmetic::dense::Dense;
/// // One output of two inputs: 2 x + 3 y + 1, in a tile of four.
/// let tiles = [[1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]];
/// assert_eq!(Dense::tiles(2, 1), Some(tiles.len()));
/// let layer = Dense::new(&tiles, 2, 1).ok_or("too few tiles")?;
/// let mut output = [[0.0]; 4];
/// layer.forward(&[[10.0], [100.0]], &mut output);
/// assert_eq!(output[0], [321.0]);
/// layer.forward_through(|y| -y, &[[10.0], [100.0]], &mut output);
/// assert_eq!(output[0], [-321.0]);
/// let mut gradient = [[0.0]; 2];
/// layer.pull_back(&[[1.0], [0.0], [0.0], [0.0]], &mut gradient);
/// assert_eq!(gradient, [[2.0], [3.0]]);
/// # Ok::<(), &str>(())
/// ```
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
        self.forward_through(|y| y, input, output);
    }

    /// `output = f(W input + b)`, where `f` sees the sums while they are still
    /// in registers.
    pub fn forward_through<const B: usize>(
        &self,
        f: impl Fn(f32) -> f32,
        input: &[[f32; B]],
        output: &mut [[f32; B]],
    ) {
        let mut weights = self.weights;
        let (tiles, _) = output.as_chunks_mut::<TILE>();
        for (bias, tile) in self.bias.iter().zip(tiles) {
            let Some((block, rest)) = weights.split_at_checked(self.inputs) else {
                return;
            };
            weights = rest;
            if B > GROUP && B.is_multiple_of(GROUP) {
                for group in 0..B / GROUP {
                    let x = input.iter().filter_map(|row| row.as_chunks().0.get(group));
                    let sums: [[f32; GROUP]; TILE] = sums(bias, block, x);
                    for (row, sum) in tile.iter_mut().zip(sums) {
                        if let Some(row) = row.as_chunks_mut().0.get_mut(group) {
                            *row = sum.map(&f);
                        }
                    }
                }
            } else {
                *tile = sums(bias, block, input.iter()).map(|sum| sum.map(&f));
            }
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

/// Bias plus weights times inputs, for one tile of outputs and `G` lanes. The
/// compiler takes two inputs at a time; three or more, unrolled by hand, need
/// more registers than a Cortex-M4F has.
#[inline(always)]
fn sums<'x, const G: usize>(
    bias: &[f32; TILE],
    block: &[[f32; TILE]],
    input: impl Iterator<Item = &'x [f32; G]>,
) -> [[f32; G]; TILE] {
    let mut sums = bias.map(|b| [b; G]);
    for (weight, x) in block.iter().zip(input) {
        for (sum, w) in sums.iter_mut().zip(weight) {
            for (s, x) in sum.iter_mut().zip(x) {
                *s += *w * *x;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 5 outputs of 3 inputs, w[o][i] = 10 o + i, bias 100 o.
    fn tiles() -> Vec<[f32; TILE]> {
        let number = |o: usize, x: usize| if o < 5 { x as f32 } else { 0.0 };
        let tile = |block: usize, f: &dyn Fn(usize) -> usize| {
            core::array::from_fn(|r| number(4 * block + r, f(4 * block + r)))
        };
        let mut tiles: Vec<_> = (0..2).map(|block| tile(block, &|o| 100 * o)).collect();
        for block in 0..2 {
            tiles.extend((0..3).map(|i| tile(block, &move |o| 10 * o + i)));
        }
        tiles
    }

    #[test]
    fn multiplies_by_hand() {
        let tiles = tiles();
        assert_eq!(Dense::tiles(3, 5), Some(tiles.len()));
        let layer = Dense::new(&tiles, 3, 5).unwrap();
        let mut output = [[0.0; 2]; 8];
        layer.forward(&[[1.0, 0.0], [2.0, 0.0], [3.0, 1.0]], &mut output);
        // Output 4: 400 + 40·1 + 41·2 + 42·3 = 648 in lane 0; 400 + 42 in lane 1.
        assert_eq!(output[4], [648.0, 442.0]);
        assert_eq!(output[5], [0.0, 0.0]);
        let mut input = [[9.0; 2]; 3];
        let mut cotangent = [[0.0; 2]; 8];
        cotangent[1] = [1.0, 0.0];
        cotangent[4] = [1.0, 2.0];
        layer.pull_back(&cotangent, &mut input);
        assert_eq!(input, [[50.0, 80.0], [52.0, 82.0], [54.0, 84.0]]);
    }

    #[test]
    fn refuses_what_does_not_fit() {
        assert!(Dense::new(&tiles()[1..], 3, 5).is_none());
        assert_eq!(Dense::tiles(0, 5), None);
        assert_eq!(Dense::tiles(usize::MAX, 5), None);
    }
}
