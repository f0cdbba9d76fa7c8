//! Dense layers by hand, and with every instruction set against plain sums.
use super::active::is_zero;
use super::forward::Forward;
use super::layer::{Dense, TILE, padded};
use super::pull_back::PullBack;
use crate::numeric::random::Stream;
use crate::numeric::vectors::Vectors;

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
