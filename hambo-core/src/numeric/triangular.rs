//! The product of a lower triangular matrix with fractions, in integers: for
//! rows whose terms are large and cancel, such as those of M = L⁻¹ in the
//! posterior variance.
//!
//! Row i is stored in units of 2^−q_i, the fractions in units of 2⁻³¹. A sum
//! of 64 bits wraps around, and wrapping addition is exact as long as the
//! result fits, whatever happens on the way; the results of a Gaussian process
//! do fit. A result, in units of 2⁻³¹ again, is rounded to the nearest.
//!
//! Rows are stored in blocks of four, column-major inside a block
//! (`[[m0, m1, m2, m3]; columns]`). Block b has the columns 0..4(b + 1); what
//! lies above the diagonal or beyond the last row is zero.

use super::dense::{TILE, add_tile, padded};
use super::vectors::{LaneLoop, Vectors, lanes, lanes_mut};
use crate::numeric::slices::{Slices, WEIGHTS};

/// The shifts q that rows may have.
pub const SHIFTS: core::ops::RangeInclusive<i32> = 1..=31;

/// A lower triangular matrix of integers, and what is added to each row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LowerTriangular<'a> {
    tiles: &'a [[i32; TILE]],
    shifts: &'a [[i32; TILE]],
    offsets: &'a [[i32; TILE]],
    size: usize,
}

/// Some rows of it that follow one another, in whole blocks of four.
#[derive(Clone, Copy, Debug)]
struct Rows<'a> {
    matrix: LowerTriangular<'a>,
    /// How many fours of rows of the whole matrix are before these.
    fours_before: usize,
}

impl<'a> LowerTriangular<'a> {
    /// The number of tiles that a matrix with `size` rows takes.
    pub fn tiles(size: usize) -> Option<usize> {
        let blocks = size.div_ceil(TILE);
        blocks.checked_mul(blocks.checked_add(1)?)?.checked_mul(2)
    }

    /// A matrix over the first of `tiles`, with the shift q and the offset of
    /// each row; `None` if there are too few.
    pub fn new(
        tiles: &'a [[i32; TILE]],
        shifts: &'a [[i32; TILE]],
        offsets: &'a [[i32; TILE]],
        size: usize,
    ) -> Option<Self> {
        let blocks = size.div_ceil(TILE);
        Some(Self {
            tiles: tiles.get(..Self::tiles(size)?)?,
            shifts: shifts.get(..blocks)?,
            offsets: offsets.get(..blocks)?,
            size,
        })
    }

    /// Whether every shift is one of [`SHIFTS`].
    pub fn has_sound_shifts(&self) -> bool {
        let mut shifts = self.shifts.as_flattened().iter();
        shifts.all(|shift| SHIFTS.contains(shift))
    }

    /// The factor 2^−(q + 31) of each row of a block between its results and
    /// the numbers that [`Self::multiply_transposed`] takes for them.
    pub(crate) fn scales(&self) -> impl Iterator<Item = [f32; TILE]> + use<'a> {
        // The bits of a power of two.
        let scale = |shift: i32| 96_i32.wrapping_sub(shift).cast_unsigned().wrapping_shl(23);
        let shifts = self.shifts.iter();
        shifts.map(move |tile| tile.map(|shift| f32::from_bits(scale(shift))))
    }

    /// `output = M input + offsets`, both with [`padded`] rows of fractions
    /// in units of 2⁻³¹. `None` if there are fewer rows, or a pause stopped the work.
    pub fn multiply<const B: usize>(
        &self,
        input: &[[i32; B]],
        output: &mut [[i32; B]],
        slices: &Slices<'_>,
    ) -> Option<()> {
        let mut output = output.get_mut(..padded(self.size))?;
        for rows in self.blocks() {
            slices.next()?;
            #[cfg(test)]
            crate::numeric::slices::work::add(rows.matrix.tiles.as_flattened().len());
            let (own, rest) = output.split_at_mut_checked(rows.count())?;
            output = rest;
            rows.multiply(input, own)?;
        }
        Some(())
    }

    /// `output = Nᵀ input`, N being the integers themselves, both with
    /// [`padded`] rows. `None` if there are fewer, or a pause stopped the work.
    pub fn multiply_transposed<const B: usize>(
        &self,
        input: &[[f32; B]],
        output: &mut [[f32; B]],
        slices: &Slices<'_>,
    ) -> Option<()> {
        let mut input = input.get(..padded(self.size))?;
        let output = output.get_mut(..padded(self.size))?;
        for row in output.iter_mut() {
            *row = [0.0; B];
        }
        for rows in self.blocks() {
            slices.next()?;
            #[cfg(test)]
            crate::numeric::slices::work::add(rows.matrix.tiles.as_flattened().len());
            let (own, rest) = input.split_at_checked(rows.count())?;
            input = rest;
            rows.add_transposed(own, output)?;
        }
        Some(())
    }

    /// Its rows in blocks, each with work for one slice.
    fn blocks(&self) -> impl Iterator<Item = Rows<'a>> + use<'a> {
        let mut rest = Rows {
            matrix: *self,
            fours_before: 0,
        };
        core::iter::from_fn(move || {
            let (block, after) = rest.split(WEIGHTS)?;
            rest = after;
            Some(block)
        })
    }
}

