//! Against exact sums, and what does not fit.

use super::*;
use crate::numeric::random::Stream;

/// Numbers of every size, so that sums leave their range on the way.
fn number(stream: &mut Stream) -> i32 {
    let bits = (stream.index(1 << 16) << 16) | stream.index(1 << 16);
    bits.cast_signed() >> stream.index(31)
}

struct Numbers {
    tiles: Vec<[i32; TILE]>,
    shifts: Vec<[i32; TILE]>,
    offsets: Vec<[i32; TILE]>,
}

impl Numbers {
    fn new(size: usize, stream: &mut Stream) -> Self {
        let blocks = size.div_ceil(TILE);
        let mut tile = |shift: bool| {
            core::array::from_fn(|_| {
                if shift {
                    1 + stream.index(31).cast_signed()
                } else {
                    number(stream)
                }
            })
        };
        let count = LowerTriangular::tiles(size).unwrap();
        Self {
            tiles: (0..count).map(|_| tile(false)).collect(),
            shifts: (0..blocks).map(|_| tile(true)).collect(),
            offsets: (0..blocks).map(|_| tile(false)).collect(),
        }
    }

    fn matrix(&self, size: usize) -> LowerTriangular<'_> {
        LowerTriangular::new(&self.tiles, &self.shifts, &self.offsets, size).unwrap()
    }
}

/// Row by row in 128 bits.
fn exact(numbers: &Numbers, row: usize, input: &[i128]) -> i32 {
    let (block, within) = (row / TILE, row % TILE);
    let first = LowerTriangular::tiles(TILE * block).unwrap();
    let columns = &numbers.tiles[first..][..TILE * (block + 1)];
    let products = columns.iter().zip(input);
    let sum: i128 = products
        .map(|(column, x)| i128::from(column[within]) * x)
        .sum();
    let shift = numbers.shifts[block][within];
    let rounded = (sum + (1 << (shift - 1))) >> shift;
    let offset = numbers.offsets[block][within];
    // What is left of it in 32 bits.
    (rounded + i128::from(offset)) as i32
}

fn agrees<const B: usize>(size: usize, stream: &mut Stream) {
    let numbers = Numbers::new(size, stream);
    let matrix = numbers.matrix(size);
    assert!(matrix.has_sound_shifts());
    let rows = padded(size);
    let mut fraction = || number(stream) & i32::MAX;
    let input: Vec<[i32; B]> = (0..rows)
        .map(|_| core::array::from_fn(|_| fraction()))
        .collect();
    let cotangent: Vec<[f32; B]> = (0..rows)
        .map(|_| core::array::from_fn(|_| stream.standard_normal()))
        .collect();
    for vectors in Vectors::available() {
        let mut output = vec![[0; B]; rows];
        let whole = Rows {
            matrix,
            fours_before: 0,
        };
        vectors.run(Multiply {
            rows: whole,
            input: &input,
            output: &mut output,
        });
        let mut transposed = vec![[0.0; B]; rows];
        vectors.run(MultiplyTransposed {
            rows: whole,
            input: &cotangent,
            output: &mut transposed,
        });
        // And in blocks of any size.
        for numbers in [0, 100, 1000] {
            let (mut product, mut sums) = (vec![[0; B]; rows], vec![[0.0; B]; rows]);
            let (mut rest, mut first) = (whole, 0);
            while let Some((block, after)) = rest.split(numbers) {
                let own = first..first + block.count();
                vectors.run(Multiply {
                    rows: block,
                    input: &input,
                    output: &mut product[own.clone()],
                });
                vectors.run(MultiplyTransposed {
                    rows: block,
                    input: &cotangent[own.clone()],
                    output: &mut sums,
                });
                (rest, first) = (after, own.end);
            }
            assert_eq!((product, sums), (output.clone(), transposed.clone()));
        }
        for lane in 0..B {
            let alone: Vec<i128> = input.iter().map(|row| i128::from(row[lane])).collect();
            for (row, found) in output.iter().enumerate() {
                let expected = exact(&numbers, row, &alone);
                assert_eq!(found[lane], expected, "{vectors:?} {size} {row}");
            }
            let alone: Vec<[f32; 1]> = cotangent.iter().map(|row| [row[lane]]).collect();
            let mut expected = vec![[0.0; 1]; rows];
            Vectors::Plain.run(MultiplyTransposed {
                rows: whole,
                input: &alone,
                output: &mut expected,
            });
            for (found, [expected]) in transposed.iter().zip(expected) {
                assert_eq!(found[lane].to_bits(), expected.to_bits(), "{vectors:?}");
            }
        }
    }
}

