//! The last transitions before a trip, for the log.

use core::num::NonZeroUsize;

/// Transitions s, a, s′ in a lent slice, the oldest of which makes room for a new
/// one.
#[derive(Debug)]
pub struct LastTransitions<'m> {
    pub(super) numbers: &'m mut [f32],
    /// Numbers of one transition; not zero, so that cutting the slice cannot panic.
    pub(super) width: NonZeroUsize,
    /// Where the next one goes.
    pub(super) place: usize,
    /// Whether every place was written.
    pub(super) is_full: bool,
}

impl<'m> LastTransitions<'m> {
    /// As many places of `width` numbers as the slice has.
    pub fn new(numbers: &'m mut [f32], width: usize) -> Self {
        Self {
            numbers,
            width: NonZeroUsize::new(width).unwrap_or(NonZeroUsize::MIN),
            place: 0,
            is_full: false,
        }
    }

    /// Keeps a transition instead of the oldest. Without a place nothing is kept.
    pub fn push(&mut self, state: &[f32], action: &[f32], next_state: &[f32]) {
        let width = self.width.get();
        let places = self.numbers.len() / width;
        let place = self.numbers.chunks_exact_mut(width).nth(self.place);
        if let Some(place) = place {
            let own = state.iter().chain(action).chain(next_state);
            for (to, from) in place.iter_mut().zip(own) {
                *to = *from;
            }
        }
        self.place = self.place.saturating_add(1);
        if self.place >= places {
            (self.place, self.is_full) = (0, true);
        }
    }

    /// The oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &[f32]> {
        let places = || self.numbers.chunks_exact(self.width.get());
        let older = if self.is_full { usize::MAX } else { 0 };
        let older = places().skip(self.place).take(older);
        older.chain(places().take(self.place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_makes_room() {
        let mut numbers = [0.0; 7];
        let mut last = LastTransitions::new(&mut numbers, 2);
        assert_eq!(last.iter().count(), 0);
        let mut wanted: Vec<f32> = Vec::new();
        for x in 0..10 {
            last.push(&[x as f32], &[], &[0.5]);
            wanted.push(x as f32);
            let kept: Vec<f32> = last.iter().map(|one| one[0]).collect();
            let first = wanted.len().saturating_sub(3);
            assert_eq!(kept, wanted[first..], "{x}");
        }
    }

    #[test]
    fn nothing_is_kept_without_a_place() {
        let mut last = LastTransitions::new(&mut [], 3);
        last.push(&[1.0], &[1.0], &[1.0]);
        assert_eq!(last.iter().count(), 0);
        let mut numbers = [0.0; 2];
        let mut last = LastTransitions::new(&mut numbers, 0);
        last.push(&[1.0], &[], &[]);
        assert!(last.iter().eq([[1.0]]));
    }
}
