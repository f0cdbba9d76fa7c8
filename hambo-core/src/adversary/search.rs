//! A search on a group of `B` candidates side by side: each is a trajectory
//! (its initial state and noise) and a start of the adversary.

use super::adjoint_search::AdjointSearch;
use super::schedule::{Round, ScheduledSweep};
use super::sequence_search::SequenceSearch;
use super::{constant_starts, iterations, starts};
use crate::arithmetic::random::Stream;
use crate::policy::Policy;
use crate::rollout::{Buffers, Returns, Rollout};
use crate::task::Variant;

/// The sweeps on one group. The first is the start itself: a constant
/// adversary, a trained one, or none; every later one is a step of the search.
#[derive(Clone, Debug)]
pub struct Search<const B: usize> {
    starts: [usize; B],
    streams: [Stream; B],
    iterations: u32,
    iteration: u32,
    sequence: SequenceSearch<B>,
    start_value: [f32; B],
    least: [f32; B],
    least_iteration: [u32; B],
    finite: [bool; B],
    outside: [bool; B],
}

/// What the sweeps found for one candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchResult {
    /// Its start.
    pub start: usize,
    /// The objective at the start.
    pub start_value: f32,
    /// The least objective of all sweeps.
    pub least: f32,
    /// False once a number was not finite.
    pub finite: bool,
    /// True if the first sweep left the data's support.
    pub outside: bool,
}

impl<const B: usize> Search<B> {
    /// A group of any candidates. Candidate c is trajectory c / n from start
    /// c mod n, for n starts.
    #[must_use]
    pub fn new<P: Policy>(rollout: &Rollout<'_, P>, candidates: [u32; B]) -> Self {
        let count = starts(rollout).max(1) as u32;
        let trajectory = |candidate: u32| candidate.checked_div(count).unwrap_or(0);
        let seed = rollout.task.effort.seed;
        Self {
            starts: candidates.map(|c| c.checked_rem(count).unwrap_or(0) as usize),
            streams: candidates.map(|c| Stream::new(seed, trajectory(c))),
            iterations: iterations(rollout.variant, rollout.task),
            iteration: 0,
            sequence: SequenceSearch::new(),
            start_value: [f32::INFINITY; B],
            least: [f32::INFINITY; B],
            least_iteration: [0; B],
            finite: [true; B],
            outside: [false; B],
        }
    }

    /// The least objective so far, lane by lane.
    #[must_use]
    pub fn least(&self) -> &[f32; B] {
        &self.least
    }

    /// The sweep that found it.
    #[must_use]
    pub fn least_iteration(&self) -> &[u32; B] {
        &self.least_iteration
    }

    /// What was found, lane by lane.
    pub fn results(&self) -> impl Iterator<Item = SearchResult> + '_ {
        let values = self.start_value.iter().zip(&self.least);
        let marks = self.finite.iter().zip(&self.outside);
        let lanes = self.starts.iter().zip(values.zip(marks));
        lanes.map(
            |(start, ((start_value, least), (finite, outside)))| SearchResult {
                start: *start,
                start_value: *start_value,
                least: *least,
                finite: *finite,
                outside: *outside,
            },
        )
    }

    /// One sweep; true after the last. The states of this sweep stay in
    /// `buffers`.
    pub fn sweep<P: Policy>(
        &mut self,
        rollout: &Rollout<'_, P>,
        buffers: &mut Buffers<'_, B>,
    ) -> bool {
        if self.iteration == 0 {
            self.begin(rollout, buffers);
        }
        let returns = rollout.forward(&self.streams, buffers);
        let improved = self.keep_least(&returns);
        buffers.trained = [false; B];
        if self.iteration >= self.iterations {
            return true;
        }
        if rollout.variant == Variant::DiscreteAdversary1 {
            let softness = ScheduledSweep::new(self.iteration, self.iterations).softness();
            self.sequence
                .propose(rollout, &self.streams, &returns, softness, buffers);
        } else {
            self.adjoint()
                .propose(rollout, &self.streams, &returns, &improved, buffers);
        }
        self.iteration = self.iteration.saturating_add(1);
        false
    }

    fn adjoint(&self) -> AdjointSearch<'_, B> {
        AdjointSearch {
            starts: &self.starts,
            iteration: self.iteration,
            iterations: self.iterations,
        }
    }

    fn begin<P: Policy>(&self, rollout: &Rollout<'_, P>, buffers: &mut Buffers<'_, B>) {
        rollout.start(&self.streams, buffers);
        let dynamics = &rollout.model.dynamics;
        let constants = constant_starts(rollout.variant, dynamics);
        buffers.trained = self.starts.map(|start| start >= constants);
        match rollout.variant {
            Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf => {
                SequenceSearch::begin(&self.starts, &mut buffers.members);
            }
            _ => self
                .adjoint()
                .lay_pattern(Round::Constant, dynamics.state_dimension(), buffers),
        }
    }

    /// Keeps the figures of a sweep; returns the lanes that it improved.
    fn keep_least(&mut self, returns: &Returns<B>) -> [bool; B] {
        if self.iteration == 0 {
            self.start_value = returns.value;
            self.outside = returns.outside;
        }
        for (finite, good) in self.finite.iter_mut().zip(&returns.finite) {
            *finite &= *good;
        }
        let mut improved = [false; B];
        let least = self.least.iter_mut().zip(self.least_iteration.iter_mut());
        for (((least, found), value), improved) in least.zip(&returns.value).zip(&mut improved) {
            if *value < *least {
                *least = *value;
                *found = self.iteration;
                *improved = true;
            }
        }
        improved
    }
}
