//! Numbers borrowed from a part, without copying them.

use super::error::Problem;
use crate::numeric::dense::TILE;

/// The lengths of a model part's runs.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub features: usize,
    /// dx: the features and the action.
    pub inputs: usize,
    pub outputs: usize,
}

/// Takes runs of numbers off an arena, each padded to whole tiles of four.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArenaReader<'a> {
    tiles: &'a [[f32; TILE]],
}

impl<'a> ArenaReader<'a> {
    /// Looks at bytes as numbers.
    ///
    /// # Errors
    /// If they are not aligned or not whole tiles.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Problem> {
        let tiles = bytemuck::try_cast_slice(bytes).map_err(|_| Problem::Arena)?;
        Ok(Self { tiles })
    }

    /// The next `count` tiles, whatever they hold: integers have the bits of
    /// any f32.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn take_tiles(&mut self, count: usize) -> Result<&'a [[f32; TILE]], Problem> {
        let (taken, rest) = self.tiles.split_at_checked(count).ok_or(Problem::Arena)?;
        self.tiles = rest;
        Ok(taken)
    }

    /// The next `count` tiles of finite numbers.
    ///
    /// # Errors
    /// If there are fewer, or one is not finite.
    pub fn take_finite_tiles(&mut self, count: usize) -> Result<&'a [[f32; TILE]], Problem> {
        let tiles = self.take_tiles(count)?;
        Problem::Number.unless(tiles.iter().flatten().all(|x| x.is_finite()))?;
        Ok(tiles)
    }

    /// The next `count` numbers; their tiles' padding is skipped.
    ///
    /// # Errors
    /// If there are fewer, or one is NaN, be it in the padding.
    pub fn take(&mut self, count: usize) -> Result<&'a [f32], Problem> {
        let tiles = self.take_tiles(count.div_ceil(TILE))?;
        Problem::Number.unless(!tiles.iter().flatten().any(|x| x.is_nan()))?;
        tiles.as_flattened().get(..count).ok_or(Problem::Arena)
    }

    /// The next `count` numbers, each of them finite.
    ///
    /// # Errors
    /// If there are fewer, or one is infinite.
    pub fn take_finite(&mut self, count: usize) -> Result<&'a [f32], Problem> {
        let numbers = self.take(count)?;
        Problem::Number.unless(numbers.iter().all(|x| x.is_finite()))?;
        Ok(numbers)
    }

    /// The next `count` numbers, each finite and greater than 0.
    ///
    /// # Errors
    /// If there are fewer, or one is not.
    pub fn take_positive(&mut self, count: usize) -> Result<&'a [f32], Problem> {
        let numbers = self.take_finite(count)?;
        Problem::Number.unless(numbers.iter().all(|x| *x > 0.0))?;
        Ok(numbers)
    }

    /// Nothing may be left.
    ///
    /// # Errors
    /// If something is.
    pub fn finish(self) -> Result<(), Problem> {
        Problem::Arena.unless(self.tiles.is_empty())
    }
}
