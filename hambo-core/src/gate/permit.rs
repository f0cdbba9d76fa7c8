//! The key to the actuator.
//!
//! A permit holds two code words: that of the check's own decision with the floor's, and the
//! complement of those that a second decision came to, from the other copy of all numbers and
//! from a bundle that was read and admitted again. Whatever opens an output looks at both words
//! itself. It also names what was checked: floor, bundle and controller.

use core::hint::black_box;

use super::code_words::OPEN;
use super::hashes::Hashes;

/// Two decisions that agree, and what they are about.
#[derive(Debug)]
pub(crate) struct Key {
    code: u32,
    complement: u32,
    hashes: Hashes,
}

impl Key {
    /// The key of two decisions, each the word of a verdict with that of an admission; none
    /// unless both say that what has these hashes may be opened.
    #[inline(never)]
    pub fn of(first: u32, second: u32, hashes: Hashes) -> Option<Self> {
        let key = Self {
            code: black_box(first),
            complement: !black_box(second),
            hashes,
        };
        key.opens().then_some(key)
    }

    #[inline(always)]
    pub fn opens(&self) -> bool {
        // Two comparisons that the compiler cannot make one.
        black_box(self.code) == OPEN && black_box(self.complement) == !OPEN
    }

    pub fn hashes(&self) -> &Hashes {
        &self.hashes
    }
}

/// The key to the actuator, for one controller. Only a check that passed holds one, of a bundle
/// that a floor has admitted; it cannot be copied or made elsewhere.
///
/// ```
/// use hambo_core::{Check, Permit, Progress, example};
///
/// /// An output that nothing but a passed check can open.
/// fn enable(permit: &Permit) -> bool {
///     permit.opens()
/// }
///
/// let bundle = example::bundle()?;
/// let floor = example::floor(&bundle)?;
/// let admitted = floor.admit(&bundle, &mut []).map_err(|_| "it asks for less")?;
/// let mut rows = [[0.0; 4]; 128];
/// let mut check = Check::of_controller(&admitted, &mut rows).map_err(|_| "too few rows")?;
/// let Progress::Finished(outcome) = check.advance(1000) else {
///     return Err("unfinished");
/// };
/// // On a device bundle and floor are read from flash again.
/// let again = floor.admit(&bundle, &mut []).map_err(|_| "it asks for less")?;
/// assert!(outcome.permit(&again, None).is_some_and(|permit| enable(&permit)));
/// // Another bundle than the one that was checked.
/// let other = example::bundle_with(None, |task| task.threshold = Some(-1.5))?;
/// let other = floor.admit(&other, &mut []).map_err(|_| "it asks for less")?;
/// assert!(outcome.permit(&other, None).is_none());
/// # Ok::<(), &str>(())
/// ```
///
/// Nobody else has one to give. This would compile if the fields were public:
///
/// ```compile_fail,E0451
/// use hambo_core::Permit;
/// let forged = Permit { key: todo!(), fallback: None };
/// ```
///
/// The check of a fallback gives no permit for the controller. This is refused:
///
/// ```compile_fail,E0308
/// # use hambo_core::{AdmittedFallback, Check, FallbackPermit, Permit, Progress};
/// fn key(fallback: &AdmittedFallback<'_>, rows: &mut [[f32; 4]]) -> Option<FallbackPermit> {
///     let mut check = Check::of_fallback(fallback, rows).ok()?;
///     let Progress::Finished(outcome) = check.advance(u32::MAX) else { return None };
///     let permit = outcome.permit(fallback.admitted())?;
///     let forged: Permit = permit;
///     Some(permit)
/// }
/// ```
///
/// and the same without the forging line compiles:
///
/// ```
/// # use hambo_core::{AdmittedFallback, Check, FallbackPermit, Permit, Progress};
/// fn key(fallback: &AdmittedFallback<'_>, rows: &mut [[f32; 4]]) -> Option<FallbackPermit> {
///     let mut check = Check::of_fallback(fallback, rows).ok()?;
///     let Progress::Finished(outcome) = check.advance(u32::MAX) else { return None };
///     let permit = outcome.permit(fallback.admitted())?;
///     Some(permit)
/// }
/// ```
///
/// Nor does a check of any policy that is handed to it:
///
/// ```compile_fail,E0599
/// # use hambo_core::{Admitted, Check, Outcome, Permit, Progress, policy::StoredPolicy};
/// fn check(admitted: &Admitted<'_>, policy: &StoredPolicy<'_>, rows: &mut [[f32; 4]]) -> Option<Outcome> {
///     let mut check = Check::with_policy(admitted.bundle().image(), policy, rows).ok()?;
///     let Progress::Finished(outcome) = check.advance(u32::MAX) else { return None };
///     let forged = outcome.permit(admitted, None);
///     Some(outcome)
/// }
/// ```
///
/// and again, without that line:
///
/// ```
/// # use hambo_core::{Admitted, Check, Outcome, Permit, Progress, policy::StoredPolicy};
/// fn check(admitted: &Admitted<'_>, policy: &StoredPolicy<'_>, rows: &mut [[f32; 4]]) -> Option<Outcome> {
///     let mut check = Check::with_policy(admitted.bundle().image(), policy, rows).ok()?;
///     let Progress::Finished(outcome) = check.advance(u32::MAX) else { return None };
///     Some(outcome)
/// }
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
    key: Key,
    /// The fallback that passed with it.
    fallback: Option<[u8; 32]>,
}

