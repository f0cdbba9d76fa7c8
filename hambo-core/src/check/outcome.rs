//! What a check found.

use heapless::Vec;

use super::Estimate;
use crate::constraint::Constraint;
use crate::image::container::CRC;
use crate::model::Model;
use crate::rollout::Objective;
use crate::task::{Task, Variant};
use crate::verdict::{Claim, Reason, Reasons, Verdict, decide};

/// The largest number of estimates of one check.
pub const MAX_ESTIMATES: usize = 24;

/// A finished check.
#[derive(Debug)]
pub struct Outcome {
    /// The lower bound of the return: the lowest of the variants that
    /// decide, which are those of the task that have an adversary. A canonical
    /// NaN if there is none.
    pub bound: f32,
    /// Mean propagation of the return, likewise.
    pub neutral: f32,
    /// What the bound had to reach.
    pub threshold: Option<f32>,
    /// Every objective under every variant, mean propagation first.
    pub estimates: Vec<Estimate, MAX_ESTIMATES>,
    /// What to do.
    pub verdict: Verdict,
    /// Why it is not `deploy`.
    pub reasons: Reasons,
}

impl Outcome {
    pub(super) fn new(
        model: &Model<'_>,
        task: &Task<'_>,
        estimates: &Vec<Estimate, MAX_ESTIMATES>,
        unfit: &[Reason],
    ) -> Self {
        let mut estimates = estimates.clone();
        let members = model.dynamics.members();
        let holds_members = members > 0 && model.confidence.holds_every_member(members);
        nest(&mut estimates, holds_members);
        let decides = |estimate: &&Estimate| {
            estimate.variant.has_adversary() && task.method.variants.contains(&estimate.variant)
        };
        let claims = estimates.iter().filter(decides).map(|estimate| {
            let (threshold, failure) = match estimate.objective {
                Objective::Return => (task.threshold, Reason::ReturnBelowThreshold),
                Objective::Constraint(place) => {
                    let constraint = task.constraint(estimate.objective);
                    let threshold = constraint.map_or(f32::INFINITY, Constraint::threshold);
                    (Some(threshold), Reason::ConstraintViolated(place))
                }
            };
            Claim {
                mean: estimate.mean,
                lower: estimate.lower,
                threshold,
                failure,
            }
        });
        let (verdict, reasons) = decide(unfit, claims);
        let of_return = |estimate: &&Estimate| estimate.objective == Objective::Return;
        let returns = estimates.iter().filter(of_return);
        let lowers = returns
            .clone()
            .filter(decides)
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
            verdict,
            reasons,
        }
    }
}

impl Outcome {
    /// One number for all estimates, bit for bit: two machines that agree in
    /// it agree in every mean, error and bound.
    ///
    /// ```
    /// use hambo_core::check::{Check, Progress};
    /// let image = hambo_core::example::image()?;
    /// // As many lanes as you like: not a bit changes.
    /// let (mut two, mut four) = ([[0.0; 2]; 128], [[0.0; 4]; 128]);
    /// let two = Check::new(&image, &mut two).map_err(|_| "too few rows")?.advance(1000);
    /// let four = Check::new(&image, &mut four).map_err(|_| "too few rows")?.advance(1000);
    /// let (Progress::Finished(two), Progress::Finished(four)) = (two, four) else {
    ///     return Err("unfinished");
    /// };
    /// assert_eq!(two.digest(), four.digest());
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
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

/// What DAinf finds, DA1 could have done; and a set that holds every member
/// could have followed any of them, so CA could have done both. Where the
/// search missed that, their finding counts: CA <= DA1 <= DAinf, in the means
/// and in the bounds.
pub(super) fn nest(estimates: &mut [Estimate], holds_members: bool) {
    for index in 0..estimates.len() {
        let Some(found) = estimates.get(index).copied() else {
            return;
        };
        if !matches!(
            found.variant,
            Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf
        ) {
            continue;
        }
        let same = |estimate: &&mut Estimate| {
            let could_have = match estimate.variant {
                Variant::ContinuousAdversary => holds_members,
                Variant::DiscreteAdversary1 => true,
                _ => false,
            };
            could_have && estimate.objective == found.objective
        };
        for estimate in estimates.iter_mut().filter(same) {
            if found.mean < estimate.mean {
                estimate.mean = found.mean;
                estimate.adversary = found.adversary;
            }
            if found.lower < estimate.lower {
                estimate.lower = found.lower;
            }
        }
    }
}

/// One NaN for all: machines differ in the bits of theirs.
fn canonical(x: Option<f32>) -> f32 {
    x.filter(|x| !x.is_nan()).unwrap_or(f32::NAN)
}
