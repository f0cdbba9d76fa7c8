//! What a check found.

use heapless::Vec;

use super::estimate::Estimate;
use super::judge::{Decisive, decides, holds_members, judge, most_far_paths, nest};
use super::limits::MAX_ESTIMATES;
use super::tally::Tally;
use crate::gate::{Permit, Reason, Reasons, Verdict};
use crate::image::Image;
use crate::model::Model;
use crate::numeric::checksum::CRC;
use crate::numeric::redundant::{Redundant, Side};
use crate::task::{Objective, Task};

/// A finished check.
#[derive(Debug)]
pub struct Outcome {
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
    /// The hash of the image that was checked, where there was one.
    pub(super) image: Option<[u8; 32]>,
}

impl Outcome {
    pub(super) fn new(
        model: &Model<'_>,
        task: &Task<'_>,
        estimates: &Vec<Estimate, MAX_ESTIMATES>,
        tally: &Tally,
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
            image: None,
        }
    }

    /// The key to the actuator, if the check passed and `again` is the image that was
    /// checked, read from its bytes once more: they were hashed again for it, and the
    /// decision is made once more, from the other copy of all numbers and from what the
    /// image says now.
    #[inline(never)]
    #[must_use]
    pub fn permit(&self, again: &Image<'_>) -> Option<Permit> {
        let permit = self.decided(again)?;
        self.confirmed(permit, again)
    }

    /// The first decision, on the image that was checked and on no other.
    #[inline(always)]
    fn decided(&self, again: &Image<'_>) -> Option<Permit> {
        if self.image.as_ref() != Some(again.hash()) {
            return None;
        }
        let (code, _) = judge(&self.tally, Side::Complement, again.model(), again.task());
        Permit::of(self.code.read(Side::Plain), code, *again.hash())
    }

    /// The decision once more from the other copies, and the hash that the permit carries.
    #[inline(always)]
    fn confirmed(&self, permit: Permit, again: &Image<'_>) -> Option<Permit> {
        let (code, _) = judge(&self.tally, Side::Plain, again.model(), again.task());
        let second = self.code.read(Side::Complement);
        let agree = Permit::of(code, second, *again.hash())?.opens();
        (agree && self.image.as_ref() == Some(permit.image_hash())).then_some(permit)
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

impl Outcome {
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
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::check::tally::Note;
    use crate::check::tests::check;
    use crate::example;
    use crate::gate::permit::{ABSTAIN, DEPLOY, REJECT};

    /// A check of the example that deploys, and its image read again.
    fn passed() -> (Outcome, Image<'static>) {
        let outcome = check(&example::image().unwrap());
        assert_eq!(outcome.verdict, Verdict::Deploy);
        (outcome, example::image().unwrap())
    }

    /// A permit of its own for an image with this hash.
    fn permit_of(hash: [u8; 32]) -> Permit {
        Permit::of(DEPLOY, DEPLOY, hash).unwrap()
    }

    #[test]
    fn a_check_that_passed_opens_after_both_decisions() {
        let (outcome, image) = passed();
        let permit = outcome.decided(&image).unwrap();
        assert_eq!(permit.image_hash(), image.hash());
        assert!(outcome.confirmed(permit, &image).is_some());
        assert!(outcome.permit(&image).is_some());
    }

    #[test]
    fn the_first_decision_is_about_no_other_image() {
        let (mut outcome, image) = passed();
        for other in [None, Some([1; 32])] {
            outcome.image = other;
            assert!(outcome.decided(&image).is_none(), "{other:?}");
        }
    }

    #[test]
    fn a_permit_of_another_image_is_not_confirmed() {
        let (mut outcome, image) = passed();
        let own = || permit_of(*image.hash());
        assert!(outcome.confirmed(own(), &image).is_some());
        assert!(outcome.confirmed(permit_of([1; 32]), &image).is_none());
        for other in [None, Some([1; 32])] {
            outcome.image = other;
            assert!(outcome.confirmed(own(), &image).is_none(), "{other:?}");
        }
    }

    #[test]
    fn each_decision_rests_on_its_own_copy_of_the_code() {
        let (mut outcome, image) = passed();
        let own = || permit_of(*image.hash());
        for word in [REJECT, ABSTAIN, 0] {
            outcome.code = Redundant::of(word, DEPLOY);
            assert!(outcome.decided(&image).is_none());
            assert!(outcome.confirmed(own(), &image).is_some());
            outcome.code = Redundant::of(DEPLOY, word);
            assert!(outcome.decided(&image).is_some());
            assert!(outcome.confirmed(own(), &image).is_none());
            assert!(outcome.permit(&image).is_none());
        }
    }

    /// The code words say deploy; the numbers, or what the image asks now, do not.
    #[test]
    fn each_decision_is_made_again_from_numbers_and_image() {
        let refuses = |outcome: &Outcome, image: &Image<'_>| {
            assert!(outcome.decided(image).is_none());
            let own = permit_of(*image.hash());
            assert!(outcome.confirmed(own, image).is_none());
        };
        let (mut outcome, image) = passed();
        let stricter = example::image_with(|task| task.threshold = Some(-1.5)).unwrap();
        refuses(&outcome, &stricter);
        outcome.tally.note(Note::Corrupted);
        refuses(&outcome, &image);
    }
}
