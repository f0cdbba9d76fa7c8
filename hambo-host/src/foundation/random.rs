//! Shuffling for the host, from the core's random stream.

use hambo_core::arithmetic::random::Stream;

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
