//! The check (algorithm 1 of the paper), in slices of bounded work.
//!
//! For the return and for each constraint: the neutral estimate, then the
//! adversary's search on every trajectory, then a lower bound. All state
//! lives here and in the lent rows, so that firmware can serve a control loop
//! between two calls of [`Check::advance`].

mod outcome;
mod search;
mod tally;

pub use crate::rollout::CapacityError;
pub use outcome::{Estimate, Outcome};
pub use search::Search;

use heapless::Vec;

use crate::adversary::constant_count;
use crate::image::Image;
use crate::model::{Calibration, Model};
use crate::policy::{Policy, StoredPolicy};
use crate::rollout::{Buffers, Objective, Rollout, Variant};
use crate::task::{MAX_CONSTRAINTS, Task};
use crate::verdict::Reason;
use outcome::MAX_OBJECTIVES;
use tally::Tally;

/// A check under way over `B` lanes.
pub struct Check<'a, const B: usize, P = StoredPolicy<'a>> {
    model: &'a Model<'a>,
    policy: &'a P,
    task: &'a Task<'a>,
    buffers: Buffers<'a, B>,
    objectives: Vec<Objective, MAX_OBJECTIVES>,
    estimates: Vec<Estimate, MAX_OBJECTIVES>,
    phase: Phase<B>,
    tally: Tally,
    sweeps_done: u32,
    sweeps_total: u32,
}

/// Where a check stands inside one objective.
enum Phase<const B: usize> {
    /// Mean propagation of the trajectories from this one on.
    Neutral { trajectory: u32 },
    /// The adversary's search on the candidates from this one on.
    Adversarial { candidate: u32, search: Search<B> },
}

/// What a call of [`Check::advance`] reached.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is no heap to put the outcome on, and it is moved once"
)]
pub enum Progress {
    /// There is more to do.
    Working {
        /// Sweeps done.
        done: u32,
        /// Sweeps in all.
        total: u32,
    },
    /// The verdict.
    Finished(Outcome),
}

impl<'a, const B: usize> Check<'a, B> {
    /// A check of an image's policy.
    ///
    /// # Errors
    /// If `rows` is too short.
    pub fn new(image: &'a Image<'a>, rows: &'a mut [[f32; B]]) -> Result<Self, CapacityError> {
        Check::with_policy(&image.model, &image.task, &image.policy, rows)
    }

    /// How many rows the check of an image needs.
    ///
    /// # Errors
    /// If the count does not fit a number.
    pub fn rows_needed(image: &Image<'_>) -> Result<usize, CapacityError> {
        Buffers::<B>::rows_needed(&image.model.dynamics, &image.task, &image.policy)
    }
}

impl<'a, const B: usize, P: Policy> Check<'a, B, P> {
    /// A check of any controller, such as the very code that will drive.
    ///
    /// # Errors
    /// If `rows` is too short.
    #[inline(never)]
    pub fn with_policy(
        model: &'a Model<'a>,
        task: &'a Task<'a>,
        policy: &'a P,
        rows: &'a mut [[f32; B]],
    ) -> Result<Self, CapacityError> {
        let buffers = Buffers::carve(rows, &model.dynamics, task, policy)?;
        const { assert!(MAX_OBJECTIVES > MAX_CONSTRAINTS, "one more for the return") };
        let too_many = CapacityError {
            needed: usize::MAX,
            available: MAX_OBJECTIVES,
        };
        let mut objectives: Vec<_, MAX_OBJECTIVES> = Vec::new();
        let constraints = task.constraints.iter().copied().map(Objective::Constraint);
        for objective in core::iter::once(Objective::Return).chain(constraints) {
            objectives.push(objective).map_err(|_| too_many)?;
        }
        let mut check = Self {
            model,
            policy,
            task,
            buffers,
            objectives,
            estimates: Vec::new(),
            phase: Phase::Neutral { trajectory: 0 },
            tally: Tally::new(model.dynamics.state_dimension()),
            sweeps_done: 0,
            sweeps_total: 0,
        };
        check.sweeps_total = check.count_sweeps();
        Ok(check)
    }

