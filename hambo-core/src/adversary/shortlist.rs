//! Some of an adversary's starts: those that a focused check goes on with.

use super::start::MAX_STARTS;

/// Starts by their numbers, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortlist(u128);

// A bit for each of them.
const _: () = assert!(MAX_STARTS == u128::BITS as usize);

impl Shortlist {
    /// The starts whose bits are set.
    pub(crate) fn of_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// A bit for each start.
    pub(crate) fn bits(self) -> u128 {
        self.0
    }

    /// The `keep` starts of `count` that come first in an order; of equals the one with the
    /// smaller number.
    ///
    /// ```
    /// use hambo_core::adversary::Shortlist;
    /// let values = [3.0, 1.0, 2.0, 1.0];
    /// let kept = Shortlist::first(4, 2, |a, b| values[a] < values[b]);
    /// assert_eq!((kept.at(0), kept.at(1), kept.len()), (1, 3, 2));
    /// ```
    pub fn first(count: usize, keep: usize, before: impl Fn(usize, usize) -> bool) -> Self {
        let mut kept = Self(0);
        for _ in 0..keep.min(count) {
            let left = (0..count.min(MAX_STARTS)).filter(|number| !kept.contains(*number));
            let next = left.reduce(|first, other| if before(other, first) { other } else { first });
            if let Some(next) = next {
                kept = kept.with(next);
            }
        }
        kept
    }

    /// The `keep` starts of `count` with the least values; a value that is missing or no number
    /// comes after those that are before it.
    pub fn lowest(count: usize, keep: usize, value: impl Fn(usize) -> Option<f32>) -> Self {
        let value = |start: usize| value(start).unwrap_or(f32::INFINITY);
        Self::first(count, keep, |a, b| value(a) < value(b))
    }

    /// The same and one more.
    fn with(self, number: usize) -> Self {
        let bit = u32::try_from(number).ok();
        let bit = bit.and_then(|number| 1_u128.checked_shl(number));
        Self(self.0 | bit.unwrap_or(0))
    }

    /// Whether a start is among them.
    pub fn contains(self, number: usize) -> bool {
        let shifted = u32::try_from(number).ok();
        let shifted = shifted.and_then(|number| self.0.checked_shr(number));
        shifted.unwrap_or(0) & 1 == 1
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of the start at a place, by number; beyond the last, 0.
    pub fn at(self, place: usize) -> usize {
        let mut numbers = (0..MAX_STARTS).filter(|number| self.contains(*number));
        numbers.nth(place).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_an_order_are_kept_and_numbers_stay_in_theirs() {
        let values = [5.0, f32::NAN, -1.0, 5.0, f32::NEG_INFINITY];
        let first = |keep| Shortlist::lowest(5, keep, |start| values.get(start).copied());
        let numbers =
            |kept: Shortlist| -> Vec<usize> { (0..kept.len()).map(|k| kept.at(k)).collect() };
        assert_eq!(numbers(first(1)), [4]);
        assert_eq!(numbers(first(2)), [2, 4]);
        assert_eq!(numbers(first(3)), [0, 2, 4]);
        assert_eq!(numbers(first(5)), [0, 1, 2, 3, 4]);
        assert_eq!(numbers(first(9)), [0, 1, 2, 3, 4]);
        assert!(first(0).is_empty() && !first(1).is_empty());
        assert_eq!(first(2).at(7), 0);
        assert!(first(2).contains(4) && !first(2).contains(0) && !first(2).contains(500));
    }

    #[test]
    fn the_last_start_has_a_bit_too() {
        let kept = Shortlist::first(MAX_STARTS, 1, |a, b| a > b);
        assert_eq!((kept.at(0), kept.len()), (127, 1));
        assert_eq!(Shortlist::of_bits(kept.bits()), kept);
    }
}
