//! The plan of a check and its results in the plan's order: the part that must
//! not run in parallel. The sweeps themselves may run anywhere.

use heapless::Vec;

use super::estimate::level_share;
use super::{CapacityError, Estimate, MAX_ESTIMATES, Outcome};
use crate::adversary::{Level, MAX_MEMBERS, MAX_STARTS, Minimum, SearchResult, Starts, searches};
use crate::arithmetic::elementary::maximum;
use crate::model::Model;
use crate::rollout::{Objective, Rollout};
use crate::task::{InitialKind, Task, Variant};
use crate::verdict::{Reason, Reasons};

/// The estimates of a check, one after the other, each level by level. For
/// each level, candidates are searched in any groups and any order, and added
/// in theirs.
///
/// ```
/// use hambo_core::adversary::Search;
/// use hambo_core::check::Assessment;
/// use hambo_core::rollout::Buffers;
/// let image = hambo_core::example::image()?;
/// let (model, task, policy) = (image.model(), image.task(), image.policy());
/// let mut assessment = Assessment::new(model, task, policy).map_err(|_| "too many")?;
/// // The return and a constraint: mean propagation, and CA on two levels.
/// assert_eq!(assessment.plan().count(), 6);
/// let mut rows = [[0.0; 4]; 128];
/// while let Some((rollout, level)) = assessment.current() {
///     for first in (0..Assessment::candidates(&rollout, level)).step_by(4) {
///         let buffers = Buffers::carve(&mut rows, &model.dynamics, task, policy);
///         let mut buffers = buffers.map_err(|_| "too few rows")?;
///         let mut search = Search::<4>::new(&rollout, level, [0, 1, 2, 3].map(|lane| first + lane));
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
    /// Levels that are done.
    levels: usize,
    /// Candidates of the level under way that were added.
    added: u32,
    minimum: Minimum,
    /// What makes the evidence unfit for a verdict.
    unfit: Reasons,
    /// Whether the model left any adversary a choice.
    width: bool,
    /// How far mean propagation leaves the log.
    mean_paths: PathShare,
    /// The same of the paths with noise that no adversary touches.
    noisy_paths: PathShare,
    /// The most degrees of freedom of a margin.
    freedom: u32,
    steps: u64,
}

/// The largest share of steps outside the data's support, in per cent, with
/// which a check still has a verdict.
pub const MOST_OUTSIDE: u8 = 5;

/// Steps of paths that no adversary touches.
#[derive(Clone, Copy, Debug, Default)]
struct PathShare {
    steps: u64,
    outside: u64,
}

impl PathShare {
    fn add(&mut self, outside: u32, steps: u32) {
        self.steps = self.steps.saturating_add(u64::from(steps));
        self.outside = self.outside.saturating_add(u64::from(outside));
    }

    /// The share outside in per cent, rounded up.
    fn percent(&self) -> u8 {
        let scaled = self.outside.saturating_mul(100);
        match scaled.checked_add(self.steps.saturating_sub(1)) {
            Some(scaled) => scaled.checked_div(self.steps).unwrap_or(0).min(100) as u8,
            None => 100,
        }
    }
}

/// Logged starts that differ: with fewer the check abstains.
pub const FEWEST_STARTS: usize = 5;