    /// Candidates are numbered trajectory by trajectory, and within one by
    /// the constant adversary that the search starts from.
    fn candidates(&self) -> u32 {
        let starts = constant_count(self.model.dynamics.state_dimension()) as u32;
        self.task.effort.trajectories.saturating_mul(starts)
    }

    fn count_sweeps(&self) -> u32 {
        let lanes = B as u32;
        let neutral = self.task.effort.trajectories.div_ceil(lanes);
        let sweeps = self.task.effort.iterations.saturating_add(1);
        let searched = self.candidates().div_ceil(lanes).saturating_mul(sweeps);
        neutral
            .saturating_add(searched)
            .saturating_mul(self.objectives.len() as u32)
    }

    fn rollout(&self, variant: Variant) -> Option<Rollout<'a, P>> {
        Some(Rollout {
            model: self.model,
            policy: self.policy,
            task: self.task,
            variant,
            objective: *self.objectives.get(self.estimates.len())?,
        })
    }

    /// Does at most `sweeps` sweeps of `B` trajectories. The work of one is
    /// bounded by the model's size and the horizon.
    #[inline(never)]
    pub fn advance(&mut self, sweeps: u32) -> Progress {
        for _ in 0..sweeps {
            if !self.sweep() {
                return Progress::Finished(self.outcome());
            }
            self.sweeps_done = self.sweeps_done.saturating_add(1);
        }
        Progress::Working {
            done: self.sweeps_done,
            total: self.sweeps_total,
        }
    }

    /// Ends a check that may take no more time: it abstains.
    #[must_use]
    pub fn stop(mut self) -> Outcome {
        self.tally.unfit(Reason::Unfinished);
        self.outcome()
    }

    /// One sweep; false when there is nothing left to do.
    fn sweep(&mut self) -> bool {
        match &self.phase {
            Phase::Neutral { trajectory } => self.neutral_sweep(*trajectory),
            Phase::Adversarial { candidate, .. } => self.adversarial_sweep(*candidate),
        }
    }

    fn neutral_sweep(&mut self, first: u32) -> bool {
        let Some(rollout) = self.rollout(Variant::Mean) else {
            return false;
        };
        let left = self.task.effort.trajectories.saturating_sub(first);
        let seed = self.task.effort.seed;
        let returns = search::neutral(&rollout, seed, first, &mut self.buffers);
        self.tally.add_neutral(&returns, left);
        self.phase = if left > B as u32 {
            Phase::Neutral {
                trajectory: first.saturating_add(B as u32),
            }
        } else {
            self.begin_search(0)
        };
        true
    }

    fn begin_search(&self, candidate: u32) -> Phase<B> {
        let dimension = self.model.dynamics.state_dimension();
        Phase::Adversarial {
            candidate,
            search: Search::new(self.task.effort, dimension, candidate),
        }
    }

    fn adversarial_sweep(&mut self, candidate: u32) -> bool {
        let Some(rollout) = self.rollout(Variant::ContinuousAdversary) else {
            return false;
        };
        let left = self.candidates().saturating_sub(candidate);
        let Phase::Adversarial { search, .. } = &mut self.phase else {
            return false;
        };
        if !search.sweep(&rollout, &mut self.buffers) {
            return true;
        }
        self.tally.add_search(search, left);
        if left > B as u32 {
            self.phase = self.begin_search(candidate.saturating_add(B as u32));
            return true;
        }
        let objectives = self.objectives.len() as f32;
        let estimate = self
            .tally
            .estimate(rollout.objective, self.task, objectives);
        // There are as many places as objectives.
        let _ = self.estimates.push(estimate);
        self.tally.next_objective();
        self.phase = Phase::Neutral { trajectory: 0 };
        true
    }

    #[inline(never)]
    fn outcome(&mut self) -> Outcome {
        if self.model.confidence.calibration != Calibration::Passed {
            let reason = Reason::NotCalibrated(self.model.confidence.calibration);
            self.tally.unfit(reason);
        }
        if self.estimates.len() < self.objectives.len() {
            self.tally.unfit(Reason::Unfinished);
        }
        Outcome::new(self.task, &self.estimates, &self.tally)
    }
}