impl Rows<'_> {
    #[inline(never)] // One copy in flash.
    fn multiply<const B: usize>(self, input: &[[i32; B]], output: &mut [[i32; B]]) -> Option<()> {
        Vectors::widest().run(Multiply {
            rows: self,
            input,
            output,
        })
    }

    #[inline(never)] // One copy in flash.
    fn add_transposed<const B: usize>(
        self,
        input: &[[f32; B]],
        output: &mut [[f32; B]],
    ) -> Option<()> {
        Vectors::widest().run(MultiplyTransposed {
            rows: self,
            input,
            output,
        })
    }

    /// How many there are, with those that fill the last four.
    fn count(&self) -> usize {
        padded(self.matrix.size)
    }

    /// The columns of the fours at this place. That they are a multiple of four lets the
    /// compiler unroll the loop over them.
    #[inline(always)]
    fn columns(&self, place: usize) -> Option<usize> {
        let fours = self.fours_before.checked_add(place)?.checked_add(1)?;
        fours.checked_mul(TILE)
    }

    /// The first rows with at most `numbers` numbers together, four rows at least, and the
    /// others. `None` if there are none.
    fn split(&self, numbers: usize) -> Option<(Self, Self)> {
        let (mut fours, mut tiles) = (0_usize, 0_usize);
        while fours < self.matrix.shifts.len() {
            let columns = self.columns(fours)?;
            let more = tiles.checked_add(columns)?;
            if fours > 0 && more.checked_mul(TILE)? > numbers {
                break;
            }
            (fours, tiles) = (fours.checked_add(1)?, more);
        }
        let rows = fours.checked_mul(TILE)?;
        let (tiles, later_tiles) = self.matrix.tiles.split_at_checked(tiles)?;
        let (shifts, later_shifts) = self.matrix.shifts.split_at_checked(fours)?;
        let (offsets, later_offsets) = self.matrix.offsets.split_at_checked(fours)?;
        let part = |tiles, shifts, offsets, size, fours_before| Self {
            matrix: LowerTriangular {
                tiles,
                shifts,
                offsets,
                size,
            },
            fours_before,
        };
        let size = self.matrix.size.min(rows);
        let later = self.matrix.size.saturating_sub(rows);
        let after = self.fours_before.checked_add(fours)?;
        let first = part(tiles, shifts, offsets, size, self.fours_before);
        let others = part(later_tiles, later_shifts, later_offsets, later, after);
        (fours > 0).then_some((first, others))
    }
}

struct Multiply<'a, const B: usize> {
    rows: Rows<'a>,
    input: &'a [[i32; B]],
    output: &'a mut [[i32; B]],
}

impl<const B: usize> LaneLoop for Multiply<'_, B> {
    type Output = Option<()>;

    #[inline(always)]
    fn run<const GROUP: usize>(self) -> Option<()> {
        // As many sums of 64 bits as the registers hold. A Cortex-M would hold
        // four, but the compiler then puts what it has read on the stack.
        match GROUP {
            32 => self.in_passes::<TILE, 16>(),
            16 => self.in_passes::<TILE, 8>(),
            _ => self.in_passes::<2, 1>(),
        }
    }
}

