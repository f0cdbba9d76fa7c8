//! What a check found.

use core::marker::PhantomData;

use heapless::Vec;

use super::estimate::Estimate;
use super::judge::{Decisive, decides, holds_members, judge, most_far_paths, nest};
use super::limits::MAX_ESTIMATES;
use super::subject::{Anybody, OfController, OfFallback, OfOwnCode, Subject, hashes_of};
use super::tally::Tally;
use crate::floor::Admitted;
use crate::gate::{FallbackPermit, Hashes, Key, Permit, Reason, Reasons, Verdict};
use crate::model::Model;
use crate::numeric::checksum::CRC;
use crate::numeric::redundant::{Redundant, Side};
use crate::task::{Objective, Task};

/// A finished check. Its type says whose, and only that of an admitted bundle gives a permit.
#[derive(Debug)]
pub struct Outcome<S = Anybody> {
    /// The lower bound of the return: the lowest of the variants that
    /// decide, which are those of the task that have an adversary. A canonical
    /// NaN if there is none.
    pub bound: f32,
    /// Mean propagation of the return; a canonical NaN if there is none.
    pub neutral: f32,
    /// What the bound had to reach.
    pub threshold: Option<f32>,
    /// Every objective under every variant, mean propagation first.
    pub estimates: Vec<Estimate, MAX_ESTIMATES>,
    /// What to do, in a word.
    pub verdict: Verdict,
    /// Why it is not `deploy`.
    pub reasons: Reasons,
    /// The code word that each copy of the tally came to.
    code: Redundant<u32>,
    tally: Tally,
    /// To be shown.
    allowed_trajectories: u8,
    /// What was checked, where it was admitted.
    hashes: Option<Hashes>,
    subject: PhantomData<S>,
}

impl<S> Outcome<S> {
    pub(super) fn new(
        model: &Model<'_>,
        task: &Task<'_>,
        estimates: &Vec<Estimate, MAX_ESTIMATES>,
        tally: &Tally,
        hashes: Option<Hashes>,
    ) -> Self {
        let mut estimates = estimates.clone();
        let mut nested: Vec<Decisive, MAX_ESTIMATES> = Vec::new();
        for estimate in &estimates {
            // Both lists have the same number of places.
            let _ = nested.push(Decisive::of(estimate));
        }
        nest(&mut nested, holds_members(model));
        for (estimate, nested) in estimates.iter_mut().zip(&nested) {
            estimate.adversary = nested.adversary;
            estimate.mean = nested.mean;
            estimate.lower = nested.lower;
        }
        let (first, mut reasons) = judge(tally, Side::Plain, model, task);
        let (second, _) = judge(tally, Side::Complement, model, task);
        if first != second {
            // A full list loses a word, never the verdict.
            let _ = reasons.push(Reason::Corrupted);
        }
        let of_return = |estimate: &&Estimate| estimate.objective == Objective::Return;
        let returns = estimates.iter().filter(of_return);
        let lowers = returns
            .clone()
            .filter(|estimate| decides(task, estimate.variant))
            .map(|estimate| estimate.lower);
        let bound = lowers.reduce(|low, other| {
            // A NaN stays a NaN.
            if low.is_nan() || low <= other {
                low
            } else {
                other
            }
        });
        let neutral = returns.map(|estimate| estimate.mean).next();
        Self {
            bound: canonical(bound),
            neutral: canonical(neutral),
            threshold: task.threshold,
            estimates,
            verdict: Verdict::of(first, second),
            reasons,
            code: Redundant::of(first, second),
            tally: *tally,
            allowed_trajectories: most_far_paths(model, task),
            hashes,
            subject: PhantomData,
        }
    }
}

impl Outcome<OfController> {
    /// The key to the actuator, if the check passed and `again` is the bundle that was checked,
    /// read from its bytes and admitted by the same floor once more: they were hashed again for
    /// it, and the decision is made once more, from the other copy of all numbers and from what
    /// the bundle says now. A bundle with a fallback gets one beside that of its fallback alone.
    #[inline(never)]
    #[must_use]
    pub fn permit(
        &self,
        again: &Admitted<'_>,
        fallback: Option<&FallbackPermit>,
    ) -> Option<Permit> {
        let passed = self.fallback_of(again, fallback)?;
        Some(Permit::new(self.key(again)?, passed))
    }

