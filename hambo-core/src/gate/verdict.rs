//! Deploy, reject or abstain, and why: what is done with the lower bound of
//! definition 2.1.
//!
//! The gate fails closed: whatever is not a finite number at or above its
//! threshold does not deploy. What opens an output is no verdict but a
//! [`Permit`](crate::gate::Permit).

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::code_words;
use crate::model::Calibration;

/// What to do with the controller: a word for people. Outputs ask for a
/// [`Permit`](crate::gate::Permit).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Verdict {
    /// Every lower bound reaches its threshold.
    Deploy,
    /// A lower bound lies below its threshold.
    Reject,
    /// The evidence is unfit for either.
    Abstain,
}

impl Verdict {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Reject => "reject",
            Self::Abstain => "abstain",
        }
    }

    /// The verdict that two code words agree on; whatever is no such word, or
    /// not the same twice, abstains.
    pub(crate) fn of(first: u32, second: u32) -> Self {
        match (first, second) {
            (code_words::DEPLOY, code_words::DEPLOY) => Self::Deploy,
            (code_words::REJECT, code_words::REJECT) => Self::Reject,
            _ => Self::Abstain,
        }
    }
}

/// Why a verdict is not `deploy`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Reason {
    /// The bound of the return lies below its threshold.
    ReturnBelowThreshold,
    /// The bound of this constraint lies below what it must reach.
    ConstraintViolated(u8),
    /// The task states no threshold.
    NoThreshold,
    /// The model failed calibration, or had too little data for it.
    NotCalibrated(Calibration),
    /// This percentage of the steps that no adversary touches begins outside the
    /// region that the log covers.
    OutsideSupport(u8),
    /// A number on the way was not finite.
    NotFinite,
    /// A reward or a constraint lay outside the bounds that the task states.
    OutsideRewardBounds,
    /// The estimates are neutral: no adversary, no verdict.
    NoAdversary,
    /// No trajectory is searched, or none with any sweep.
    NoSearch,
    /// A derivative did not exist, so that the search was blind.
    SearchFailed,
    /// The model is certain everywhere (one network, for example): the
    /// adversary had no choice, and the bound would be an estimate.
    NoWidth,
    /// The log has only this many different first states.
    FewStarts(u8),
    /// The host's own check did not deploy; the image was written in spite of
    /// it.
    RefusedByHost,
    /// The check was stopped before its end.
    Unfinished,
    /// The check would take more steps than the task allows.
    OverBudget,
    /// Two copies of a number, or two evaluations of them, disagree: memory or an
    /// instruction failed.
    Corrupted,
    /// The task asks that only a bound decides that holds for any distribution, and there is
    /// none for this objective, which has no bounds: 0 for the return, from 1 on for the
    /// constraints.
    Unbounded(u8),
    /// No window of the log tested more than this many steps, and the check goes on for more than
    /// twice as many.
    UntestedHorizon(u16),
    /// This percentage of the trajectories that no adversary touches goes far outside the region
    /// that the log covers: more than the log's own do, and 5 %.
    TrajectoriesOutside(u8),
}

/// The largest number of reasons: one for each objective and the others.
pub(crate) const MAX_REASONS: usize = 16;

/// Reasons, in the order in which they were found.
pub type Reasons = Vec<Reason, MAX_REASONS>;

/// A lower bound and what it must reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub mean: f32,
    pub lower: f32,
    pub threshold: Option<f32>,
    pub failure: Reason,
}

/// Decides: a code word and the reasons. `unfit` holds what makes the evidence
/// worthless; each claim must reach its threshold.
pub(crate) fn decide(unfit: &[Reason], claims: impl IntoIterator<Item = Claim>) -> (u32, Reasons) {
    let mut reasons = Reasons::new();
    let mut abstain = !unfit.is_empty();
    let mut reject = false;
    let mut nothing_claimed = true;
    for reason in unfit {
        // A full list loses a word, never the verdict.
        let _ = reasons.push(*reason);
    }
    for claim in claims {
        nothing_claimed = false;
        let reason = match claim.threshold {
            // The adversary drove it there; a threshold is a number.
            Some(_) if claim.mean == f32::NEG_INFINITY => {
                reject = true;
                claim.failure
            }
            _ if !claim.lower.is_finite() => {
                abstain = true;
                Reason::NotFinite
            }
            Some(threshold) if claim.lower >= threshold => continue,
            Some(_) => {
                reject = true;
                claim.failure
            }
            None => {
                abstain = true;
                Reason::NoThreshold
            }
        };
        let _ = reasons.push(reason);
    }
    let code = match (abstain || nothing_claimed, reject) {
        (true, _) => code_words::ABSTAIN,
        (false, true) => code_words::REJECT,
        (false, false) => code_words::DEPLOY,
    };
    (code, reasons)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the code word of a decision is called.
    fn word((code, reasons): (u32, Reasons)) -> (&'static str, Reasons) {
        (Verdict::of(code, code).name(), reasons)
    }

    fn claim(lower: f32, threshold: Option<f32>) -> Claim {
        Claim {
            mean: 0.0,
            lower,
            threshold,
            failure: Reason::ReturnBelowThreshold,
        }
    }

    #[test]
    fn deploys_at_or_above_the_threshold() {
        let (verdict, reasons) = word(decide(
            &[],
            [claim(-1.0, Some(-1.0)), claim(2.0, Some(0.0))],
        ));
        assert_eq!((verdict, reasons.len()), ("deploy", 0));
    }

    #[test]
    fn rejects_below_any_threshold() {
        let (verdict, reasons) = word(decide(
            &[],
            [claim(2.0, Some(0.0)), claim(-1.1, Some(-1.0))],
        ));
        assert_eq!(verdict, "reject");
        assert_eq!(reasons.as_slice(), [Reason::ReturnBelowThreshold]);
    }

    #[test]
    fn an_adversary_that_drives_the_return_to_minus_infinity_is_a_reject() {
        let overflow = Claim {
            mean: f32::NEG_INFINITY,
            ..claim(f32::NEG_INFINITY, Some(-1.0))
        };
        let (verdict, reasons) = word(decide(&[], [overflow]));
        assert_eq!(verdict, "reject");
        assert_eq!(reasons.as_slice(), [Reason::ReturnBelowThreshold]);
    }

    #[test]
    fn nothing_unfit_deploys() {
        for lower in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let (verdict, _) = word(decide(&[], [claim(lower, Some(-1.0))]));
            assert_eq!(verdict, "abstain");
        }
        let nan_threshold = word(decide(&[], [claim(0.0, Some(f32::NAN))]));
        assert_eq!(nan_threshold.0, "reject");
        assert_eq!(word(decide(&[], [])).0, "abstain");
        assert_eq!(word(decide(&[], [claim(0.0, None)])).0, "abstain");
        let unfit = word(decide(
            &[Reason::OutsideSupport(6)],
            [claim(0.0, Some(-1.0))],
        ));
        assert_eq!(unfit.0, "abstain");
    }

    #[test]
    fn code_words_that_disagree_abstain() {
        let words = [
            code_words::DEPLOY,
            code_words::REJECT,
            code_words::ABSTAIN,
            0,
            1,
        ];
        for first in words {
            for second in words.into_iter().filter(|second| *second != first) {
                assert_eq!(Verdict::of(first, second), Verdict::Abstain);
            }
        }
        assert_eq!(Verdict::of(0, 0), Verdict::Abstain);
    }
}
