//! The plan of a check and its results in the plan's order: the part that must
//! not run in parallel. The sweeps themselves may run anywhere.

use heapless::Vec;

use super::{CapacityError, Estimate, MAX_ESTIMATES, Outcome};
use crate::adversary::{MAX_STARTS, Minimum, SearchResult, constant_starts, iterations, starts};
use crate::estimate::Margin;
use crate::model::{Calibration, Model};
use crate::rollout::{Objective, Rollout};
use crate::task::{Task, Variant};
use crate::verdict::{Reason, Reasons};

/// The estimates of a check, one after the other. For each, candidates are
/// searched in any groups and any order, and added in theirs.
///
/// ```
/// use hambo_core::adversary::Search;
/// use hambo_core::check::Assessment;
/// use hambo_core::rollout::Buffers;
/// let image = hambo_core::example::image()?;
/// let (model, task, policy) = (image.model(), image.task(), image.policy());
/// let mut assessment = Assessment::new(model, task, policy).map_err(|_| "too many")?;
/// assert_eq!(assessment.plan().count(), 4);
/// let mut rows = [[0.0; 4]; 128];
/// while let Some(rollout) = assessment.current() {
///     for first in (0..Assessment::candidates(&rollout)).step_by(4) {
///         let buffers = Buffers::carve(&mut rows, &model.dynamics, task, policy);
///         let mut buffers = buffers.map_err(|_| "too few rows")?;
///         let mut search = Search::<4>::new(&rollout, [0, 1, 2, 3].map(|lane| first + lane));
///         while !search.sweep(&rollout, &mut buffers) {}
///         assessment.add_results(search.results());
///     }
/// }
/// assert_eq!(assessment.outcome().verdict.name(), "deploy");
/// # Ok::<(), &str>(())
/// ```
pub struct Assessment<'a, P> {
    model: &'a Model<'a>,
    policy: &'a P,
    task: &'a Task<'a>,
    estimates: Vec<Estimate, MAX_ESTIMATES>,
    /// Candidates of the estimate under way that were added.
    added: u32,
    minimum: Minimum,
    /// What makes the evidence unfit for a verdict.
    unfit: Reasons,
    steps: u64,
}

impl<'a, P> Assessment<'a, P> {
    /// Nothing estimated yet.
    ///
    /// # Errors
    /// If there are more estimates or starts than places.
    pub fn new(
        model: &'a Model<'a>,
        task: &'a Task<'a>,
        policy: &'a P,
    ) -> Result<Self, CapacityError> {
        let mut assessment = Self {
            model,
            policy,
            task,
            estimates: Vec::new(),
            added: 0,
            minimum: Minimum::default(),
            unfit: Reasons::new(),
            steps: 0,
        };
        let within = |needed: usize, available: usize| {
            let fits = needed <= available;
            fits.then_some(())
                .ok_or(CapacityError { needed, available })
        };
        within(assessment.plan().count(), MAX_ESTIMATES)?;
        for rollout in assessment.plan() {
            within(starts(&rollout), MAX_STARTS)?;
        }
        assessment.steps = assessment.count_steps();
        assessment.begin();
        Ok(assessment)
    }

    /// What is estimated, in order: every objective under mean propagation
    /// and under the variants that decide.
    pub fn plan(&self) -> impl Iterator<Item = Rollout<'a, P>> + use<'a, P> {
        let (model, task, policy) = (self.model, self.task, self.policy);
        let constraints = task.constraints.iter().copied().map(Objective::Constraint);
        let objectives = core::iter::once(Objective::Return).chain(constraints);
        objectives.flat_map(move |objective| {
            let others = task.method.variants.iter().copied();
            let others = others.filter(|variant| *variant != Variant::Mean);
            let variants = core::iter::once(Variant::Mean).chain(others);
            variants.map(move |variant| Rollout {
                model,
                policy,
                task,
                variant,
                objective,
            })
        })
    }

