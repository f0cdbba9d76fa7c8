//! Deploy, reject or abstain, and why: what is done with the lower bound of
//! definition 2.1.
//!
//! The gate fails closed: whatever is not a finite number at or above its
//! threshold does not deploy, and only this file can make a [`Permit`].

use heapless::Vec;
use serde::{Deserialize, Serialize};

use crate::model::Calibration;

/// The key to the actuator. Only a check that passed holds one; it cannot be
/// copied or made elsewhere.
///
/// ```
/// use hambo_core::check::{Check, Progress};
/// use hambo_core::verdict::{Permit, Verdict};
///
/// /// An output that nothing but a passed check can open.
/// fn enable(_: Permit) -> bool {
///     true
/// }
///
/// let image = hambo_core::example::image()?;
/// let mut rows = [[0.0; 4]; 128];
/// let mut check = Check::new(&image, &mut rows).map_err(|_| "too few rows")?;
/// let enabled = match check.advance(1000) {
///     Progress::Finished(outcome) => match outcome.verdict {
///         Verdict::Deploy(permit) => enable(permit),
///         Verdict::Reject | Verdict::Abstain => false,
///     },
///     Progress::Working { .. } => false,
/// };
/// assert!(enabled);
/// # Ok::<(), &str>(())
/// ```
///
/// Nobody else has one to give. This would compile if the field were public:
///
/// ```compile_fail,E0423
/// use hambo_core::verdict::{Permit, Verdict};
/// let forged = Verdict::Deploy(Permit(()));
/// ```
///
/// and this, which is the same but for the forged permit, does:
///
/// ```
/// use hambo_core::verdict::{Permit, Verdict};
/// let pass_on = |permit: Permit| Verdict::Deploy(permit);
/// ```
///
/// A permit opens one output: it has no copy.
///
/// ```compile_fail,E0382
/// use hambo_core::verdict::{Permit, Verdict};
/// let twice = |permit: Permit| [Verdict::Deploy(permit), Verdict::Deploy(permit)];
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Permit(());

/// What to do with the controller.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Verdict {
    /// Every lower bound reaches its threshold.
    Deploy(Permit),
    /// A lower bound lies below its threshold.
    Reject,
    /// The evidence is unfit for either.
    Abstain,
}

impl Verdict {
    /// The word for it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Deploy(_) => "deploy",
            Self::Reject => "reject",
            Self::Abstain => "abstain",
        }
    }
}

/// Why a verdict is not `deploy`.
///
/// ```
/// use hambo_core::check::{Check, Progress};
/// use hambo_core::verdict::Reason;
/// // The bound is -1.61.
/// let image = hambo_core::example::image_with(|task| task.threshold = Some(-1.5))?;
/// let mut rows = [[0.0; 4]; 128];
/// let mut check = Check::new(&image, &mut rows).map_err(|_| "too few rows")?;
/// let Progress::Finished(outcome) = check.advance(1000) else {
///     return Err("unfinished");
/// };
/// assert_eq!(outcome.verdict.name(), "reject");
/// assert_eq!(outcome.reasons, [Reason::ReturnBelowThreshold]);
/// # Ok::<(), &str>(())
/// ```
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
    /// So many per cent of the steps that no adversary touches begin outside the
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
    /// The log has so few different first states.
    FewStarts(u8),
    /// The host's own check did not deploy; the image was written in spite of
    /// it.
    RefusedByHost,
    /// The check was stopped before its end.
    Unfinished,
    /// The check would take more steps than the task allows.
    OverBudget,
}

/// The largest number of reasons: one for each objective and the others.
pub const MAX_REASONS: usize = 16;

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

/// Decides. `unfit` holds what makes the evidence worthless; each claim must
/// reach its threshold.
pub(crate) fn decide(
    unfit: &[Reason],
    claims: impl IntoIterator<Item = Claim>,
) -> (Verdict, Reasons) {
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
    let verdict = match (abstain || nothing_claimed, reject) {
        (true, _) => Verdict::Abstain,
        (false, true) => Verdict::Reject,
        (false, false) => Verdict::Deploy(Permit(())),
    };
    (verdict, reasons)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let (verdict, reasons) = decide(&[], [claim(-1.0, Some(-1.0)), claim(2.0, Some(0.0))]);
        assert_eq!((verdict.name(), reasons.len()), ("deploy", 0));
    }

    #[test]
    fn rejects_below_any_threshold() {
        let (verdict, reasons) = decide(&[], [claim(2.0, Some(0.0)), claim(-1.1, Some(-1.0))]);
        assert_eq!(verdict.name(), "reject");
        assert_eq!(reasons.as_slice(), [Reason::ReturnBelowThreshold]);
    }

    #[test]
    fn an_adversary_that_drives_the_return_to_minus_infinity_is_a_reject() {
        let overflow = Claim {
            mean: f32::NEG_INFINITY,
            ..claim(f32::NEG_INFINITY, Some(-1.0))
        };
        let (verdict, reasons) = decide(&[], [overflow]);
        assert_eq!(verdict.name(), "reject");
        assert_eq!(reasons.as_slice(), [Reason::ReturnBelowThreshold]);
    }

    #[test]
    fn nothing_unfit_deploys() {
        for lower in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let (verdict, _) = decide(&[], [claim(lower, Some(-1.0))]);
            assert_eq!(verdict.name(), "abstain");
        }
        let nan_threshold = decide(&[], [claim(0.0, Some(f32::NAN))]);
        assert_eq!(nan_threshold.0.name(), "reject");
        assert_eq!(decide(&[], []).0.name(), "abstain");
        assert_eq!(decide(&[], [claim(0.0, None)]).0.name(), "abstain");
        let unfit = decide(&[Reason::OutsideSupport(6)], [claim(0.0, Some(-1.0))]);
        assert_eq!(unfit.0.name(), "abstain");
    }
}
