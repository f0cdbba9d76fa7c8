//! Whether what a check found can be relied on at all.

use hambo_core::check::Outcome;
use hambo_core::gate::{Reason, Verdict};

/// How a controller stands after its check, from bad to good: evidence that is unfit says
/// less than a constraint that is broken, and that less than a bound.
///
/// ```
/// use hambo_check::fitness::Standing;
/// assert!(Standing::Unfit < Standing::BreaksConstraint);
/// assert!(Standing::BreaksConstraint < Standing::Sound);
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Standing {
    /// The evidence is unfit: no number of the check is worth anything.
    Unfit,
    /// A constraint's lower bound lies below zero.
    BreaksConstraint,
    /// The evidence is fit and all constraints hold; the bound may be low.
    Sound,
}

impl Standing {
    /// That of a finished check.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        let reasons = outcome.reasons.iter();
        let least = reasons.map(|reason| Self::under(*reason)).min();
        match (least, &outcome.verdict) {
            // Nothing was claimed at all.
            (None, Verdict::Abstain) => Self::Unfit,
            (least, _) => least.unwrap_or(Self::Sound),
        }
    }

    /// The best that a reason leaves. A reason that is not known here counts as unfit.
    fn under(reason: Reason) -> Self {
        match reason {
            // A number is too small, or there is none to compare it with.
            Reason::ReturnBelowThreshold | Reason::NoThreshold => Self::Sound,
            Reason::ConstraintViolated(_) => Self::BreaksConstraint,
            _ => Self::Unfit,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::search::parallel::{LANES, Watch, check};
    use hambo_core::model::Calibration;

    #[test]
    fn reasons_count_by_what_they_leave() {
        let standing = |threshold| {
            let image = hambo_core::example::image_with(|task| task.threshold = threshold);
            let checked = check::<LANES>(&image.unwrap(), Watch::NONE);
            Standing::of(&checked.unwrap().outcome)
        };
        // The bound is -1.61.
        assert_eq!(standing(Some(-2.0)), Standing::Sound);
        assert_eq!(standing(Some(-1.0)), Standing::Sound);
        assert_eq!(standing(None), Standing::Sound);

        let violated = Standing::under(Reason::ConstraintViolated(0));
        assert_eq!(violated, Standing::BreaksConstraint);
        for reason in [
            Reason::NotCalibrated(Calibration::Failed),
            Reason::OutsideSupport(9),
            Reason::TrajectoriesOutside(9),
            Reason::UntestedHorizon(9),
            Reason::NotFinite,
            Reason::OutsideRewardBounds,
            Reason::Unfinished,
            Reason::OverBudget,
        ] {
            assert_eq!(Standing::under(reason), Standing::Unfit, "{reason:?}");
        }
    }
}
