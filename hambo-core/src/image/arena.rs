//! Numbers borrowed from a part, without copying them.

use super::Problem;
use crate::arithmetic::dense::TILE;

/// Takes runs of numbers off an arena, each padded to whole tiles of four.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArenaReader<'a> {
    tiles: &'a [[f32; TILE]],
}

impl<'a> ArenaReader<'a> {
    /// Looks at bytes as numbers.
    ///
    /// # Errors
    /// If they are not aligned, not whole tiles, or not all finite or
    /// infinite: no NaN is ever stored.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Problem> {
        let tiles: &[[f32; TILE]] = bytemuck::try_cast_slice(bytes).map_err(|_| Problem::Arena)?;
        if tiles.iter().flatten().any(|x| x.is_nan()) {
            return Err(Problem::Number);
        }
        Ok(Self { tiles })
    }

    /// The next `count` tiles.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn take_tiles(&mut self, count: usize) -> Result<&'a [[f32; TILE]], Problem> {
        let (taken, rest) = self.tiles.split_at_checked(count).ok_or(Problem::Arena)?;
        self.tiles = rest;
        Ok(taken)
    }

    /// The next `count` numbers; their tiles' padding is skipped.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn take(&mut self, count: usize) -> Result<&'a [f32], Problem> {
        let tiles = self.take_tiles(count.div_ceil(TILE))?;
        tiles.as_flattened().get(..count).ok_or(Problem::Arena)
    }

    /// Likewise, and each must be finite.
    ///
    /// # Errors
    /// If there are fewer, or one is infinite.
    pub fn take_finite(&mut self, count: usize) -> Result<&'a [f32], Problem> {
        let numbers = self.take(count)?;
        if numbers.iter().all(|x| x.is_finite()) {
            Ok(numbers)
        } else {
            Err(Problem::Number)
        }
    }

    /// Nothing may be left.
    ///
    /// # Errors
    /// If something is.
    pub fn finish(self) -> Result<(), Problem> {
        if self.tiles.is_empty() {
            Ok(())
        } else {
            Err(Problem::Arena)
        }
    }
}
