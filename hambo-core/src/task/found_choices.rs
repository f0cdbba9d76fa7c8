//! Sequences of choices that a search found elsewhere, such as on the host:
//! starts for every trajectory of a check.

use super::variant::Variant;
use crate::numeric::checksum::Checksum;

/// Sequences with borrowed numbers. Whatever they hold, they can only lower a
/// bound: each is one more adversary to take the least over.
///
/// ```
/// use hambo_core::task::FoundChoices;
/// use hambo_core::task::Variant;
/// // Two sequences of three steps, for one state.
/// let numbers = [1.0, -1.0, 0.5, 0.0, 0.0, 1.0];
/// let found = FoundChoices::new(Variant::ContinuousAdversary, 0, 3, &numbers);
/// assert_eq!((found.count(), found.at(1, 2)), (2, 1.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FoundChoices<'a> {
    /// CA or DA1.
    variant: Variant,
    /// Against the return (0) or a constraint (from 1 on).
    objective: u8,
    /// Numbers of one sequence.
    length: usize,
    /// eta_0 … eta_{T−1}, or the members as numbers, one sequence after the
    /// other.
    numbers: &'a [f32],
}

impl<'a> FoundChoices<'a> {
    /// Sequences of `length` numbers each.
    pub fn new(variant: Variant, objective: u8, length: usize, numbers: &'a [f32]) -> Self {
        Self {
            variant,
            objective,
            length,
            numbers,
        }
    }

    /// Whether they are against this objective, by its number, under this variant.
    pub(crate) fn is_for(&self, variant: Variant, objective: u8) -> bool {
        self.variant == variant && self.objective == objective
    }

    /// How many sequences there are.
    pub fn count(&self) -> usize {
        self.numbers.len().checked_div(self.length).unwrap_or(0)
    }

    /// One number of a sequence; 0, which is neutral, where there is none.
    pub fn at(&self, sequence: usize, place: usize) -> f32 {
        let first = sequence.saturating_mul(self.length);
        let number = self.numbers.get(first.saturating_add(place));
        number.copied().unwrap_or(0.0)
    }
}

impl FoundChoices<'_> {
    /// Adds all of it.
    pub(super) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            variant,
            objective,
            length,
            numbers,
        } = self;
        sum.value(&(variant, objective, length));
        sum.place(*numbers);
    }
}
