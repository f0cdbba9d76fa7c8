//! The product with a lower triangular matrix: the tile of
//! [`dense`](super::dense), without the half of the work that is zero.
//!
//! Rows are stored in blocks of four, column-major inside a block
//! (`[[m0, m1, m2, m3]; columns]`). Block b has the columns 0..4(b + 1); what
//! lies above the diagonal or beyond the last row is zero.
//!
//! The columns are summed in chunks, and then the chunks: with c columns the
//! rounding grows with [`CHUNK`] + c / [`CHUNK`] and not with c.

use super::dense::{TILE, padded};

/// Columns summed in one go, in order.
pub const CHUNK: usize = 8;

/// A lower triangular matrix whose numbers are borrowed.
///
/// ```
/// use hambo_core::arithmetic::triangular::LowerTriangular;
/// // Rows (1, 0) and (2, 3), column by column.
/// let tiles = [[1.0, 2.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0], [0.0; 4], [0.0; 4]];
/// let matrix = LowerTriangular::new(&tiles, 2).ok_or("too few tiles")?;
/// let (input, mut output) = ([[10.0], [1.0], [0.0], [0.0]], [[0.0]; 4]);
/// matrix.multiply(&input, &mut output).ok_or("too few rows")?;
/// assert_eq!(output[..2], [[10.0], [23.0]]);
/// matrix.multiply_transposed(&input, &mut output).ok_or("too few rows")?;
/// assert_eq!(output[..2], [[12.0], [3.0]]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LowerTriangular<'a> {
    tiles: &'a [[f32; TILE]],
    size: usize,
}

impl<'a> LowerTriangular<'a> {
    /// The number of tiles that a matrix with `size` rows takes.
    ///
    /// ```
    /// use hambo_core::arithmetic::triangular::LowerTriangular;
    /// // Rows 0 to 3 have four columns, rows 4 and 5 eight.
    /// assert_eq!(LowerTriangular::tiles(6), Some(4 + 8));
    /// ```
    #[must_use]
    pub fn tiles(size: usize) -> Option<usize> {
        let blocks = size.div_ceil(TILE);
        blocks.checked_mul(blocks.checked_add(1)?)?.checked_mul(2)
    }

    /// A matrix over the first of `tiles`; `None` if there are too few.
    #[must_use]
    pub fn new(tiles: &'a [[f32; TILE]], size: usize) -> Option<Self> {
        let tiles = tiles.get(..Self::tiles(size)?)?;
        Some(Self { tiles, size })
    }

    /// `output = M input`, both with [`padded`] rows. `None` if there are
    /// fewer.
    pub fn multiply<const B: usize>(
        &self,
        input: &[[f32; B]],
        output: &mut [[f32; B]],
    ) -> Option<()> {
        let (tiles, _) = output.get_mut(..padded(self.size))?.as_chunks_mut::<TILE>();
        let mut numbers = self.tiles;
        let mut columns = 0_usize;
        for tile in tiles {
            columns = columns.checked_add(TILE)?;
            let (block, rest) = numbers.split_at_checked(columns)?;
            numbers = rest;
            let (chunks, last) = block.as_chunks::<CHUNK>();
            let (inputs, last_input) = input.get(..columns)?.as_chunks::<CHUNK>();
            let mut totals = [[0.0; B]; TILE];
            for (chunk, input) in chunks.iter().zip(inputs) {
                add_products(chunk, input, &mut totals);
            }
            add_products(last, last_input, &mut totals);
            *tile = totals;
        }
        Some(())
    }

    /// `output = Mᵀ input`, both with [`padded`] rows. `None` if there are
    /// fewer.
    pub fn multiply_transposed<const B: usize>(
        &self,
        input: &[[f32; B]],
        output: &mut [[f32; B]],
    ) -> Option<()> {
        let (tiles, _) = input.get(..padded(self.size))?.as_chunks::<TILE>();
        let output = output.get_mut(..padded(self.size))?;
        for row in output.iter_mut() {
            *row = [0.0; B];
        }
        let mut numbers = self.tiles;
        let mut columns = 0_usize;
        for tile in tiles {
            columns = columns.checked_add(TILE)?;
            let (block, rest) = numbers.split_at_checked(columns)?;
            numbers = rest;
            for (column, sum) in block.iter().zip(output.iter_mut()) {
                for (m, x) in column.iter().zip(tile) {
                    for (s, x) in sum.iter_mut().zip(x) {
                        *s += *m * *x;
                    }
                }
            }
        }
        Some(())
    }
}

/// Sums the columns in order and adds the four sums to the totals.
#[inline(always)]
fn add_products<const B: usize>(
    columns: &[[f32; TILE]],
    input: &[[f32; B]],
    totals: &mut [[f32; B]; TILE],
) {
    let mut sums = [[0.0; B]; TILE];
    for (column, x) in columns.iter().zip(input) {
        for (sum, m) in sums.iter_mut().zip(column) {
            for (s, x) in sum.iter_mut().zip(x) {
                *s += *m * *x;
            }
        }
    }
    for (total, sum) in totals.iter_mut().zip(&sums) {
        for (t, s) in total.iter_mut().zip(sum) {
            *t += *s;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 22;

    fn entry(row: usize, column: usize) -> f32 {
        if row < SIZE && column <= row {
            (1 + row * 3 + column) as f32
        } else {
            0.0
        }
    }

    fn tiles() -> Vec<[f32; TILE]> {
        let blocks = 0..SIZE.div_ceil(TILE);
        let columns = blocks.flat_map(|b| (0..4 * (b + 1)).map(move |c| (b, c)));
        columns
            .map(|(b, c)| core::array::from_fn(|r| entry(4 * b + r, c)))
            .collect()
    }

    #[test]
    fn multiplies_whole_numbers_exactly() {
        let tiles = tiles();
        assert_eq!(LowerTriangular::tiles(SIZE), Some(tiles.len()));
        let matrix = LowerTriangular::new(&tiles, SIZE).unwrap();
        let input: [[f32; 2]; 24] = core::array::from_fn(|i| [i as f32, (i % 5) as f32]);
        let mut output = [[9.0; 2]; 24];
        matrix.multiply(&input, &mut output).unwrap();
        let mut transposed = [[9.0; 2]; 24];
        matrix.multiply_transposed(&input, &mut transposed).unwrap();
        for row in 0..24 {
            for lane in 0..2 {
                let product: f32 = (0..24).map(|c| entry(row, c) * input[c][lane]).sum();
                assert_eq!(output[row][lane], product);
                let product: f32 = (0..24).map(|r| entry(r, row) * input[r][lane]).sum();
                assert_eq!(transposed[row][lane], product);
            }
        }
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let tiles = tiles();
        assert!(LowerTriangular::new(&tiles[1..], SIZE).is_none());
        assert_eq!(LowerTriangular::tiles(usize::MAX), None);
        let matrix = LowerTriangular::new(&tiles, SIZE).unwrap();
        let (short, mut long) = ([[0.0; 1]; 23], [[0.0; 1]; 24]);
        assert!(matrix.multiply(&short, &mut long).is_none());
        assert!(matrix.multiply(&long.clone(), &mut short.clone()).is_none());
        assert!(matrix.multiply_transposed(&short, &mut long).is_none());
    }
}