impl<const B: usize> Multiply<'_, B> {
    /// `ROWS` rows and `LANES` lanes at a time.
    #[inline(always)]
    fn in_passes<const ROWS: usize, const LANES: usize>(self) -> Option<()> {
        let output = self.output.get_mut(..self.rows.count())?;
        let (tiles, _) = output.as_chunks_mut::<TILE>();
        let matrix = self.rows.matrix;
        let mut numbers = matrix.tiles;
        let ends = matrix.shifts.iter().zip(matrix.offsets);
        for (place, (tile, (shifts, offsets))) in tiles.iter_mut().zip(ends).enumerate() {
            let columns = self.rows.columns(place)?;
            let (block, rest) = numbers.split_at_checked(columns)?;
            numbers = rest;
            let input = self.input.get(..columns)?;
            let (parts, _) = tile.as_chunks_mut::<ROWS>();
            let (shifts, _) = shifts.as_chunks::<ROWS>();
            let (offsets, _) = offsets.as_chunks::<ROWS>();
            let ends = shifts.iter().zip(offsets);
            for (part, (rows, (shifts, offsets))) in parts.iter_mut().zip(ends).enumerate() {
                if B > LANES && B.is_multiple_of(LANES) {
                    for group in 0..B / LANES {
                        let sums = sums::<ROWS, LANES, B>(block, part, input, group);
                        for (row, (sums, (shift, offset))) in rows
                            .iter_mut()
                            .zip(sums.iter().zip(shifts.iter().zip(offsets)))
                        {
                            *lanes_mut(row, group)? = fractions(sums, *shift, *offset);
                        }
                    }
                } else {
                    let sums = sums::<ROWS, B, B>(block, part, input, 0);
                    for (row, (sums, (shift, offset))) in rows
                        .iter_mut()
                        .zip(sums.iter().zip(shifts.iter().zip(offsets)))
                    {
                        *row = fractions(sums, *shift, *offset);
                    }
                }
            }
        }
        Some(())
    }
}

/// The sums of one part of a block's rows, over one group of lanes. Columns go by fours, as many
/// as there are: what the compiler makes of it depends on nothing around it.
#[inline(always)]
fn sums<const ROWS: usize, const LANES: usize, const B: usize>(
    block: &[[i32; TILE]],
    part: usize,
    input: &[[i32; B]],
    group: usize,
) -> [[i64; LANES]; ROWS] {
    let mut sums = [[0_i64; LANES]; ROWS];
    let (block, _) = block.as_chunks::<TILE>();
    let (input, _) = input.as_chunks::<TILE>();
    for (columns, rows) in block.iter().zip(input) {
        for (column, row) in columns.iter().zip(rows) {
            let (parts, _) = column.as_chunks::<ROWS>();
            let (Some(column), Some(x)) = (parts.get(part), lanes::<_, B, LANES>(row, group))
            else {
                return sums;
            };
            for (sum, number) in sums.iter_mut().zip(column) {
                let number = i64::from(*number);
                for (sum, x) in sum.iter_mut().zip(x) {
                    *sum = sum.wrapping_add(number.wrapping_mul(i64::from(*x)));
                }
            }
        }
    }
    sums
}

/// Sums in units of 2^−(q + 31) to fractions, rounded to the nearest, and the
/// offset.
#[inline(always)]
fn fractions<const LANES: usize>(sums: &[i64; LANES], shift: i32, offset: i32) -> [i32; LANES] {
    // From 1 to 31: the mask only tells the compiler so.
    let shift = shift.cast_unsigned() & 31;
    let up = 32_u32.wrapping_sub(shift) & 31;
    let half = (1_u32 << 31).wrapping_shr(up);
    sums.map(|sum| {
        let sum = sum.wrapping_add(i64::from(half)).cast_unsigned();
        let (upper, lower) = ((sum >> 32) as u32, sum as u32);
        let fraction = upper.wrapping_shl(up) | lower.wrapping_shr(shift);
        fraction.cast_signed().wrapping_add(offset)
    })
}

/// Adds Nᵀ `input` of some rows.
struct MultiplyTransposed<'a, const B: usize> {
    rows: Rows<'a>,
    input: &'a [[f32; B]],
    output: &'a mut [[f32; B]],
}

impl<const B: usize> LaneLoop for MultiplyTransposed<'_, B> {
    type Output = Option<()>;

    #[inline(always)]
    fn run<const GROUP: usize>(self) -> Option<()> {
        let (tiles, _) = self.input.get(..self.rows.count())?.as_chunks::<TILE>();
        let output = self.output;
        let mut numbers = self.rows.matrix.tiles;
        for (place, tile) in tiles.iter().enumerate() {
            let columns = self.rows.columns(place)?;
            let (block, rest) = numbers.split_at_checked(columns)?;
            numbers = rest;
            for (column, row) in block.iter().zip(output.iter_mut()) {
                let column = column.map(|number| number as f32);
                add_tile::<GROUP, B>(&[column], tile, core::slice::from_mut(row));
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