impl Permit {
    /// For the controller of a key, beside a fallback that has passed, too.
    pub(crate) fn new(key: Key, fallback: Option<[u8; 32]>) -> Self {
        Self { key, fallback }
    }

    /// Whether both words say deploy. It is so for every permit that memory has kept as it
    /// was made; an output asks once more, right before it opens.
    #[inline(always)]
    #[must_use]
    pub fn opens(&self) -> bool {
        self.key.opens()
    }

    /// The hash of the floor that admitted the bundle.
    pub fn floor_hash(&self) -> &[u8; 32] {
        &self.key.hashes.floor
    }

    /// The hash of the bundle that was checked.
    pub fn image_hash(&self) -> &[u8; 32] {
        &self.key.hashes.bundle
    }

    /// The hash of the very controller that was checked; none if it is part of the firmware.
    pub fn policy_hash(&self) -> Option<&[u8; 32]> {
        self.key.hashes.policy.as_ref()
    }

    /// The checksum of what was read from the bundle and checked.
    pub(crate) fn read(&self) -> u32 {
        self.key.hashes.read
    }

    /// The hash of the fallback that was checked beside it.
    pub fn fallback_hash(&self) -> Option<&[u8; 32]> {
        self.fallback.as_ref()
    }
}

/// What a fallback has that passed its own check. It opens nothing: a bundle with a fallback
/// gets its [`Permit`] for both.
#[derive(Debug)]
pub struct FallbackPermit(Key);

impl FallbackPermit {
    pub(crate) fn new(key: Key) -> Self {
        Self(key)
    }

    /// The hash of the fallback, if it passed with the bundle and floor of a controller, and
    /// with what was read from them.
    pub(crate) fn hash_with(&self, others: &Hashes) -> Option<[u8; 32]> {
        let own = &self.0.hashes;
        let of_others = Hashes {
            policy: own.policy,
            ..*others
        };
        (self.0.opens() && *own == of_others)
            .then_some(own.policy)
            .flatten()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::gate::code_words::{ABSTAIN, ADMITTED, DEPLOY, REFUSED, REJECT};

    pub(crate) const HASHES: Hashes = Hashes {
        floor: [1; 32],
        bundle: [2; 32],
        policy: Some([3; 32]),
        read: 4,
    };

    #[test]
    fn exactly_one_pair_of_words_opens() {
        assert!(Key::of(OPEN, OPEN, HASHES).is_some());
        let mut words = vec![0, 1, u32::MAX, !OPEN];
        for verdict in [DEPLOY, REJECT, ABSTAIN, 0] {
            for floor in [ADMITTED, REFUSED, 0] {
                words.push(verdict ^ floor);
            }
        }
        for word in words.into_iter().filter(|word| *word != OPEN) {
            assert!(Key::of(word, OPEN, HASHES).is_none());
            assert!(Key::of(OPEN, word, HASHES).is_none());
            assert!(Key::of(word, word, HASHES).is_none());
        }
        for bit in 0..32 {
            let mut key = Key::of(OPEN, OPEN, HASHES).unwrap();
            key.code ^= 1 << bit;
            assert!(!key.opens());
            let mut key = Key::of(OPEN, OPEN, HASHES).unwrap();
            key.complement ^= 1 << bit;
            assert!(!key.opens());
        }
    }

    #[test]
    fn a_fallback_passes_with_its_own_bundle_and_floor() {
        let passed = FallbackPermit::new(Key::of(OPEN, OPEN, HASHES).unwrap());
        let of_controller = Hashes {
            policy: Some([5; 32]),
            ..HASHES
        };
        assert_eq!(passed.hash_with(&of_controller), Some([3; 32]));
        for other in [
            Hashes {
                floor: [0; 32],
                ..of_controller
            },
            Hashes {
                bundle: [0; 32],
                ..of_controller
            },
            Hashes {
                read: 0,
                ..of_controller
            },
        ] {
            assert_eq!(passed.hash_with(&other), None);
        }
        let mut flipped = passed;
        flipped.0.code ^= 4;
        assert_eq!(flipped.hash_with(&of_controller), None);
    }
}
