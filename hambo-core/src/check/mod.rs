//! The check (algorithm 1 of the paper), in slices of bounded work.
//!
//! For the return and for each constraint: mean propagation, then every
//! variant of the task. All state lives here and in the lent rows, so that
//! firmware can serve a control loop between two calls of [`Check::advance`].

mod outcome;
mod search;
mod tally;

pub use crate::rollout::CapacityError;
pub use outcome::{Adversary, Estimate, MAX_ESTIMATES, Outcome};
pub use search::Search;

use heapless::Vec;

use crate::adversary::{MAX_STARTS, start_count};
use crate::image::Image;
use crate::model::{Calibration, Model};
use crate::policy::{Policy, StoredPolicy};
use crate::rollout::{Buffers, Objective, Rollout};
use crate::task::{Task, Variant};
use crate::verdict::Reason;
use tally::Tally;

/// A check under way over `B` lanes.
pub struct Check<'a, const B: usize, P = StoredPolicy<'a>> {
    model: &'a Model<'a>,
    policy: &'a P,
    task: &'a Task<'a>,
    buffers: Buffers<'a, B>,
    estimates: Vec<Estimate, MAX_ESTIMATES>,
    /// The group of candidates at work, and its first; none between two
    /// estimates.
    group: Option<(u32, Search<B>)>,
    tally: Tally,
    sweeps_done: u32,
    sweeps_total: u32,
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
        let mut check = Self {
            model,
            policy,
            task,
            buffers,
            estimates: Vec::new(),
            group: None,
            tally: Tally::new(),
            sweeps_done: 0,
            sweeps_total: 0,
        };
        check.sweeps_total = check.count_sweeps()?;
        Ok(check)
    }

    /// What is estimated, in order: every objective under mean propagation
    /// and under the variants that decide.
    fn plan(&self) -> impl Iterator<Item = (Objective, Variant)> + use<'a, B, P> {
        let task = self.task;
        let constraints = task.constraints.iter().copied().map(Objective::Constraint);
        let objectives = core::iter::once(Objective::Return).chain(constraints);
        objectives.flat_map(move |objective| {
            let others = task.method.variants.iter().copied();
            let others = others.filter(|variant| *variant != Variant::Mean);
            let variants = core::iter::once(Variant::Mean).chain(others);
            variants.map(move |variant| (objective, variant))
        })
    }

    /// Candidates are numbered trajectory by trajectory, and within one by
    /// the adversary's start.
    fn candidates(&self, rollout: &Rollout<'a, P>) -> u32 {
        let starts = Search::<B>::start_total(rollout) as u32;
        self.task.effort.trajectories.saturating_mul(starts)
    }

    fn rollout_of(&self, (objective, variant): (Objective, Variant)) -> Rollout<'a, P> {
        Rollout {
            model: self.model,
            policy: self.policy,
            task: self.task,
            variant,
            objective,
        }
    }

    fn count_sweeps(&self) -> Result<u32, CapacityError> {
        let mut sweeps = 0_u32;
        for entry in self.plan() {
            let rollout = self.rollout_of(entry);
            let starts = Search::<B>::start_total(&rollout);
            if starts > MAX_STARTS {
                return Err(CapacityError {
                    needed: starts,
                    available: MAX_STARTS,
                });
            }
            let each = Search::<B>::iterations(rollout.variant, self.task).saturating_add(1);
            let groups = self.candidates(&rollout).div_ceil(B as u32);
            sweeps = sweeps.saturating_add(groups.saturating_mul(each));
        }
        let estimates = self.plan().count();
        if estimates > MAX_ESTIMATES {
            return Err(CapacityError {
                needed: estimates,
                available: MAX_ESTIMATES,
            });
        }
        Ok(sweeps)
    }

    /// The system under the estimate that comes next, if any is left.
    fn rollout(&self) -> Option<Rollout<'a, P>> {
        let entry = self.plan().nth(self.estimates.len())?;
        Some(self.rollout_of(entry))
    }

    /// Does at most `sweeps` sweeps of `B` trajectories. The work of one is
    /// bounded by the model's size and the horizon.
    #[inline(never)]
    pub fn advance(&mut self, sweeps: u32) -> Progress {
        for _ in 0..sweeps {
            let Some(rollout) = self.rollout() else {
                return Progress::Finished(self.outcome());
            };
            self.sweep(&rollout);
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

    fn sweep(&mut self, rollout: &Rollout<'a, P>) {
        let variant = rollout.variant;
        let (first, search) = self.group.get_or_insert_with(|| {
            self.tally.begin(Search::<B>::start_total(rollout));
            (0, Search::new(rollout, 0))
        });
        if !search.sweep(rollout, &mut self.buffers) {
            return;
        }
        let first = *first;
        let left = self.candidates(rollout).saturating_sub(first);
        if let Some((_, search)) = &self.group {
            self.tally.add(variant, search, left);
        }
        if left > B as u32 {
            let next = first.saturating_add(B as u32);
            self.group = Some((next, Search::new(rollout, next)));
            return;
        }
        self.group = None;
        // Half of delta is the model's; the other half is shared by the
        // objectives.
        let objectives = self.task.constraints.len().saturating_add(1) as f32;
        let delta = self.task.delta * 0.5 / objectives;
        let constants = start_count(variant, &self.model.dynamics);
        let estimate = self.tally.estimate(rollout, constants, delta);
        // There are places for the whole plan.
        let _ = self.estimates.push(estimate);
    }

    #[inline(never)]
    fn outcome(&mut self) -> Outcome {
        if self.model.confidence.calibration != Calibration::Passed {
            let reason = Reason::NotCalibrated(self.model.confidence.calibration);
            self.tally.unfit(reason);
        }
        if self.estimates.len() < self.plan().count() {
            self.tally.unfit(Reason::Unfinished);
        }
        Outcome::new(self.model, self.task, &self.estimates, &self.tally)
    }
}