#[test]
fn products_are_exact_with_all_vectors() {
    let mut stream = Stream::new(7, 0);
    let sizes: &[usize] = if cfg!(miri) { &[5] } else { &[1, 4, 5, 22, 67] };
    for size in sizes {
        agrees::<1>(*size, &mut stream);
        agrees::<3>(*size, &mut stream);
        agrees::<4>(*size, &mut stream);
        if !cfg!(miri) {
            agrees::<32>(*size, &mut stream);
        }
    }
}

#[test]
fn a_block_has_at_most_the_numbers_of_a_slice() {
    let blocks = |size: usize| -> Vec<usize> {
        let tiles = vec![[0; TILE]; LowerTriangular::tiles(size).unwrap()];
        let fours = vec![[1; TILE]; size.div_ceil(TILE)];
        let matrix = LowerTriangular::new(&tiles, &fours, &fours, size).unwrap();
        let blocks: Vec<_> = matrix.blocks().collect();
        let numbers = blocks.iter().map(|rows| rows.matrix.tiles.len() * TILE);
        assert!(numbers.clone().all(|numbers| numbers <= WEIGHTS));
        assert_eq!(numbers.sum::<usize>(), tiles.len() * TILE);
        blocks.iter().map(|rows| rows.matrix.size).collect()
    };
    assert_eq!(blocks(3), [3]);
    assert_eq!(blocks(200), [176, 24]);
    assert_eq!(blocks(401), [176, 72, 56, 48, 40, 9]);
}

#[test]
fn scales_are_the_units_of_the_rows() {
    let shifts = [[1, 5, 30, 31]];
    let matrix = LowerTriangular::new(&[[0; 4]; 4], &shifts, &[[0; 4]], 4);
    let scales = matrix.unwrap().scales().next().unwrap();
    for (scale, shift) in scales.iter().zip([1, 5, 30, 31]) {
        assert_eq!(*scale, 1.0 / (1_u64 << (shift + 31)) as f32);
    }
}

#[test]
fn refuses_what_does_not_fit() {
    let (tiles, row) = ([[0; 4]; 12], [[1; 4]; 2]);
    assert!(LowerTriangular::new(&tiles[1..], &row, &row, 6).is_none());
    assert!(LowerTriangular::new(&tiles, &row[1..], &row, 6).is_none());
    assert_eq!(LowerTriangular::tiles(usize::MAX), None);
    let matrix = LowerTriangular::new(&tiles, &row, &row, 6).unwrap();
    let whole = Slices::default();
    for (inputs, outputs) in [(7, 8), (8, 7)] {
        let (input, mut output) = (vec![[0; 1]; inputs], vec![[0; 1]; outputs]);
        assert!(matrix.multiply(&input, &mut output, &whole).is_none());
    }
    let mut output = [[0.0; 1]; 8];
    let short = matrix.multiply_transposed(&[[0.0; 1]; 7], &mut output, &whole);
    assert!(short.is_none());
    for shift in [0, 32, -1, i32::MIN] {
        let shifts = [[shift; 4]; 2];
        let matrix = LowerTriangular::new(&tiles, &shifts, &row, 6).unwrap();
        assert!(!matrix.has_sound_shifts());
    }
}
