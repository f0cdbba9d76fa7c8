//! A bundle that a floor has admitted.

use crate::gate::code_words::ADMITTED;
use crate::image::Bundle;
use crate::numeric::redundant::{Redundant, Side};
use crate::policy::StoredPolicy;

/// A bundle that asks for as much as its robot. Only [`Floor::admit`](super::Floor::admit) makes
/// one: it holds the code words of two judgements, and a permit's words are made with them.
///
/// Nobody else has one to give:
///
/// ```compile_fail,E0451
/// use hambo_core::{Admitted, Bundle, Floor, Shortfall};
/// fn admit<'b>(floor: &Floor<'_>, bundle: &'b Bundle<'b>) -> Result<Admitted<'b>, Shortfall> {
///     let forged = Admitted { bundle, word: todo!(), floor: [0; 32] };
///     floor.admit(bundle, &mut [])
/// }
/// ```
///
/// and the same without the forging line compiles:
///
/// ```
/// use hambo_core::{Admitted, Bundle, Floor, Shortfall};
/// fn admit<'b>(floor: &Floor<'_>, bundle: &'b Bundle<'b>) -> Result<Admitted<'b>, Shortfall> {
///     floor.admit(bundle, &mut [])
/// }
/// ```
#[derive(Debug)]
pub struct Admitted<'b> {
    bundle: &'b Bundle<'b>,
    word: Redundant<u32>,
    floor: [u8; 32],
}

/// The fallback of a bundle that a floor has admitted.
#[derive(Debug)]
pub struct AdmittedFallback<'b> {
    admitted: &'b Admitted<'b>,
    policy: &'b StoredPolicy<'b>,
}

impl<'b> AdmittedFallback<'b> {
    /// The bundle and its floor.
    pub fn admitted(&self) -> &'b Admitted<'b> {
        self.admitted
    }

    /// The controller.
    pub fn policy(&self) -> &'b StoredPolicy<'b> {
        self.policy
    }
}

impl<'b> Admitted<'b> {
    /// What two judgements of a bundle came to; none unless both admit it.
    #[inline(never)]
    pub(super) fn of(
        first: u32,
        second: u32,
        bundle: &'b Bundle<'b>,
        floor: [u8; 32],
    ) -> Option<Self> {
        let admitted = Self {
            bundle,
            word: Redundant::of(first, second),
            floor,
        };
        let opens =
            admitted.word(Side::Plain) == ADMITTED && admitted.word(Side::Complement) == ADMITTED;
        opens.then_some(admitted)
    }

    /// One with these words, whatever they are.
    #[cfg(test)]
    pub(crate) fn of_words(words: [u32; 2], bundle: &'b Bundle<'b>, floor: [u8; 32]) -> Self {
        let [first, second] = words;
        Self {
            bundle,
            word: Redundant::of(first, second),
            floor,
        }
    }

    /// The code word that a judgement came to.
    pub(crate) fn word(&self, side: Side) -> u32 {
        self.word.read(side)
    }

    /// The bundle.
    pub fn bundle(&self) -> &'b Bundle<'b> {
        self.bundle
    }

    /// Its fallback, if it has one.
    pub fn fallback(&'b self) -> Option<AdmittedFallback<'b>> {
        let policy = self.bundle.fallback()?;
        Some(AdmittedFallback {
            admitted: self,
            policy,
        })
    }

    /// The hash of the floor.
    pub fn floor_hash(&self) -> &[u8; 32] {
        &self.floor
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::example;
    use crate::gate::code_words::{DEPLOY, REFUSED};

    #[test]
    fn both_judgements_must_admit() {
        let bundle = example::bundle().unwrap();
        let of = |first, second| Admitted::of(first, second, &bundle, [0; 32]);
        assert!(of(ADMITTED, ADMITTED).is_some());
        for word in [REFUSED, DEPLOY, 0, 1, u32::MAX, !ADMITTED] {
            assert!(of(word, ADMITTED).is_none());
            assert!(of(ADMITTED, word).is_none());
            assert!(of(word, word).is_none());
        }
    }
}
