//! Seeded random numbers of the host, all of them from the core's [`Stream`]: weights at
//! first, minibatches, exploration, the order of a shuffle.

use hambo_core::numeric::random::Stream;

/// A seeded source of numbers that knows how far it is, so that work can go on from a
/// checkpoint.
#[derive(Clone, Debug)]
pub struct Random {
    stream: Stream,
    draws: u64,
}

impl Random {
    /// A stream of its own for each user of a seed: what a member draws does not depend
    /// on how many others there are, nor on the thread that trains it.
    #[must_use]
    pub fn new(seed: u64, stream: u32) -> Self {
        Self::at(seed, stream, 0)
    }

    /// The same stream after `draws` draws.
    #[must_use]
    pub fn at(seed: u64, stream: u32, draws: u64) -> Self {
        // Trajectories count their streams from 0 up, so these count down: under one
        // seed the noise of an episode is not that of the weights.
        let mut stream = Stream::new(seed, u32::MAX - stream);
        stream.skip(draws);
        Self { stream, draws }
    }

    /// Numbers drawn so far.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// Strictly between 0 and 1.
    pub fn uniform(&mut self) -> f32 {
        self.draws = self.draws.wrapping_add(1);
        self.stream.uniform()
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f32 {
        self.draws = self.draws.wrapping_add(1);
        self.stream.standard_normal()
    }

    /// A place below `count`, which must fit 32 bits; 0 for a `count` of 0.
    pub fn index(&mut self, count: usize) -> usize {
        self.draws = self.draws.wrapping_add(1);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.stream.index(count) as usize
    }

    /// Brings `items` into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.index(last + 1);
            items.swap(last, other);
        }
    }
}

/// Brings `items` into an order that the seed decides.
pub fn shuffle<T>(seed: u64, items: &mut [T]) {
    Random::new(seed, 0).shuffle(items);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffle_moves_and_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        shuffle(1, &mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn a_stream_goes_on_where_it_was() {
        let mut random = Random::new(3, 4);
        random.shuffle(&mut [0; 15]);
        random.normal();
        let mut again = Random::at(3, 4, random.draws());
        assert_eq!(again.uniform(), random.uniform());
        assert_eq!(again.draws(), 16);
    }

    #[test]
    fn streams_differ_from_each_other_and_from_trajectories() {
        assert_ne!(Random::new(1, 0).uniform(), Random::new(1, 1).uniform());
        assert_ne!(Random::new(1, 0).uniform(), Stream::new(1, 0).uniform());
    }
}
