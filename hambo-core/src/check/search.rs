//! A group of `B` candidates on which the adversary searches: each is a
//! trajectory (its initial state and noise) and a constant adversary to
//! start from.

use crate::adversary::{constant_component, constant_count, softness, step_length, update};
use crate::arithmetic::random::Stream;
use crate::policy::Policy;
use crate::rollout::{Buffers, Returns, Rollout};
use crate::task::Effort;

/// The search on one group. The first sweep is the constant adversary
/// itself; every later one follows the adjoint.
#[derive(Clone, Debug)]
pub struct Search<const B: usize> {
    effort: Effort,
    starts: [usize; B],
    streams: [Stream; B],
    iteration: u32,
    /// The objective under the constant adversary.
    pub constant: [f32; B],
    /// The least objective of all sweeps.
    pub least: [f32; B],
    /// The sweep that found it.
    pub least_iteration: [u32; B],
    /// False once a number was not finite.
    pub finite: [bool; B],
}

impl<const B: usize> Search<B> {
    /// The group of candidates from `first` on. Candidate c is trajectory
    /// c / n from start c mod n, for n constant adversaries.
    #[must_use]
    pub fn new(effort: Effort, dimension: usize, first: u32) -> Self {
        let count = constant_count(dimension).max(1) as u32;
        let candidates: [u32; B] = core::array::from_fn(|lane| first.saturating_add(lane as u32));
        let trajectory = |candidate: u32| candidate.checked_div(count).unwrap_or(0);
        Self {
            effort,
            starts: candidates.map(|c| c.checked_rem(count).unwrap_or(0) as usize),
            streams: candidates.map(|c| Stream::new(effort.seed, trajectory(c))),
            iteration: 0,
            constant: [f32::INFINITY; B],
            least: [f32::INFINITY; B],
            least_iteration: [0; B],
            finite: [true; B],
        }
    }

    /// The constant adversaries that the lanes started from.
    #[must_use]
    pub fn starts(&self) -> &[usize; B] {
        &self.starts
    }

    /// One sweep forward and, unless it was the last, back; true after the
    /// last. The states of this sweep stay in `buffers`.
    pub fn sweep<P: Policy>(
        &mut self,
        rollout: &Rollout<'_, P>,
        buffers: &mut Buffers<'_, B>,
    ) -> bool {
        if self.iteration == 0 {
            rollout.start(&self.streams, buffers);
            let dimension = rollout.model.dynamics.state_dimension();
            for (row, j) in buffers.eta.iter_mut().zip((0..dimension).cycle()) {
                *row = self
                    .starts
                    .map(|start| constant_component(start, dimension, j));
            }
        }
        let returns = rollout.forward(&self.streams, buffers);
        self.record(&returns);
        let total = self.effort.iterations;
        if self.iteration >= total {
            return true;
        }
        let step = step_length(self.iteration, total);
        let softness = softness(self.iteration);
        rollout.backward(
            &self.streams,
            &returns,
            softness,
            buffers,
            |eta, gradient| {
                update(eta, gradient, step);
            },
        );
        self.iteration = self.iteration.saturating_add(1);
        false
    }

    fn record(&mut self, returns: &Returns<B>) {
        if self.iteration == 0 {
            self.constant = returns.value;
        }
        for (finite, good) in self.finite.iter_mut().zip(&returns.finite) {
            *finite &= *good;
        }
        let least = self.least.iter_mut().zip(self.least_iteration.iter_mut());
        for ((least, found), value) in least.zip(&returns.value) {
            if *value < *least {
                *least = *value;
                *found = self.iteration;
            }
        }
    }
}

/// Mean propagation of the trajectories from `first` on.
pub(super) fn neutral<P: Policy, const B: usize>(
    rollout: &Rollout<'_, P>,
    seed: u64,
    first: u32,
    buffers: &mut Buffers<'_, B>,
) -> Returns<B> {
    let streams = core::array::from_fn(|lane| Stream::new(seed, first.saturating_add(lane as u32)));
    rollout.start(&streams, buffers);
    rollout.forward(&streams, buffers)
}
