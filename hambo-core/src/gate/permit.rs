//! The key to the actuator, and the code words that it is made of.
//!
//! A verdict in memory is a code word of 32 bits. The words differ from each other, from
//! 0 and from all ones in at least twelve bits, and only one of them opens. A permit
//! holds two: the word of the check's own decision, and the complement of the word
//! that a second decision came to, from the other copy of all numbers and from an
//! image that was read again. Whatever opens an output looks at both words itself.

use core::hint::black_box;

/// Every lower bound reaches its threshold.
pub(crate) const DEPLOY: u32 = 0x5aa3_96c5;
/// A lower bound lies below its threshold.
pub(crate) const REJECT: u32 = 0x96c5_3a5c;
/// The evidence is unfit for either.
pub(crate) const ABSTAIN: u32 = 0x6a10_7b75;

/// The key to the actuator. Only a check that passed holds one; it cannot be
/// copied or made elsewhere.
///
/// ```
/// use hambo_core::{Check, Permit, Progress};
///
/// /// An output that nothing but a passed check can open.
/// fn enable(permit: &Permit) -> bool {
///     permit.opens()
/// }
///
/// let image = hambo_core::example::image()?;
/// let mut rows = [[0.0; 4]; 128];
/// let mut check = Check::new(&image, &mut rows).map_err(|_| "too few rows")?;
/// let Progress::Finished(outcome) = check.advance(1000) else {
///     return Err("unfinished");
/// };
/// // The image as it is now: on a device, read from flash again.
/// let again = hambo_core::example::image()?;
/// assert!(outcome.permit(&again).is_some_and(|permit| enable(&permit)));
/// // Another image than the one that was checked.
/// let other = hambo_core::example::image_with(|task| task.threshold = Some(-1.5))?;
/// assert!(outcome.permit(&other).is_none());
/// # Ok::<(), &str>(())
/// ```
///
/// Nobody else has one to give. This would compile if the fields were public:
///
/// ```compile_fail,E0451
/// use hambo_core::Permit;
/// let forged = Permit { code: 0x5aa3_96c5, complement: !0x5aa3_96c5, image: [0; 32] };
/// ```
///
/// A permit opens one output: it has no copy.
///
/// ```compile_fail,E0382
/// use hambo_core::Permit;
/// let twice = |permit: Permit| [permit, permit];
/// ```
///
/// and this, which is the same with one permit, compiles:
///
/// ```
/// use hambo_core::Permit;
/// let pass_on = |permit: Permit| [permit];
/// ```
#[derive(Debug)]
pub struct Permit {
    code: u32,
    complement: u32,
    image: [u8; 32],
}

impl Permit {
    /// The permit of two decisions on the image with this hash; none unless both say
    /// deploy.
    #[inline(never)]
    pub(crate) fn of(first: u32, second: u32, image: [u8; 32]) -> Option<Self> {
        let permit = Self {
            code: black_box(first),
            complement: !black_box(second),
            image,
        };
        permit.opens().then_some(permit)
    }

    /// Whether both words say deploy. It is so for every permit that memory has kept as it
    /// was made; an output asks once more, right before it opens.
    #[inline(always)]
    #[must_use]
    pub fn opens(&self) -> bool {
        // Two comparisons that the compiler cannot make one.
        black_box(self.code) == DEPLOY && black_box(self.complement) == !DEPLOY
    }

    /// The hash of the image that was checked.
    pub fn image_hash(&self) -> &[u8; 32] {
        &self.image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_words_are_far_apart() {
        let words = [DEPLOY, REJECT, ABSTAIN, 0, u32::MAX];
        for (place, word) in words.iter().enumerate() {
            for other in &words[place + 1..] {
                let distance = (word ^ other).count_ones();
                assert!(distance >= 12, "{word:08x} {other:08x}: {distance}");
                assert!((word ^ !other).count_ones() >= 12 || *other == u32::MAX);
            }
        }
    }

    #[test]
    fn exactly_one_pair_of_words_opens() {
        assert!(Permit::of(DEPLOY, DEPLOY, [0; 32]).is_some());
        for word in [REJECT, ABSTAIN, 0, 1, u32::MAX, !DEPLOY] {
            assert!(Permit::of(word, DEPLOY, [0; 32]).is_none());
            assert!(Permit::of(DEPLOY, word, [0; 32]).is_none());
            assert!(Permit::of(word, word, [0; 32]).is_none());
        }
        for bit in 0..32 {
            let mut permit = Permit::of(DEPLOY, DEPLOY, [0; 32]).unwrap();
            permit.code ^= 1 << bit;
            assert!(!permit.opens());
            let mut permit = Permit::of(DEPLOY, DEPLOY, [0; 32]).unwrap();
            permit.complement ^= 1 << bit;
            assert!(!permit.opens());
        }
    }
}
