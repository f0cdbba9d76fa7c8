//! Seeded random numbers of the host: those of learners, and the order of a shuffle.

use hambo_core::arithmetic::random::Stream;
use rand_core::Rng;
use rand_pcg::Pcg32;

/// A seeded source of uniform and normal numbers that knows how far it is.
pub struct Random {
    generator: Pcg32,
    draws: u64,
}

impl Random {
    /// Each member has a stream of its own, so that it does not depend on how
    /// many others there are, nor on the thread that trains it.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self::at(seed, stream, 0)
    }

    /// The same stream after `draws` draws.
    pub(crate) fn at(seed: u64, stream: u64, draws: u64) -> Self {
        let mut generator = Pcg32::new(seed, stream);
        generator.advance(draws);
        Self { generator, draws }
    }

    /// Numbers drawn so far.
    pub(crate) fn draws(&self) -> u64 {
        self.draws
    }

    /// Uniform in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.draws = self.draws.wrapping_add(1);
        f64::from(self.generator.next_u32()) / 4_294_967_296.0
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        // 1 - uniform lies in (0, 1], where the logarithm is finite.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Brings `items` into a random order (Fisher and Yates).
    pub(crate) fn shuffle(&mut self, items: &mut [u32]) {
        for last in (1..items.len()).rev() {
            let other = (self.uniform() * (last + 1) as f64) as usize;
            items.swap(last, other);
        }
    }
}

/// Shuffles deterministically for a seed.
#[derive(Clone, Debug)]
pub struct Shuffle {
    stream: Stream,
}

impl Shuffle {
    /// A new order for each seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            stream: Stream::new(seed, u32::MAX),
        }
    }

    /// Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.stream.index(last as u32 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_has_unit_moments() {
        let mut random = Random::new(1, 2);
        let draws: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!(mean.abs() < 0.03, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.05, "variance {variance}");
    }

    #[test]
    fn shuffle_moves_and_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        Random::new(1, 2).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn a_stream_goes_on_where_it_was() {
        let mut random = Random::new(3, 4);
        random.shuffle(&mut [0; 15]);
        let mut again = Random::at(3, 4, random.draws());
        assert_eq!(again.uniform(), random.uniform());
        assert_eq!(again.draws(), 15);
    }

    #[test]
    fn streams_differ() {
        assert_ne!(Random::new(1, 0).uniform(), Random::new(1, 1).uniform());
    }
}
