//! What a check found.

use heapless::Vec;

use super::tally::Tally;
use crate::estimate::Margin;
use crate::rollout::Objective;
use crate::task::{MAX_CONSTRAINTS, Task};
use crate::verdict::{Claim, Reason, Reasons, Verdict, decide};

/// The return and the constraints.
pub(super) const MAX_OBJECTIVES: usize = MAX_CONSTRAINTS + 1;

/// The estimates of one objective, each a mean over the trajectories.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// What was estimated.
    pub objective: Objective,
    /// Mean propagation.
    pub neutral: f32,
    /// The least of the constant adversaries.
    pub constant: f32,
    /// The number of that constant adversary.
    pub worst_constant: usize,
    /// The least that the adversary found on each trajectory: at most all of
    /// the constants.
    pub adversarial: f32,
    /// The standard error of `adversarial`.
    pub standard_error: f32,
    /// Where the sampling margin comes from.
    pub margin: Margin,
    /// `adversarial` less its margin: the lower bound.
    pub lower: f32,
}

/// A finished check.
#[derive(Debug)]
pub struct Outcome {
    /// The lower bound of the return, a canonical NaN if there is none.
    pub bound: f32,
    /// The neutral estimate of the return, likewise.
    pub neutral: f32,
    /// What the bound had to reach.
    pub threshold: Option<f32>,
    /// The return first, then the constraints.
    pub estimates: Vec<Estimate, MAX_OBJECTIVES>,
    /// What to do.
    pub verdict: Verdict,
    /// Why it is not `deploy`.
    pub reasons: Reasons,
}

impl Outcome {
    pub(super) fn new(
        task: &Task<'_>,
        estimates: &Vec<Estimate, MAX_OBJECTIVES>,
        tally: &Tally,
    ) -> Self {
        let claims = (0_u8..)
            .zip(estimates)
            .map(|(index, estimate)| match estimate.objective {
                Objective::Return => Claim {
                    lower: estimate.lower,
                    threshold: task.threshold,
                    failure: Reason::ReturnBelowThreshold,
                },
                Objective::Constraint(_) => Claim {
                    lower: estimate.lower,
                    threshold: Some(0.0),
                    failure: Reason::ConstraintViolated(index.saturating_sub(1)),
                },
            });
        let (verdict, reasons) = decide(tally.reasons(), claims);
        let first = estimates.first();
        Self {
            bound: first.map_or(f32::NAN, |estimate| canonical(estimate.lower)),
            neutral: first.map_or(f32::NAN, |estimate| canonical(estimate.neutral)),
            threshold: task.threshold,
            estimates: estimates.clone(),
            verdict,
            reasons,
        }
    }
}

/// One NaN for all: machines differ in the bits of theirs.
fn canonical(x: f32) -> f32 {
    if x.is_nan() { f32::NAN } else { x }
}
