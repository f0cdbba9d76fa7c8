//! Numbers as wide as in the file, in rows of some columns.

use std::borrow::Cow;
use std::ops::Range;

/// Numbers as wide as in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// `f32`, and integers that fit.
    Single(Vec<f32>),
    /// `f64`, and longer integers.
    Double(Vec<f64>),
}

impl Numbers {
    /// The count of numbers.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Single(numbers) => numbers.len(),
            Self::Double(numbers) => numbers.len(),
        }
    }

    /// Whether there are no numbers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at this place; NaN beyond the end.
    #[must_use]
    pub fn at(&self, index: usize) -> f64 {
        match self {
            Self::Single(numbers) => numbers.get(index).map_or(f64::NAN, |x| f64::from(*x)),
            Self::Double(numbers) => numbers.get(index).copied().unwrap_or(f64::NAN),
        }
    }

    /// Replaces the number at this place; none beyond the end.
    #[cfg(feature = "parquet")]
    pub(crate) fn set(&mut self, index: usize, number: f64) {
        match self {
            Self::Single(numbers) => {
                if let Some(cell) = numbers.get_mut(index) {
                    *cell = number as f32;
                }
            }
            Self::Double(numbers) => {
                if let Some(cell) = numbers.get_mut(index) {
                    *cell = number;
                }
            }
        }
    }

    /// The bytes of all numbers, as files hold them.
    pub(crate) fn little_endian(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Single(numbers) if cfg!(target_endian = "little") => {
                Cow::Borrowed(bytemuck::cast_slice(numbers))
            }
            Self::Double(numbers) if cfg!(target_endian = "little") => {
                Cow::Borrowed(bytemuck::cast_slice(numbers))
            }
            Self::Single(numbers) => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::Double(numbers) => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    /// Those of a range; none beyond the end.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::Single(all) => Self::Single(all.get(range).unwrap_or_default().to_vec()),
            Self::Double(all) => Self::Double(all.get(range).unwrap_or_default().to_vec()),
        }
    }

    /// Adds others; all become f64 with the first that are.
    pub(crate) fn append(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Single(numbers), Self::Single(more)) => numbers.extend(more),
            (Self::Double(numbers), Self::Double(more)) => numbers.extend(more),
            (Self::Double(numbers), Self::Single(more)) => {
                numbers.extend(more.into_iter().map(f64::from));
            }
            (Self::Single(numbers), Self::Double(more)) => {
                let mut wide: Vec<f64> = numbers.iter().copied().map(f64::from).collect();
                wide.extend(more);
                *self = Self::Double(wide);
            }
        }
    }
}

/// Some columns of a table, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    columns: usize,
    numbers: Numbers,
}

impl Block {
    /// Numbers in rows of `columns`; what does not fill a row is left out.
    #[must_use]
    pub fn new(columns: usize, numbers: Numbers) -> Self {
        Self { columns, numbers }
    }

    /// The count of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.numbers.len().checked_div(self.columns).unwrap_or(0)
    }

    /// The count of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All numbers, row by row.
    #[must_use]
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// One number.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.numbers.at(row * self.columns + column)
    }

    /// Adds the rows of another block with as many columns.
    pub(crate) fn append(&mut self, other: Self) {
        self.numbers.append(other.numbers);
    }

    /// A range of rows.
    pub(crate) fn slice(&self, rows: Range<usize>) -> Self {
        let range = rows.start * self.columns..rows.end * self.columns;
        Self::new(self.columns, self.numbers.slice(range))
    }

    /// One row, in f32 as a log holds it.
    pub(crate) fn row(&self, row: usize) -> Vec<f32> {
        let columns = 0..self.columns;
        columns.map(|column| self.at(row, column) as f32).collect()
    }

    /// Whether a row equals a row of another block.
    pub(crate) fn same_row(&self, row: usize, other: &Self, other_row: usize) -> bool {
        (0..self.columns).all(|column| self.at(row, column) == other.at(other_row, column))
    }

    /// The first number that a log refuses: NaN, or infinite once it is f32.
    pub(crate) fn first_bad(&self) -> Option<(usize, usize)> {
        let index = match &self.numbers {
            Numbers::Single(numbers) => {
                const PIECE: usize = 4096;
                let piece = numbers.chunks(PIECE).position(|piece| !all_finite(piece));
                let start = piece.map(|piece| piece * PIECE);
                start.and_then(|start| {
                    let mut rest = numbers.iter().skip(start);
                    Some(start + rest.position(|x| !x.is_finite())?)
                })
            }
            Numbers::Double(numbers) => numbers.iter().position(|x| !(*x as f32).is_finite()),
        }?;
        Some((index / self.columns.max(1), index % self.columns.max(1)))
    }
}

/// Whether no number is NaN or infinite, many numbers at a time.
pub(crate) fn all_finite(numbers: &[f32]) -> bool {
    let bits = numbers.iter().map(|x| x.to_bits() & 0x7fff_ffff);
    // That of infinity; NaN is above it.
    bits.fold(0, u32::max) < 0x7f80_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_number_is_found_wherever_it_is() {
        for place in [0, 4095, 4096, 9999] {
            for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut numbers = vec![f32::MAX; 10_000];
                assert_eq!(
                    Block::new(2, Numbers::Single(numbers.clone())).first_bad(),
                    None
                );
                numbers[place] = bad;
                let block = Block::new(2, Numbers::Single(numbers));
                assert_eq!(block.first_bad(), Some((place / 2, place % 2)));
            }
        }
    }
}
