//! The constraints c_i of the paper's section 2, and when in time each must
//! hold.
//!
//! A constraint is a margin at every step of a trajectory, and kept where it is
//! at least 0. Its [`ConstraintKind`] makes one number of a trajectory's
//! margins: their mean (the paper's constraint), the least, the last or the
//! greatest. What must hold is either that this number is at least 0 on
//! average, or that it is in a share of the trajectories.

use serde::{Deserialize, Serialize};

/// When in time a constraint must hold.
///
/// ```
/// use hambo_core::task::ConstraintKind;
/// let margins = [2.0, -1.0, 3.0, 1.0];
/// let of = |kind: ConstraintKind| {
///     let join = |so_far: f32, margin: &f32| kind.joined(so_far, *margin);
///     margins.iter().fold(kind.of_no_step(), join)
/// };
/// assert_eq!(of(ConstraintKind::Always), -1.0);
/// assert_eq!(of(ConstraintKind::Finally), 1.0);
/// assert_eq!(of(ConstraintKind::Eventually), 3.0);
/// // The mean is a sum until the number of steps is known.
/// assert_eq!(of(ConstraintKind::Mean), 5.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConstraintKind {
    /// On average over the visited steps.
    Mean,
    /// At every visited step: the least margin counts.
    Always,
    /// At the last visited step.
    Finally,
    /// At one visited step or more: the greatest margin counts.
    Eventually,
}

impl ConstraintKind {
    /// The number of a trajectory that has no step yet.
    pub fn of_no_step(self) -> f32 {
        match self {
            Self::Mean => 0.0,
            Self::Always => f32::INFINITY,
            Self::Finally => f32::NAN,
            Self::Eventually => f32::NEG_INFINITY,
        }
    }

    /// The number of a trajectory, from that of the steps so far and the margin of
    /// the next one; of a mean the sum.
    pub fn joined(self, so_far: f32, margin: f32) -> f32 {
        match self {
            Self::Mean => so_far + margin,
            Self::Always if so_far <= margin => so_far,
            Self::Eventually if so_far >= margin => so_far,
            Self::Always | Self::Eventually | Self::Finally => margin,
        }
    }
}

/// What must hold of a margin.
///
/// ```
/// use hambo_core::task::{Constraint, ConstraintKind};
/// // Never closer than the margin's 0, in 99 of 100 trajectories.
/// let wall = Constraint { slot: 3, kind: ConstraintKind::Always, probability: Some(0.99) };
/// assert_eq!(wall.threshold(), 0.99);
/// assert_eq!((wall.outcome(0.1), wall.outcome(-0.1)), (1.0, 0.0));
/// // Without a probability the mean over the trajectories must be at least 0.
/// let mean = Constraint { probability: None, ..wall };
/// assert_eq!((mean.threshold(), mean.outcome(-0.1)), (0.0, -0.1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constraint {
    /// The tape's slot of the margin.
    pub slot: u16,
    /// When in time.
    pub kind: ConstraintKind,
    /// The share of trajectories that must keep it; none if the mean over all
    /// trajectories must.
    pub probability: Option<f32>,
}

impl Constraint {
    /// On average over steps and trajectories, as in the paper.
    pub fn mean(slot: u16) -> Self {
        Self {
            slot,
            kind: ConstraintKind::Mean,
            probability: None,
        }
    }

    /// What its lower bound must reach.
    pub fn threshold(&self) -> f32 {
        self.probability.unwrap_or(0.0)
    }

    /// What a trajectory with this number adds to the mean: the number, or
    /// whether it keeps the constraint. A NaN does not.
    pub fn outcome(&self, number: f32) -> f32 {
        match self.probability {
            None => number,
            Some(_) if number >= 0.0 => 1.0,
            Some(_) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_that_is_no_number_is_not_hidden_and_keeps_nothing() {
        for kind in [ConstraintKind::Always, ConstraintKind::Eventually] {
            assert!(kind.joined(1.0, f32::NAN).is_nan(), "{kind:?}");
        }
        let constraint = Constraint {
            probability: Some(0.5),
            ..Constraint::mean(0)
        };
        assert_eq!(constraint.outcome(f32::NAN), 0.0);
        assert_eq!(constraint.outcome(f32::NEG_INFINITY), 0.0);
        assert_eq!(
            (constraint.outcome(0.0), constraint.outcome(-0.0)),
            (1.0, 1.0)
        );
    }
}