    /// The fallback's hash if it has passed, and none where there is no fallback.
    fn fallback_of(
        &self,
        again: &Admitted<'_>,
        fallback: Option<&FallbackPermit>,
    ) -> Option<Option<[u8; 32]>> {
        let bundle = again.bundle();
        let Some(wanted) = bundle.fallback_hash() else {
            return Some(None);
        };
        let passed = fallback?.hash_with(&hashes_of::<OfController>(again)?);
        (passed.as_ref() == Some(wanted)).then_some(passed)
    }
}

impl Outcome<OfFallback> {
    /// What the controller's permit asks for, if the fallback's check passed; see the
    /// controller's.
    #[inline(never)]
    #[must_use]
    pub fn permit(&self, again: &Admitted<'_>) -> Option<FallbackPermit> {
        Some(FallbackPermit::new(self.key(again)?))
    }
}

impl Outcome<OfOwnCode> {
    /// The key to the actuator for a controller that is part of the firmware; see that of a
    /// bundle's. It names no controller and no fallback, so that no drive goes on with it.
    #[inline(never)]
    #[must_use]
    pub fn permit(&self, again: &Admitted<'_>) -> Option<Permit> {
        Some(Permit::new(self.key(again)?, None))
    }
}

impl<S: Subject> Outcome<S> {
    #[inline(always)]
    fn key(&self, again: &Admitted<'_>) -> Option<Key> {
        let key = self.decided(again)?;
        self.confirmed(key, again)
    }

    /// The first decision, on what was checked and on nothing else.
    #[inline(always)]
    fn decided(&self, again: &Admitted<'_>) -> Option<Key> {
        let hashes = hashes_of::<S>(again)?;
        if self.hashes.as_ref() != Some(&hashes) {
            return None;
        }
        let image = again.bundle().image();
        let (code, _) = judge(&self.tally, Side::Complement, image.model(), image.task());
        // The floor's words are part of the key: no branch stands between them and the pin.
        let first = self.code.read(Side::Plain) ^ again.word(Side::Plain);
        Key::of(first, code ^ again.word(Side::Complement), hashes)
    }

    /// The decision once more from the other copies, and the hashes that the key carries.
    #[inline(always)]
    fn confirmed(&self, key: Key, again: &Admitted<'_>) -> Option<Key> {
        let hashes = hashes_of::<S>(again)?;
        let image = again.bundle().image();
        let (code, _) = judge(&self.tally, Side::Plain, image.model(), image.task());
        let second = self.code.read(Side::Complement) ^ again.word(Side::Complement);
        let agree = Key::of(code ^ again.word(Side::Plain), second, hashes)?.opens();
        (agree && self.hashes.as_ref() == Some(key.hashes())).then_some(key)
    }
}

/// How often paths that no adversary touches are outside what the log covers, of mean propagation
/// or with noise, whichever is more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutsideShares {
    /// The share of steps.
    pub steps: f32,
    /// The share of trajectories with a step far outside.
    pub far_trajectories: f32,
    /// The most that this may be, in per cent.
    pub allowed_trajectories: u8,
}

impl<S> Outcome<S> {
    /// How often the paths that decide are outside what the log covers.
    pub fn outside(&self) -> OutsideShares {
        let [steps, far_trajectories] = self.tally.shares_outside();
        OutsideShares {
            steps,
            far_trajectories,
            allowed_trajectories: self.allowed_trajectories,
        }
    }

    /// One number for all estimates, bit for bit: two machines that agree in
    /// it agree in every mean, error and bound.
    pub fn digest(&self) -> u32 {
        let mut digest = CRC.digest();
        for estimate in &self.estimates {
            let numbers = [
                estimate.sampled.mean,
                estimate.sampled.lower,
                estimate.correction.map_or(0.0, |level| level.lower),
                estimate.found.search,
                estimate.mean,
                estimate.standard_error,
                estimate.lower,
            ];
            for number in numbers {
                digest.update(&canonical(Some(number)).to_bits().to_le_bytes());
            }
        }
        digest.finalize()
    }
}

