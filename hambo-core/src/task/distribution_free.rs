//! Which bounds must hold for any distribution of the trajectories' values.

use serde::{Deserialize, Serialize};

/// The objectives of which a bound decides that holds for any distribution of the
/// trajectories' values, on both levels of its estimate; from the least strict to the
/// strictest. Elsewhere betting counts where it is cheap beside the values, else Student's t.
///
/// The host finds it by what the task states, before anything is walked: a choice by the
/// values would take Student's t where no disaster was met.
///
/// ```
/// use hambo_core::task::DistributionFree;
/// assert_eq!(DistributionFree::of(None, false), DistributionFree::Shares);
/// assert_eq!(DistributionFree::of(None, true), DistributionFree::SharesAndReturn);
/// assert!(DistributionFree::of(Some(false), true) < DistributionFree::of(Some(true), false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DistributionFree {
    /// None: the task says so.
    Nothing,
    /// Requirements with a probability, since a share lies between 0 and 1.
    Shares,
    /// Those and the return, whose bounds the task states.
    SharesAndReturn,
    /// All: the task says so, and an objective without bounds abstains.
    Everything,
}

impl DistributionFree {
    /// That of a task which asks for it, or asks not to have it, or says nothing.
    /// `return_stated` if it states bounds of the return or of the reward.
    pub fn of(asked: Option<bool>, return_stated: bool) -> Self {
        match asked {
            Some(false) => Self::Nothing,
            Some(true) => Self::Everything,
            None if return_stated => Self::SharesAndReturn,
            None => Self::Shares,
        }
    }
}
