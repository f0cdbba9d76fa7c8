//! What the sweeps of one objective add up to, gathered candidate by
//! candidate in one order, so that results do not depend on the lanes.

use heapless::Vec;

use super::{Estimate, Search};
use crate::adversary::{MAX_STARTS, constant_count};
use crate::estimate::{Margin, SampleMoments};
use crate::rollout::{Objective, Returns};
use crate::task::Task;
use crate::verdict::{MAX_REASONS, Reason};

/// Sums of one objective, and what speaks against the whole check.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    starts: usize,
    neutral: SampleMoments,
    /// Sums over the trajectories, one for each constant adversary.
    constant: Vec<f32, MAX_STARTS>,
    adversarial: SampleMoments,
    /// The least objective of the trajectory that is being gathered.
    least: f32,
    unfit: Vec<Reason, MAX_REASONS>,
}

impl Tally {
    pub fn new(dimension: usize) -> Self {
        let mut tally = Self {
            starts: constant_count(dimension),
            neutral: SampleMoments::default(),
            constant: Vec::new(),
            adversarial: SampleMoments::default(),
            least: f32::INFINITY,
            unfit: Vec::new(),
        };
        tally.next_objective();
        tally
    }

    /// Empties the sums and keeps the reasons.
    pub fn next_objective(&mut self) {
        self.neutral = SampleMoments::default();
        self.adversarial = SampleMoments::default();
        self.least = f32::INFINITY;
        self.constant.clear();
        // There are at most as many starts as places.
        let _ = self.constant.resize(self.starts, 0.0);
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

    pub fn add_neutral<const B: usize>(&mut self, returns: &Returns<B>, left: u32) {
        let flags = returns.finite.iter().zip(&returns.outside);
        for ((value, (finite, outside)), _) in returns.value.iter().zip(flags).zip(0..left) {
            self.neutral.push(*value);
            if !finite {
                self.unfit(Reason::NotFinite);
            }
            if *outside {
                self.unfit(Reason::OutsideSupport);
            }
        }
    }

    pub fn add_search<const B: usize>(&mut self, search: &Search<B>, left: u32) {
        let found = search.constant.iter().zip(&search.least);
        let marks = search.starts().iter().zip(&search.finite);
        for (((constant, least), (start, finite)), _) in found.zip(marks).zip(0..left) {
            if !finite {
                self.unfit(Reason::NotFinite);
            }
            if let Some(sum) = self.constant.get_mut(*start) {
                *sum += *constant;
            }
            if *least < self.least {
                self.least = *least;
            }
            if start.saturating_add(1) == self.starts {
                self.adversarial.push(self.least);
                self.least = f32::INFINITY;
            }
        }
    }

    /// The objective's estimate and its lower bound. Half of delta is the
    /// model's; the other half is shared by the objectives.
    pub fn estimate(&mut self, objective: Objective, task: &Task<'_>, objectives: f32) -> Estimate {
        let delta = task.delta * 0.5 / objectives;
        let mut margin = Margin::StudentT;
        if let (Objective::Return, Some(bounds)) = (objective, task.reward_bounds) {
            let [low, high] = task.return_bounds(bounds);
            if !(self.adversarial.least() >= low && self.adversarial.greatest() <= high) {
                self.unfit(Reason::OutsideRewardBounds);
            }
            margin = Margin::Bernstein { range: high - low };
        }
        let count = self.adversarial.count() as f32;
        let (mut worst_constant, mut constant) = (0, f32::INFINITY);
        for (index, sum) in self.constant.iter().enumerate() {
            if *sum / count < constant {
                (worst_constant, constant) = (index, *sum / count);
            }
        }
        Estimate {
            objective,
            neutral: self.neutral.mean(),
            constant,
            worst_constant,
            adversarial: self.adversarial.mean(),
            standard_error: self.adversarial.standard_error(),
            margin,
            lower: self.adversarial.mean() - self.adversarial.margin(margin, delta),
        }
    }
}
