//! One objective under one variant: the sampled minimum, corrected by the
//! search, less the margins of both.

use crate::adversary::{COURSE, Minimum, Start, levels, searches};
use crate::estimate::{ErrorBudget, LevelEstimate, Margin};
use crate::numeric::elementary::sqrt;
use crate::rollout::Rollout;
use crate::task::{Objective, Variant};

/// Who found an estimate's minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Adversary {
    /// There is none: a neutral estimate.
    None,
    /// A constant adversary, by number.
    Constant(u16),
    /// All members in turn, each for 2^n steps, by n.
    Turns(u16),
    /// A sequence that was found on other trajectories.
    Found(u16),
    /// One member for the whole trajectory.
    Member(u16),
    /// The adjoint search.
    Adjoint,
    /// The search over member sequences.
    Sequence,
    /// A trained network.
    Network,
}

/// One objective under one variant.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// What was estimated.
    pub objective: Objective,
    /// What happened inside the uncertainty.
    pub variant: Variant,
    /// Who found the minimum.
    pub adversary: Adversary,
    /// The first level: many trajectories, each at the least of all starts. In a focused
    /// check that of the starts that its pilot kept and what the others take, together.
    pub sampled: LevelEstimate,
    /// Where the first level's margin comes from.
    pub margin: Margin,
    /// The second level: what the search finds beyond that, at most 0. Its
    /// margin is Student's, unless the bound must hold for any distribution.
    pub correction: Option<LevelEstimate>,
    /// What single adversaries reach on the searched trajectories.
    pub found: Contenders,
    /// The estimate: both levels' means (DAinf: the least mean of a member).
    pub mean: f32,
    /// Its standard error.
    pub standard_error: f32,
    /// The lower bound: both levels' bounds.
    pub lower: f32,
}

/// What adversaries reach by themselves, as means over the same trajectories:
/// the searched ones, or all of them where nothing is searched.
#[derive(Clone, Copy, Debug)]
pub struct Contenders {
    /// The least mean of a constant adversary.
    pub constant: Option<f32>,
    /// The least mean of a member.
    pub member: Option<f32>,
    /// The least mean of a sequence that was found on other trajectories.
    pub elsewhere: Option<f32>,
    /// What the search reaches from all of these.
    pub search: f32,
    /// What the trained network reaches.
    pub network: Option<f32>,
    /// What all of them reach as the sweeps go on, see
    /// [`course_sweep`](crate::adversary::course_sweep).
    pub course: [f32; COURSE],
}

impl Contenders {
    fn of(minimum: &Minimum) -> Self {
        let least = |wanted: fn(Start) -> bool| minimum.worst_start(wanted).map(|(_, mean)| mean);
        Self {
            constant: least(|start| matches!(start, Start::Constant(_))),
            member: least(|start| matches!(start, Start::Member(_))),
            elsewhere: least(|start| matches!(start, Start::Found(_))),
            search: minimum.untrained_mean(),
            network: least(|start| start == Start::Network),
            course: minimum.course(),
        }
    }
}

/// What each level of an estimate may spend.
pub(super) fn level_share<P>(rollout: &Rollout<'_, P>, budget: &ErrorBudget) -> f32 {
    budget.level(levels(rollout))
}

impl Estimate {
    /// The estimate from its samples. Student's t has at most `freedom`
    /// degrees of freedom.
    pub(super) fn new<P>(
        rollout: &Rollout<'_, P>,
        minimum: &Minimum,
        budget: &ErrorBudget,
        freedom: u32,
    ) -> Self {
        let variant = rollout.variant;
        let share = level_share(rollout, budget);
        let mut sampled = minimum.sampled(share, freedom);
        if let Some(left_out) = minimum.left_out() {
            sampled = sampled.plus(left_out);
        }
        if variant == Variant::DiscreteAdversaryInf {
            (sampled.mean, sampled.lower) = minimum.member_quantile(budget);
            sampled.distribution_free = minimum.least_member();
        }
        let mut correction = minimum.correction(share, freedom);
        correction = correction.filter(|_| searches(variant));
        let (mut mean, mut lower) = (sampled.mean, sampled.lower);
        if let Some(correction) = correction {
            mean += correction.mean;
            lower += correction.lower;
        }
        if rollout.task.is_share(rollout.objective) {
            // Whatever comes off it, a share is no less.
            for share in [&mut mean, &mut lower] {
                if *share < 0.0 {
                    *share = 0.0;
                }
            }
            let taken = correction.map_or(0.0, |level| -level.distribution_free);
            if sampled.distribution_free < taken {
                sampled.distribution_free = taken;
            }
        }
        let mut found = Contenders::of(minimum);
        if variant == Variant::DiscreteAdversaryInf {
            found.search = mean;
        }
        Self {
            objective: rollout.objective,
            variant,
            adversary: adversary(variant, minimum, &found),
            sampled,
            margin: sampled.margin,
            correction,
            found,
            mean,
            standard_error: correction.map_or(sampled.standard_error, |correction| {
                let [a, b] = [sampled.standard_error, correction.standard_error];
                sqrt(a * a + b * b)
            }),
            lower,
        }
    }

    /// The lower bound for any distribution of the trajectories' values, both levels included;
    /// none where the objective has no bounds.
    pub fn distribution_free(&self) -> Option<f32> {
        let correction = self.correction.map_or(0.0, |level| level.distribution_free);
        Some(self.sampled.distribution_free + correction).filter(|bound| !bound.is_nan())
    }
}

/// Who found the minimum: the single adversary with the least mean, unless
/// the search went below it.
fn adversary(variant: Variant, minimum: &Minimum, found: &Contenders) -> Adversary {
    if !variant.has_adversary() {
        return Adversary::None;
    }
    let [.., last] = found.course;
    match minimum.worst_start(|_| true) {
        Some((_, mean)) if searches(variant) && last < mean => match variant {
            Variant::ContinuousAdversary => Adversary::Adjoint,
            _ => Adversary::Sequence,
        },
        Some((Start::Constant(number), _)) => Adversary::Constant(number as u16),
        Some((Start::Member(member), _)) => Adversary::Member(member as u16),
        Some((Start::Turns(doublings), _)) => Adversary::Turns(doublings as u16),
        Some((Start::Found(number), _)) => Adversary::Found(number as u16),
        Some((Start::Network, _)) => Adversary::Network,
        None => Adversary::None,
    }
}