/// One NaN for all: machines differ in the bits of theirs.
fn canonical(x: Option<f32>) -> f32 {
    x.filter(|x| !x.is_nan()).unwrap_or(f32::NAN)
}

// Whole checks take minutes each under Miri.
#[cfg(all(test, not(miri)))]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

    use super::*;
    use crate::check::tally::Note;
    use crate::check::tests::gated;
    use crate::check::{Check, Progress};
    use crate::example;
    use crate::gate::code_words::{ABSTAIN, ADMITTED, DEPLOY, OPEN, REJECT};
    use crate::image::Bundle;
    use crate::policy::LaneByLane;
    use nalgebra::SVector;

    /// A check of the example's controller that deploys, with its bundle.
    fn passed() -> (Outcome<OfController>, Bundle<'static>) {
        let bundle = example::bundle().unwrap();
        let outcome = gated(&bundle);
        assert_eq!(outcome.verdict, Verdict::Deploy);
        (outcome, bundle)
    }

    /// What the example's own floor says of a bundle with its question.
    fn admitted<'b>(bundle: &'b Bundle<'b>) -> Admitted<'b> {
        let floor = example::floor(bundle).unwrap();
        floor.admit(bundle, &mut []).unwrap()
    }

    const OTHER: [u8; 32] = [9; 32];

    /// What was checked, with one of its names changed, and none at all.
    fn others(own: Hashes) -> [Option<Hashes>; 6] {
        let mut others = [Some(own); 6];
        let [none, floor, bundle, policy, no_policy, read] = &mut others;
        read.as_mut().unwrap().read ^= 1;
        *none = None;
        floor.as_mut().unwrap().floor = OTHER;
        bundle.as_mut().unwrap().bundle = OTHER;
        policy.as_mut().unwrap().policy = Some(OTHER);
        no_policy.as_mut().unwrap().policy = None;
        others
    }

    #[test]
    fn a_check_that_passed_opens_after_both_decisions() {
        let (outcome, bundle) = passed();
        let again = admitted(&bundle);
        let key = outcome.decided(&again).unwrap();
        assert_eq!(Some(*key.hashes()), outcome.hashes);
        assert!(outcome.confirmed(key, &again).is_some());
        let permit = outcome.permit(&again, None).unwrap();
        assert_eq!(permit.image_hash(), bundle.image().hash());
        assert_eq!(permit.policy_hash(), Some(bundle.policy_hash()));
        assert_eq!(permit.floor_hash(), again.floor_hash());
        assert_eq!(permit.fallback_hash(), None);
    }

    #[test]
    fn the_first_decision_is_about_nothing_else() {
        let (mut outcome, bundle) = passed();
        let again = admitted(&bundle);
        for other in others(outcome.hashes.unwrap()) {
            outcome.hashes = other;
            assert!(outcome.decided(&again).is_none(), "{other:?}");
        }
    }

    #[test]
    fn a_key_of_something_else_is_not_confirmed() {
        let (mut outcome, bundle) = passed();
        let again = admitted(&bundle);
        let own = outcome.hashes.unwrap();
        let key_of = |hashes| Key::of(OPEN, OPEN, hashes).unwrap();
        assert!(outcome.confirmed(key_of(own), &again).is_some());
        for other in others(own) {
            if let Some(other) = other {
                assert!(outcome.confirmed(key_of(other), &again).is_none());
            }
            let kept = outcome.hashes;
            outcome.hashes = other;
            assert!(outcome.confirmed(key_of(own), &again).is_none());
            outcome.hashes = kept;
        }
    }

    #[test]
    fn each_decision_rests_on_its_own_copy_of_the_code() {
        let (mut outcome, bundle) = passed();
        let again = admitted(&bundle);
        let hashes = outcome.hashes.unwrap();
        let own = || Key::of(OPEN, OPEN, hashes).unwrap();
        for word in [REJECT, ABSTAIN, 0, ADMITTED] {
            outcome.code = Redundant::of(word, DEPLOY);
            assert!(outcome.decided(&again).is_none());
            assert!(outcome.confirmed(own(), &again).is_some());
            outcome.code = Redundant::of(DEPLOY, word);
            assert!(outcome.decided(&again).is_some());
            assert!(outcome.confirmed(own(), &again).is_none());
            assert!(outcome.permit(&again, None).is_none());
        }
    }

    /// The code words say deploy; the numbers, or what the bundle asks now, do not.
    #[test]
    fn each_decision_is_made_again_from_numbers_and_bundle() {
        let refuses = |outcome: &Outcome<OfController>, bundle: &Bundle<'_>| {
            let again = admitted(bundle);
            assert!(outcome.decided(&again).is_none());
            let own = Key::of(OPEN, OPEN, outcome.hashes.unwrap()).unwrap();
            assert!(outcome.confirmed(own, &again).is_none());
        };
        let (mut outcome, bundle) = passed();
        let stricter = |task: &mut crate::task::Task<'static>| task.threshold = Some(-1.5);
        refuses(&outcome, &example::bundle_with(None, stricter).unwrap());
        outcome.tally.note(Note::Corrupted);
        refuses(&outcome, &bundle);
    }

    /// An admission whose judgements did not both admit does not get here; if it did, its words
    /// would not make the key.
    #[test]
    fn the_floors_words_are_part_of_the_key() {
        let (outcome, bundle) = passed();
        for side in [0, 1] {
            for word in [crate::gate::code_words::REFUSED, 0, DEPLOY, u32::MAX] {
                let words = [[word, ADMITTED], [ADMITTED, word]][side];
                let forged = Admitted::of_words(words, &bundle, [3; 32]);
                assert!(outcome.permit(&forged, None).is_none());
                let own = Key::of(OPEN, OPEN, outcome.hashes.unwrap()).unwrap();
                assert!(outcome.confirmed(own, &forged).is_none());
            }
        }
        let right = Admitted::of_words([ADMITTED; 2], &bundle, [3; 32]);
        assert!(outcome.permit(&right, None).is_some());
        // Another floor in the meantime.
        let other = Admitted::of_words([ADMITTED; 2], &bundle, OTHER);
        assert!(outcome.permit(&other, None).is_none());
    }

    #[test]
    fn a_bundle_with_a_fallback_gets_its_permit_for_both() {
        let fallback = Some(example::policy().unwrap());
        let bundle = example::bundle_with(fallback, |_| {}).unwrap();
        let (outcome, again) = (gated(&bundle), admitted(&bundle));
        assert!(outcome.permit(&again, None).is_none());
        let mut rows = vec![[0.0; 4]; 200];
        let second = again.fallback().unwrap();
        let mut check = Check::of_fallback(&second, &mut rows).unwrap();
        let Progress::Finished(of_fallback) = check.advance(u32::MAX) else {
            panic!("unfinished");
        };
        let passed = of_fallback.permit(&again).unwrap();
        let permit = outcome.permit(&again, Some(&passed)).unwrap();
        assert_eq!(permit.fallback_hash(), bundle.fallback_hash());
        assert_eq!(permit.policy_hash(), Some(bundle.policy_hash()));
        // Of another floor, and of the controller in the fallback's place.
        let mut hashes = of_fallback.hashes.unwrap();
        hashes.floor = OTHER;
        let wrong = FallbackPermit::new(Key::of(OPEN, OPEN, hashes).unwrap());
        assert!(outcome.permit(&again, Some(&wrong)).is_none());
        let of_controller = Key::of(OPEN, OPEN, outcome.hashes.unwrap()).unwrap();
        let wrong = FallbackPermit::new(of_controller);
        assert!(outcome.permit(&again, Some(&wrong)).is_none());
    }

    #[test]
    fn code_of_the_firmware_gets_a_permit_that_names_no_controller() {
        let bundle = example::bundle().unwrap();
        let again = admitted(&bundle);
        let policy = LaneByLane::new(|state: &SVector<f32, 1>| -0.5 * state);
        let mut rows = vec![[0.0; 4]; 200];
        let mut check = Check::of_own_code(&again, &policy, &mut rows).unwrap();
        let Progress::Finished(outcome) = check.advance(u32::MAX) else {
            panic!("unfinished");
        };
        let permit = outcome.permit(&again).unwrap();
        assert_eq!((permit.policy_hash(), permit.fallback_hash()), (None, None));
        assert_eq!(permit.image_hash(), bundle.image().hash());
    }
}
