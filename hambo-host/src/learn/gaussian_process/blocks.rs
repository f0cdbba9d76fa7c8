//! Lower triangular matrices in the core's order: blocks of four rows,
//! column-major inside a block, block b with the columns 0..4(b + 1).

use hambo_core::arithmetic::dense::TILE;

/// The numbers of a matrix with so many rows; `entry` gives what stands in a
/// row up to its diagonal. The rest of a block is zero.
pub(super) fn lower_blocks<T: Default>(
    rows: usize,
    entry: impl Fn(usize, usize) -> Option<T>,
) -> Vec<T> {
    let blocks = 0..rows.div_ceil(TILE);
    let columns = blocks.flat_map(|block| (0..(block + 1) * TILE).map(move |c| (block, c)));
    let places = columns.flat_map(|(block, c)| (0..TILE).map(move |r| (block * TILE + r, c)));
    places
        .map(|(row, column)| entry(row, column).unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_the_core_reads_them() {
        let rows = [
            vec![1],
            vec![2, 3],
            vec![4, 5, 6],
            vec![7, 8, 9, 10],
            vec![11],
        ];
        let found = lower_blocks(5, |row, column| rows.get(row)?.get(column).copied());
        let mut expected = vec![1, 2, 4, 7, 0, 3, 5, 8, 0, 0, 6, 9, 0, 0, 0, 10, 11];
        expected.resize(16 + 32, 0);
        assert_eq!(found, expected);
    }
}
