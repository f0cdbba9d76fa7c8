//! Equation (2)'s minimum, sampled: on every trajectory the least objective
//! over all adversaries tried. Candidates are added in one order, so that the
//! sums do not depend on the lanes that searched them.

use heapless::Vec;

use super::constant::MAX_STARTS;
use super::member_quantile::member_quantile;
use super::search::SearchResult;
use crate::estimate::{Margin, SampleMoments};

/// The samples of one estimate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Minimum {
    /// The objective at each start of the adversary, before any search.
    starts: Vec<SampleMoments, MAX_STARTS>,
    /// How many of them are constant; the others are trained adversaries.
    constants: usize,
    /// The least objective so far on the trajectory that is being added.
    least: f32,
    /// The least objective of each trajectory.
    searched: SampleMoments,
    /// Likewise without the trained adversaries.
    searched_from_constants: SampleMoments,
}

impl Minimum {
    /// Empties the samples for an estimate with so many starts, the first of
    /// them constant.
    pub fn begin(&mut self, starts: usize, constants: usize) {
        self.constants = constants;
        self.searched = SampleMoments::default();
        self.searched_from_constants = SampleMoments::default();
        self.least = f32::INFINITY;
        self.starts.clear();
        // More starts than places are refused before the check begins.
        let _ = self.starts.resize(starts, SampleMoments::default());
    }

    /// Adds the next candidate: trajectory by trajectory, and within one by
    /// the start.
    pub fn add(&mut self, result: &SearchResult) {
        if let Some(sample) = self.starts.get_mut(result.start) {
            sample.push(result.start_value);
        }
        if result.least < self.least {
            self.least = result.least;
        }
        let after = result.start.saturating_add(1);
        if after == self.constants {
            self.searched_from_constants.push(self.least);
        }
        if after == self.starts.len() {
            self.searched.push(self.least);
            self.least = f32::INFINITY;
        }
    }

    /// The least objective of each trajectory.
    pub fn searched(&self) -> &SampleMoments {
        &self.searched
    }

    /// Likewise without the trained adversaries.
    pub fn searched_from_constants(&self) -> &SampleMoments {
        &self.searched_from_constants
    }

    /// What the trained adversary reaches by itself, where there is one.
    pub fn trained(&self) -> Option<&SampleMoments> {
        self.starts.get(self.constants)
    }

    /// The constant start with the least mean, and that mean.
    pub fn worst_constant(&self) -> (usize, f32) {
        let mut worst = (0, f32::INFINITY);
        for (start, sample) in self.starts.iter().enumerate().take(self.constants) {
            if sample.mean() < worst.1 {
                worst = (start, sample.mean());
            }
        }
        worst
    }

    /// Whether every objective lies in an interval.
    pub fn lies_within(&self, [low, high]: [f32; 2]) -> bool {
        let samples = self.starts.iter().chain(core::iter::once(&self.searched));
        let inside = |sample: &SampleMoments| sample.least() >= low && sample.greatest() <= high;
        samples.into_iter().all(inside)
    }

    /// Mean and lower bound over whole members, see [`member_quantile`].
    pub fn member_quantile(&self, margin: Margin, failure: f32, quantile: f32) -> (f32, f32) {
        member_quantile(&self.starts, margin, failure, quantile)
    }
}