    /// The estimate that is under way, if any is left and all of them fit
    /// the task's limit.
    #[must_use]
    pub fn current(&self) -> Option<Rollout<'a, P>> {
        if self.steps > self.task.method.step_limit {
            return None;
        }
        self.plan().nth(self.estimates.len())
    }

    /// Steps of the model that the whole check takes, forward sweeps alone.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    fn count_steps(&self) -> u64 {
        let horizon = u64::from(self.task.horizon);
        let each = self.plan().map(|rollout| {
            let sweeps = iterations(rollout.variant, self.task).saturating_add(1);
            u64::from(Self::candidates(&rollout)).saturating_mul(u64::from(sweeps))
        });
        each.fold(0, u64::saturating_add).saturating_mul(horizon)
    }

    /// Candidates are numbered trajectory by trajectory, and within one by
    /// the adversary's start.
    #[must_use]
    pub fn candidates(rollout: &Rollout<'_, P>) -> u32 {
        let starts = starts(rollout) as u32;
        rollout.task.effort.trajectories.saturating_mul(starts)
    }

    fn begin(&mut self) {
        self.added = 0;
        if let Some(rollout) = self.current() {
            let constants = constant_starts(rollout.variant, &self.model.dynamics);
            self.minimum.begin(starts(&rollout), constants);
        }
    }

    /// Adds what was found for the next candidates of the estimate under way,
    /// in their order. After the last the next estimate begins, and what idle
    /// lanes found is left.
    pub fn add_results(&mut self, results: impl IntoIterator<Item = SearchResult>) {
        let Some(rollout) = self.current() else {
            return;
        };
        let candidates = Self::candidates(&rollout);
        let left = candidates.saturating_sub(self.added) as usize;
        for result in results.into_iter().take(left) {
            if !result.finite {
                self.note_unfit(Reason::NotFinite);
            }
            if result.outside && rollout.variant == Variant::Mean {
                self.note_unfit(Reason::OutsideSupport);
            }
            self.minimum.add(&result);
            self.added = self.added.saturating_add(1);
        }
        if self.added < candidates {
            return;
        }
        // Half of delta is the model's; the other half is shared by the
        // objectives.
        let objectives = self.task.constraints.len().saturating_add(1) as f32;
        let failure = self.task.delta * 0.5 / objectives;
        let margin = self.margin(rollout.objective);
        let estimate = Estimate::new(&rollout, &self.minimum, margin, failure);
        // There are places for the whole plan.
        let _ = self.estimates.push(estimate);
        self.begin();
    }

    /// Which sampling margin holds: a bounded return needs no assumption, but
    /// must keep to its bounds.
    fn margin(&mut self, objective: Objective) -> Margin {
        match (objective, self.task.reward_bounds) {
            (Objective::Return, Some(bounds)) => {
                let [low, high] = self.task.return_bounds(bounds);
                if !self.minimum.lies_within([low, high]) {
                    self.note_unfit(Reason::OutsideRewardBounds);
                }
                Margin::Bernstein { range: high - low }
            }
            _ => Margin::StudentT,
        }
    }

    /// Notes once what makes the evidence unfit.
    fn note_unfit(&mut self, reason: Reason) {
        if !self.unfit.contains(&reason) {
            let _ = self.unfit.push(reason);
        }
    }

    /// The verdict on what was added; unfinished work abstains.
    #[inline(never)]
    pub fn outcome(&mut self) -> Outcome {
        if self.model.confidence.calibration != Calibration::Passed {
            let reason = Reason::NotCalibrated(self.model.confidence.calibration);
            self.note_unfit(reason);
        }
        if self.steps > self.task.method.step_limit {
            self.note_unfit(Reason::OverBudget);
        } else if self.current().is_some() {
            self.note_unfit(Reason::Unfinished);
        }
        Outcome::new(self.model, self.task, &self.estimates, &self.unfit)
    }
}
