//! What the sweeps of one estimate add up to, gathered candidate by candidate
//! in one order, so that results do not depend on the lanes.

use heapless::Vec;

use super::{Adversary, Estimate, Found};
use crate::adversary::MAX_STARTS;
use crate::estimate::{Margin, SampleMoments};
use crate::rollout::{Objective, Rollout};
use crate::task::{Task, Variant};
use crate::verdict::{MAX_REASONS, Reason};

/// From more members than this on, DAinf takes the delta-quantile of their
/// values instead of the least, as section 4.1 of the paper recommends.
const MANY_MEMBERS: usize = 20;

/// Sums of one estimate, and what speaks against the whole check.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// One sample for each start of the adversary.
    starts: Vec<SampleMoments, MAX_STARTS>,
    /// How many of them are constant; the others are trained adversaries.
    constants: usize,
    /// The least objective of each trajectory.
    searched: SampleMoments,
    /// That of the trajectory that is being gathered.
    least: f32,
    /// Likewise without the trained adversaries.
    searched_from_constants: SampleMoments,
    unfit: Vec<Reason, MAX_REASONS>,
}

impl Tally {
    pub fn new() -> Self {
        Self {
            starts: Vec::new(),
            constants: 0,
            searched: SampleMoments::default(),
            least: f32::INFINITY,
            searched_from_constants: SampleMoments::default(),
            unfit: Vec::new(),
        }
    }

    /// Empties the sums for an estimate with so many starts, the first of
    /// them constant, and keeps the reasons.
    pub fn begin(&mut self, starts: usize, constants: usize) {
        self.constants = constants;
        self.searched = SampleMoments::default();
        self.searched_from_constants = SampleMoments::default();
        self.least = f32::INFINITY;
        self.starts.clear();
        // More starts than places are refused before the check begins.
        let _ = self.starts.resize(starts, SampleMoments::default());
    }

    /// Notes once what makes the evidence unfit.
    pub fn unfit(&mut self, reason: Reason) {
        if !self.unfit.contains(&reason) {
            let _ = self.unfit.push(reason);
        }
    }

    pub fn reasons(&self) -> &[Reason] {
        &self.unfit
    }

    /// Takes in the next candidate.
    pub fn add(&mut self, variant: Variant, found: &Found) {
        let start = found.start;
        if !found.finite {
            self.unfit(Reason::NotFinite);
        }
        if found.outside && variant == Variant::Mean {
            self.unfit(Reason::OutsideSupport);
        }
        if let Some(sample) = self.starts.get_mut(start) {
            sample.push(found.first);
        }
        if found.least < self.least {
            self.least = found.least;
        }
        if start.saturating_add(1) == self.constants {
            self.searched_from_constants.push(self.least);
        }
        if start.saturating_add(1) == self.starts.len() {
            self.searched.push(self.least);
            self.least = f32::INFINITY;
        }
    }

    /// The estimate with its lower bound, except with probability `delta`.
    pub fn estimate<P>(&mut self, rollout: &Rollout<'_, P>, delta: f32) -> Estimate {
        let (objective, variant, task) = (rollout.objective, rollout.variant, rollout.task);
        let margin = self.margin(objective, task);
        let mut worst = (0, f32::INFINITY);
        for (start, sample) in self.starts.iter().enumerate().take(self.constants) {
            if sample.mean() < worst.1 {
                worst = (start, sample.mean());
            }
        }
        let (worst_start, start_mean) = worst;
        let network = self.starts.get(self.constants);
        let network_mean = network.map(SampleMoments::mean);
        let mut mean = self.searched.mean();
        let mut lower = mean - self.searched.margin(margin, delta);
        if matches!(
            variant,
            Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf
        ) {
            let members = self.members(margin, delta, task.delta);
            if variant == Variant::DiscreteAdversaryInf {
                (mean, lower) = members;
            } else {
                // What DAinf finds, DA1 could have done.
                lower = if members.1 < lower { members.1 } else { lower };
            }
        }
        let adversary = match variant {
            _ if network_mean.is_some_and(|network| network <= mean) => Adversary::Network,
            Variant::ContinuousAdversary if mean < start_mean => Adversary::Adjoint,
            Variant::ContinuousAdversary => Adversary::Constant(worst_start as u16),
            Variant::DiscreteAdversary1 if mean < start_mean => Adversary::Sequence,
            Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf => {
                Adversary::Member(worst_start as u16)
            }
            _ => Adversary::None,
        };
        Estimate {
            objective,
            variant,
            adversary,
            start_mean,
            search_mean: self.searched_from_constants.mean(),
            network_mean,
            mean,
            standard_error: self.searched.standard_error(),
            margin,
            lower,
        }
    }

    fn margin(&mut self, objective: Objective, task: &Task<'_>) -> Margin {
        match (objective, task.reward_bounds) {
            (Objective::Return, Some(bounds)) => {
                let [low, high] = task.return_bounds(bounds);
                let outside = self
                    .starts
                    .iter()
                    .chain(core::iter::once(&self.searched))
                    .any(|sample| !(sample.least() >= low && sample.greatest() <= high));
                if outside {
                    self.unfit(Reason::OutsideRewardBounds);
                }
                Margin::Bernstein { range: high - low }
            }
            _ => Margin::StudentT,
        }
    }

    /// Mean and lower bound over whole members: the least of them, or for
    /// many members the delta-quantile. All are compared, so all share delta.
    fn members(&self, margin: Margin, delta: f32, quantile: f32) -> (f32, f32) {
        let count = self.starts.len();
        let shared = delta / count.max(1) as f32;
        let rank = if count > MANY_MEMBERS {
            (libm::ceilf(quantile * count as f32) as usize).saturating_sub(1)
        } else {
            0
        };
        let means = self.starts.iter().map(SampleMoments::mean);
        let lowers = self
            .starts
            .iter()
            .map(|sample| sample.mean() - sample.margin(margin, shared));
        (ranked(means, rank), ranked(lowers, rank))
    }
}

/// The number with exactly `rank` smaller ones before it in order; NaN if one
/// is NaN or there are too few.
fn ranked(numbers: impl Iterator<Item = f32> + Clone, rank: usize) -> f32 {
    if numbers.clone().any(f32::is_nan) {
        return f32::NAN;
    }
    let candidates = numbers.clone();
    for candidate in candidates {
        let below = numbers.clone().filter(|x| *x < candidate).count();
        let equal = numbers.clone().filter(|x| *x == candidate).count();
        if below <= rank && rank < below.saturating_add(equal) {
            return candidate;
        }
    }
    f32::NAN
}

#[cfg(test)]
mod tests {
    use super::ranked;

    #[test]
    fn ranks_with_ties() {
        let numbers = [3.0, 1.0, 2.0, 1.0, 5.0];
        let at = |rank| ranked(numbers.iter().copied(), rank);
        assert_eq!(
            [at(0), at(1), at(2), at(3), at(4)],
            [1.0, 1.0, 2.0, 3.0, 5.0]
        );
        assert!(at(5).is_nan());
        assert!(ranked([1.0, f32::NAN].iter().copied(), 0).is_nan());
    }
}
