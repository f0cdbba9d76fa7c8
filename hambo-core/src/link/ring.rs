//! The bytes between an interrupt that receives them and the program that reads them.
//!
//! One side only puts and the other only takes, so that neither waits for the other and no
//! interrupt has to be held off: an interrupt may put at any moment, also while the program
//! sends.

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// Bytes in the order in which they came; at most `N` − 1 of them.
#[derive(Debug)]
pub struct ByteRing<const N: usize> {
    bytes: [AtomicU8; N],
    /// Where the next byte goes. Only [`put`](Self::put) writes it.
    head: AtomicUsize,
    /// Where the oldest byte lies. Only [`take`](Self::take) writes it.
    tail: AtomicUsize,
}

impl<const N: usize> ByteRing<N> {
    /// An empty one.
    ///
    /// ```
    /// use hambo_core::link::ring::ByteRing;
    /// static RECEIVED: ByteRing<4> = ByteRing::new();
    /// assert!(RECEIVED.put(7) && RECEIVED.put(8) && RECEIVED.put(9));
    /// assert!(!RECEIVED.put(10)); // full: this one is lost
    /// assert_eq!(RECEIVED.take(), Some(7));
    /// assert_eq!([RECEIVED.take(), RECEIVED.take(), RECEIVED.take()], [Some(8), Some(9), None]);
    /// ```
    #[expect(clippy::new_without_default, reason = "it is for statics")]
    pub const fn new() -> Self {
        const { assert!(N > 1, "a ring of one byte holds none") }
        Self {
            bytes: [const { AtomicU8::new(0) }; N],
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        }
    }

    /// Appends a byte, for the interrupt alone. `false` if there is no room: the byte is lost,
    /// and the checksum of its frame says so.
    pub fn put(&self, byte: u8) -> bool {
        let head = Self::within(self.head.load(Ordering::Relaxed));
        let next = Self::within(head.wrapping_add(1));
        if next == Self::within(self.tail.load(Ordering::Acquire)) {
            return false;
        }
        if let Some(place) = self.bytes.get(head) {
            place.store(byte, Ordering::Relaxed);
        }
        self.head.store(next, Ordering::Release);
        true
    }

    /// Takes the oldest byte, for the program alone.
    pub fn take(&self) -> Option<u8> {
        let tail = Self::within(self.tail.load(Ordering::Relaxed));
        if tail == Self::within(self.head.load(Ordering::Acquire)) {
            return None;
        }
        let byte = self.bytes.get(tail)?.load(Ordering::Relaxed);
        self.tail
            .store(Self::within(tail.wrapping_add(1)), Ordering::Release);
        Some(byte)
    }

    /// Whether no byte waits.
    pub fn is_empty(&self) -> bool {
        let [tail, head] = [&self.tail, &self.head].map(|place| place.load(Ordering::Acquire));
        Self::within(tail) == Self::within(head)
    }

    /// A place in the ring: behind the last one comes the first, and one that a flipped bit has
    /// moved outside leads back.
    fn within(place: usize) -> usize {
        if place < N { place } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::thread;
    use std::vec::Vec;

    /// Two threads stand for program and interrupt: every byte comes once and in order.
    #[test]
    fn what_one_side_puts_the_other_takes_in_order() {
        const COUNT: u32 = if cfg!(miri) { 100 } else { 1000 };
        let (ring, done) = (ByteRing::<7>::new(), AtomicBool::new(false));
        let mut taken = Vec::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..COUNT {
                    while !ring.put((number % 251) as u8) {
                        thread::yield_now();
                    }
                }
                done.store(true, Ordering::Release);
            });
            while !(done.load(Ordering::Acquire) && ring.is_empty()) {
                match ring.take() {
                    Some(byte) => taken.push(byte),
                    None => thread::yield_now(),
                }
            }
        });
        assert_eq!(taken.len(), COUNT as usize);
        let wanted = (0..COUNT).map(|number| (number % 251) as u8);
        assert!(taken.into_iter().eq(wanted));
    }

    #[test]
    fn a_full_ring_loses_the_newest_byte_and_goes_on() {
        let ring = ByteRing::<4>::new();
        for round in 0..9_u8 {
            assert!(ring.is_empty());
            let kept: Vec<bool> = (0..5).map(|byte| ring.put(round + byte)).collect();
            assert_eq!(kept, [true, true, true, false, false]);
            let bytes: Vec<u8> = core::iter::from_fn(|| ring.take()).collect();
            assert_eq!(bytes, [round, round + 1, round + 2]);
        }
    }

    /// A flipped bit in a position loses bytes and never the ring.
    #[test]
    fn a_position_outside_leads_back() {
        for place in [4, 1 << 20, usize::MAX] {
            let ring = ByteRing::<4>::new();
            for position in [&ring.head, &ring.tail] {
                position.store(place, Ordering::Relaxed);
                // Bytes that were never put, or none of those that were: at most a ring of them.
                let taken: Vec<u8> = core::iter::from_fn(|| ring.take()).take(9).collect();
                assert!(taken.len() < 4, "{taken:?}");
                assert!(ring.put(3));
                let taken: Vec<u8> = core::iter::from_fn(|| ring.take()).take(9).collect();
                assert_eq!(taken, [3]);
            }
        }
    }
}