impl<'a, P> Assessment<'a, P> {
    /// Nothing estimated yet.
    ///
    /// # Errors
    /// If there are more estimates, starts or members than places.
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
            levels: 0,
            added: 0,
            minimum: Minimum::default(),
            unfit: Reasons::new(),
            width: false,
            mean_paths: PathShare::default(),
            noisy_paths: PathShare::default(),
            freedom: u32::MAX,
            steps: 0,
        };
        let within = |needed: usize, available: usize| {
            let fits = needed <= available;
            fits.then_some(())
                .ok_or(CapacityError { needed, available })
        };
        let estimates = assessment
            .plan()
            .filter(|(_, level)| *level == Level::Sampled);
        within(estimates.count(), MAX_ESTIMATES)?;
        for (rollout, _) in assessment.plan() {
            let starts = Starts::of(&rollout);
            within(starts.count(), MAX_STARTS)?;
            if rollout.variant == Variant::DiscreteAdversaryInf {
                within(starts.members, MAX_MEMBERS)?;
            }
        }
        if task.initial.kind == InitialKind::Logged {
            let distinct = task.initial.distinct(task.state_dimension());
            assessment.freedom = distinct.saturating_sub(1) as u32;
            if distinct < FEWEST_STARTS {
                assessment.note_unfit(Reason::FewStarts(distinct as u8));
            }
        }
        assessment.steps = assessment.count_steps();
        assessment.begin();
        Ok(assessment)
    }

    /// What is estimated, in order: every objective under mean propagation
    /// and under the task's variants, sampled, and searched where there is a
    /// search.
    pub fn plan(&self) -> impl Iterator<Item = (Rollout<'a, P>, Level)> + use<'a, P> {
        let (model, task, policy) = (self.model, self.task, self.policy);
        task.objectives().flat_map(move |objective| {
            let others = task.method.variants.iter().copied();
            let others = others.filter(|variant| *variant != Variant::Mean);
            let variants = core::iter::once(Variant::Mean).chain(others);
            variants.flat_map(move |variant| {
                let searched = searches(variant) && task.effort.searched > 0;
                let levels =
                    core::iter::once(Level::Sampled).chain(searched.then_some(Level::Searched));
                levels.map(move |level| {
                    let rollout = Rollout {
                        model,
                        policy,
                        task,
                        variant,
                        objective,
                    };
                    (rollout, level)
                })
            })
        })
    }

    /// The level that is under way, if any is left and all of them fit the
    /// task's limit.
    #[must_use]
    pub fn current(&self) -> Option<(Rollout<'a, P>, Level)> {
        if self.steps > self.task.method.step_limit {
            return None;
        }
        self.plan().nth(self.levels)
    }

    /// Steps of the model that the whole check takes, forward sweeps alone.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    fn count_steps(&self) -> u64 {
        let horizon = u64::from(self.task.horizon);
        let each = self.plan().map(|(rollout, level)| {
            let sweeps = level.sweeps(rollout.variant, self.task).saturating_add(1);
            u64::from(Self::candidates(&rollout, level)).saturating_mul(u64::from(sweeps))
        });
        each.fold(0, u64::saturating_add).saturating_mul(horizon)
    }

    /// Candidates are numbered trajectory by trajectory, and within one by
    /// the adversary's start; of DAinf member by member, and within one by the
    /// trajectory.
    #[must_use]
    pub fn candidates(rollout: &Rollout<'_, P>, level: Level) -> u32 {
        let starts = Starts::of(rollout).count() as u32;
        level.trajectories(rollout.task).saturating_mul(starts)
    }

    fn begin(&mut self) {
        self.added = 0;
        match self.current() {
            Some((rollout, Level::Sampled)) => {
                let bounds = match rollout.variant {
                    // What is taken off the reward has no bounds.
                    Variant::Penalised => None,
                    _ => self.task.bounds(rollout.objective),
                };
                let whole_members = rollout.variant == Variant::DiscreteAdversaryInf;
                let constraint = self.task.constraint(rollout.objective);
                self.minimum
                    .begin(Starts::of(&rollout), constraint, bounds, whole_members);
            }
            Some((_, Level::Searched)) => self.minimum.begin_level(),
            None => {}
        }
    }

    /// Adds what was found for the next candidates of the level under way, in
    /// their order. After the last the next level begins, and what idle lanes
    /// found is left.
    pub fn add_results(&mut self, results: impl IntoIterator<Item = SearchResult>) {
        let Some((rollout, level)) = self.current() else {
            return;
        };
        let candidates = Self::candidates(&rollout, level);
        let left = candidates.saturating_sub(self.added) as usize;
        let starts = Starts::of(&rollout).count();
        for result in results.into_iter().take(left) {
            self.note_result(&rollout, &result);
            let whole_members = rollout.variant == Variant::DiscreteAdversaryInf;
            let trajectories = level.trajectories(self.task);
            let trajectory = if whole_members {
                self.added.checked_rem(trajectories)
            } else {
                self.added.checked_div(starts as u32)
            };
            let trajectory = trajectory.unwrap_or(0);
            let kind = self.task.initial.kind;
            let ends_start = self.ends_start(level, trajectory);
            let searched = level == Level::Searched;
            // The trajectories from one logged start are one value.
            let closes = kind != InitialKind::Logged || ends_start;
            self.minimum.add(&result, searched, closes);
            let last = whole_members || result.start.saturating_add(1) == starts;
            if kind == InitialKind::Worst && ends_start && last {
                let budget = self.task.error_budget();
                let share = if whole_members {
                    self.minimum.member_share(&budget)
                } else {
                    level_share(rollout.variant, &budget)
                };
                self.minimum
                    .end_initial_state(searched, share, self.freedom);
            }
            if whole_members && trajectory.saturating_add(1) == trajectories {
                self.minimum
                    .end_member(&self.task.error_budget(), self.freedom);
            }
            self.added = self.added.saturating_add(1);
        }
        if self.added < candidates {
            return;
        }
        self.levels = self.levels.saturating_add(1);
        if !matches!(self.current(), Some((_, Level::Searched))) {
            let budget = self.task.error_budget();
            let estimate = Estimate::new(&rollout, &self.minimum, &budget, self.freedom);
            // There are places for the whole plan.
            let _ = self.estimates.push(estimate);
        }
        self.begin();
    }

    /// Whether a trajectory is the last of those from one listed start.
    fn ends_start(&self, level: Level, trajectory: u32) -> bool {
        let dimension = self.task.state_dimension();
        let next = trajectory.saturating_add(1);
        let start = |trajectory| level.listed_start(self.task, dimension, trajectory);
        next >= level.trajectories(self.task) || start(trajectory) != start(next)
    }

    /// Notes what a result says of the evidence.
    fn note_result(&mut self, rollout: &Rollout<'_, P>, result: &SearchResult) {
        let neutral_overflow =
            result.start_value == f32::NEG_INFINITY && !rollout.variant.has_adversary();
        if !result.finite || neutral_overflow {
            self.note_unfit(Reason::NotFinite);
        }
        let paths = match rollout.variant {
            Variant::Mean => &mut self.mean_paths,
            _ => &mut self.noisy_paths,
        };
        paths.add(result.outside, result.watched);
        if result.failed {
            self.note_unfit(Reason::SearchFailed);
        }
        self.width |= result.width;
        let stated = match (rollout.objective, rollout.variant) {
            (_, Variant::Penalised) | (Objective::Constraint(_), _) => None,
            (Objective::Return, _) => self.task.return_bounds,
        };
        let keeps = stated.is_none_or(|[low, high]| {
            let rounding = 1e-5 * maximum(maximum(-low, high), 0.0);
            result.least >= low - rounding && result.start_value <= high + rounding
        });
        if !(result.within_bounds && keeps) {
            self.note_unfit(Reason::OutsideRewardBounds);
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
        let calibration = self.model.confidence.calibration;
        if !calibration.serves(self.task.horizon) {
            self.note_unfit(Reason::NotCalibrated(calibration));
        }
        if self.steps > self.task.method.step_limit {
            self.note_unfit(Reason::OverBudget);
        } else if self.current().is_some() {
            self.note_unfit(Reason::Unfinished);
        } else if !self.width {
            self.note_unfit(Reason::NoWidth);
        }
        let outside = self.mean_paths.percent().max(self.noisy_paths.percent());
        if outside > MOST_OUTSIDE {
            self.note_unfit(Reason::OutsideSupport(outside));
        }
        if self.task.refused_by_host {
            self.note_unfit(Reason::RefusedByHost);
        }
        let variants = &self.task.method.variants;
        if !variants.iter().any(|variant| variant.has_adversary()) {
            self.note_unfit(Reason::NoAdversary);
        }
        let effort = &self.task.effort;
        if variants.iter().copied().any(searches) && (effort.iterations == 0 || effort.searched < 2)
        {
            self.note_unfit(Reason::NoSearch);
        }
        Outcome::new(self.model, self.task, &self.estimates, &self.unfit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_steps_are_rounded_up() {
        let percent = |parts: &[(u32, u32)]| {
            let mut share = PathShare::default();
            for (outside, steps) in parts {
                share.add(*outside, *steps);
            }
            share.percent()
        };
        assert_eq!((percent(&[]), percent(&[(0, 9)])), (0, 0));
        assert_eq!((percent(&[(5, 100)]), percent(&[(51, 1000)])), (5, 6));
        assert_eq!((percent(&[(1, 3), (0, 3)]), percent(&[(7, 7)])), (17, 100));
    }
}
