//! The one kernel for dense layers: a tile of four outputs × `B` lanes.
//!
//! Weights are stored in blocks of four outputs, input-major inside a block
//! (`[[w0, w1, w2, w3]; inputs]`), so that a block is read in one straight
//! run. The sum over the inputs has one order, and each lane is its own sum:
//! the same bits for every `B`.
//!
//! With vectors, inputs and derivatives that are zero in every lane are passed
//! over. A sum that starts from `bias + 0` is never −0, so adding a zero
//! changes no bit.

mod forward;
mod pull_back;

use super::vectors::Vectors;
use crate::pause::{OUTPUTS, WEIGHTS};
use forward::Forward;
use pull_back::PullBack;
pub(super) use pull_back::add_tile;

/// Outputs computed side by side.
pub const TILE: usize = 4;

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

    /// `output = W input + b`. `output` has [`padded`] rows.
    pub fn forward<const B: usize>(&self, input: &[[f32; B]], output: &mut [[f32; B]]) {
        self.forward_through(|y| y, input, output);
    }

    /// `output = f(W input + b)`, where `f` sees the sums while they are still
    /// in registers.
    #[inline(never)] // One copy in flash.
    pub fn forward_through<const B: usize>(
        &self,
        f: impl Fn(f32) -> f32,
        input: &[[f32; B]],
        output: &mut [[f32; B]],
    ) {
        #[cfg(test)]
        crate::pause::work::add(self.weights.as_flattened().len());
        let kernel = Forward {
            layer: *self,
            f,
            input,
            output,
        };
        Vectors::widest().run(kernel);
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
        self.add_back(&[], output_cotangent, input_cotangent);
    }

    /// Adds Wᵀ `output_cotangent` to `input_cotangent`. `values` may be the
    /// inputs, if they come from a rectifier: where one is zero in every lane
    /// its derivative may stay as it is. Else there are none.
    #[inline(never)] // One copy in flash.
    pub(crate) fn add_back<const B: usize>(
        &self,
        values: &[[f32; B]],
        output_cotangent: &[[f32; B]],
        input_cotangent: &mut [[f32; B]],
    ) {
        #[cfg(test)]
        crate::pause::work::add(self.weights.as_flattened().len());
        let kernel = PullBack {
            layer: *self,
            values,
            output_cotangent,
            input_cotangent,
        };
        Vectors::widest().run(kernel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::active::is_zero;
    use crate::arithmetic::random::Stream;

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

    /// Forward and backward with every instruction set, against sums taken
    /// one lane at a time.
    fn same_bits<const B: usize>(inputs: usize, outputs: usize, stream: &mut Stream) {
        let mut tiles = |count: usize| -> Vec<[f32; TILE]> {
            let row = |_| core::array::from_fn(|_| stream.standard_normal());
            (0..count).map(row).collect()
        };
        let numbers = tiles(Dense::tiles(inputs, outputs).unwrap());
        let layer = Dense::new(&numbers, inputs, outputs).unwrap();
        let rows = |tiles: &[[f32; TILE]], count: usize| -> Vec<[f32; B]> {
            let numbers = tiles.as_flattened().iter().copied().cycle();
            let numbers: Vec<f32> = numbers.take(count * B).collect();
            numbers.as_chunks().0.to_vec()
        };
        let (input, cotangent) = (tiles(inputs * B), tiles(outputs * B));
        let mut input = rows(&input, inputs);
        let mut cotangent = rows(&cotangent, padded(outputs));
        // Some are zero, of either sign, in all lanes; some in a few.
        for row in input.iter_mut().chain(&mut cotangent) {
            if stream.index(3) == 0 {
                *row = core::array::from_fn(|_| if stream.index(2) == 0 { 0.0 } else { -0.0 });
            } else if stream.index(4) == 0 {
                row[stream.index(B as u32) as usize] = 0.0;
            }
        }
        let relu = |x: f32| if x > 0.0 { x } else { 0.0 };
        let number =
            |row: usize, column: usize| layer.weights[row / TILE * inputs + column][row % TILE];
        for vectors in Vectors::available() {
            let mut output = vec![[f32::NAN; B]; padded(outputs)];
            vectors.run(Forward {
                layer,
                f: relu,
                input: &input,
                output: &mut output,
            });
            let mut in_blocks = vec![[f32::NAN; B]; padded(outputs)];
            let mut rest = in_blocks.as_mut_slice();
            for (block, rows) in layer.blocks() {
                let (output, after) = rest.split_at_mut(rows);
                block.forward_through(relu, &input, output);
                rest = after;
            }
            assert!(rest.is_empty());
            assert_eq!(in_blocks, output);
            let pull_back = |values: &[[f32; B]]| {
                let mut gradient = vec![[0.0; B]; inputs];
                vectors.run(PullBack {
                    layer,
                    values,
                    output_cotangent: &cotangent,
                    input_cotangent: &mut gradient,
                });
                gradient
            };
            let gradient = pull_back(&[]);
            // The same, but for inputs that are zero.
            for ((found, value), all) in pull_back(&input).iter().zip(&input).zip(&gradient) {
                let left_out = is_zero(&[*value]) && is_zero(&[*found]);
                assert!(left_out || found.map(f32::to_bits) == all.map(f32::to_bits));
            }
            for lane in 0..B {
                for (row, found) in output.iter().enumerate() {
                    let mut sum = layer.bias[row / TILE][row % TILE] + 0.0;
                    for (column, x) in input.iter().enumerate() {
                        sum += number(row, column) * x[lane];
                    }
                    assert_eq!(found[lane].to_bits(), relu(sum).to_bits(), "{vectors:?}");
                }
                for (column, found) in gradient.iter().enumerate() {
                    let mut sum = 0.0_f32;
                    for (row, c) in cotangent.iter().enumerate() {
                        sum += number(row, column) * c[lane];
                    }
                    assert_eq!(found[lane].to_bits(), sum.to_bits(), "{vectors:?}");
                }
            }
        }
    }

    #[test]
    fn bits_are_equal_for_every_instruction_set() {
        let mut stream = Stream::new(0, 0);
        let (cases, largest) = if cfg!(miri) { (1, 5) } else { (40, 70) };
        for _ in 0..cases {
            let mut size = || 1 + stream.index(largest) as usize;
            let (inputs, outputs) = (size(), size());
            same_bits::<1>(inputs, outputs, &mut stream);
            same_bits::<3>(inputs, outputs, &mut stream);
            same_bits::<4>(inputs, outputs, &mut stream);
            same_bits::<8>(inputs, outputs, &mut stream);
            same_bits::<16>(inputs, outputs, &mut stream);
            same_bits::<32>(inputs, outputs, &mut stream);
            same_bits::<64>(inputs, outputs, &mut stream);
        }
    }

    #[test]
    #[cfg_attr(
        miri,
        ignore = "sums of 20,000 weights; smaller ones lean on the same code"
    )]
    fn a_block_has_at_most_the_weights_of_a_slice() {
        let blocks = |inputs: usize, outputs: usize| -> Vec<usize> {
            let tiles = vec![[1.0; TILE]; Dense::tiles(inputs, outputs).unwrap()];
            let layer = Dense::new(&tiles, inputs, outputs).unwrap();
            layer.blocks().map(|(_, rows)| rows).collect()
        };
        assert_eq!(blocks(128, 128), [128]);
        assert_eq!(blocks(129, 126), [124, 4]);
        assert_eq!(blocks(256, 256), [64; 4]);
        assert_eq!(blocks(8, 300), [128, 128, 44]);
        // One tile of outputs is the least.
        assert_eq!(blocks(10_000, 6), [4, 4]);
        // What a block adds to the derivative is what its outputs do.
        let tiles = Vec::from_iter((0..Dense::tiles(300, 70).unwrap()).map(|i| [i as f32; TILE]));
        let layer = Dense::new(&tiles, 300, 70).unwrap();
        let cotangent = Vec::from_iter((0..72).map(|row| [0.1 * row as f32]));
        let (mut whole, mut sum) = ([[0.0]; 300], [[0.0]; 300]);
        layer.pull_back(&cotangent, &mut whole);
        let mut rest = cotangent.as_slice();
        for (block, rows) in layer.blocks() {
            let (own, after) = rest.split_at(rows);
            block.add_back(&[], own, &mut sum);
            rest = after;
        }
        assert_eq!(whole, sum);
    }

    #[test]
    fn refuses_what_does_not_fit() {
        assert!(Dense::new(&tiles()[1..], 3, 5).is_none());
        assert_eq!(Dense::tiles(0, 5), None);
        assert_eq!(Dense::tiles(usize::MAX, 5), None);
    }
}
