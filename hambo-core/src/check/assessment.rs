//! The plan of a check and its results in the plan's order: the part that must
//! not run in parallel. The sweeps themselves may run anywhere.

use heapless::Vec;

use super::estimate::level_share;
use super::judge::planned;
use super::tally::{Note, Paths, Tally};
use super::{CapacityError, Estimate, MAX_ESTIMATES, Outcome};
use crate::adversary::{Level, MAX_MEMBERS, MAX_STARTS, Minimum, SearchResult, Starts, searches};
use crate::arithmetic::elementary::maximum;
use crate::arithmetic::twice::{Side, Twice};
use crate::estimate::ErrorBudget;
use crate::model::Model;
use crate::rollout::{Objective, Rollout};
use crate::task::{InitialKind, Task, Variant};

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
    levels: Twice<u32>,
    /// Candidates of the level under way that were added.
    added: Twice<u32>,
    minimum: Minimum,
    /// The same once more, fed by itself: what the two come to must agree.
    twin: Minimum,
    tally: Tally,
    /// The most degrees of freedom of a margin.
    freedom: Twice<u32>,
}

/// The largest share of steps outside the data's support, in per cent, with
/// which a check still has a verdict.
pub const MOST_OUTSIDE: u8 = 5;

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
        let freedom = hold_places(model, task, policy)?;
        Ok(Self::empty(model, task, policy, freedom))
    }

    /// Likewise of a task for which there are places. Put together where it stays: a copy
    /// would cost kilobytes of stack.
    #[inline(always)]
    pub(super) fn empty(
        model: &'a Model<'a>,
        task: &'a Task<'a>,
        policy: &'a P,
        freedom: u32,
    ) -> Self {
        Self {
            model,
            policy,
            task,
            estimates: Vec::new(),
            levels: Twice::of(0, 0),
            added: Twice::of(0, 0),
            minimum: Minimum::default(),
            twin: Minimum::default(),
            tally: Tally::new(count_steps(model, task, policy)),
            freedom: Twice::of(freedom, freedom),
        }
    }

    /// What is estimated, in order: every objective under mean propagation
    /// and under the task's variants, sampled, and searched where there is a
    /// search.
    pub fn plan(&self) -> impl Iterator<Item = (Rollout<'a, P>, Level)> + use<'a, P> {
        plan(self.model, self.task, self.policy)
    }

    /// The level that is under way, if any is left and all of them fit the
    /// task's limit.
    #[must_use]
    pub fn current(&self) -> Option<(Rollout<'a, P>, Level)> {
        if self.steps() > self.task.method.step_limit {
            return None;
        }
        self.plan().nth(self.levels.read(Side::Plain) as usize)
    }

    /// Steps of the model that the whole check takes, forward sweeps alone.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.tally.steps(Side::Plain)
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
        let kept = self.levels.agrees() && self.added.agrees() && self.freedom.agrees();
        if !kept {
            self.tally.note(Note::Corrupted);
        }
        self.added = Twice::of(0, 0);
        match self.current() {
            Some((rollout, Level::Sampled)) => {
                let bounds = match rollout.variant {
                    // What is taken off the reward has no bounds.
                    Variant::Penalised => None,
                    _ => self.task.bounds(rollout.objective),
                };
                let whole_members = rollout.variant == Variant::DiscreteAdversaryInf;
                let constraint = self.task.constraint(rollout.objective);
                for minimum in [&mut self.minimum, &mut self.twin] {
                    minimum.begin(Starts::of(&rollout), constraint, bounds, whole_members);
                }
            }
            Some((_, Level::Searched)) => {
                self.minimum.begin_level();
                self.twin.begin_level();
            }
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
        if self.levels.read(Side::Plain) == 0 && self.added.read(Side::Plain) == 0 {
            self.begin();
        }
        let candidates = Self::candidates(&rollout, level);
        let left = candidates.saturating_sub(self.added.read(Side::Plain)) as usize;
        for result in results.into_iter().take(left) {
            self.note_result(&rollout, &result);
            let number = self.added.read(Side::Plain);
            let place = self.place(&rollout, level, number, &result);
            place.add(&mut self.minimum, &result, self.freedom.read(Side::Plain));
            place.add(&mut self.twin, &result, self.freedom.read(Side::Complement));
            self.added.update(|added| added.saturating_add(1));
        }
        if self.added.read(Side::Plain) < candidates {
            return;
        }
        self.levels.update(|levels| levels.saturating_add(1));
        if !matches!(self.current(), Some((_, Level::Searched))) {
            let budget = self.task.error_budget();
            let freedom = |side| self.freedom.read(side);
            let estimate = Estimate::new(&rollout, &self.minimum, &budget, freedom(Side::Plain));
            let twin = Estimate::new(&rollout, &self.twin, &budget, freedom(Side::Complement));
            self.tally
                .add_estimate([estimate.mean, estimate.lower], [twin.mean, twin.lower]);
            // There are places for the whole plan.
            let _ = self.estimates.push(estimate);
        }
        self.begin();
    }

    /// Where the candidate with this number of a level belongs.
    fn place(
        &self,
        rollout: &Rollout<'_, P>,
        level: Level,
        number: u32,
        result: &SearchResult,
    ) -> Place {
        let starts = Starts::of(rollout).count();
        let whole_members = rollout.variant == Variant::DiscreteAdversaryInf;
        let trajectories = level.trajectories(self.task);
        let trajectory = if whole_members {
            number.checked_rem(trajectories)
        } else {
            number.checked_div(starts as u32)
        };
        let trajectory = trajectory.unwrap_or(0);
        let kind = self.task.initial.kind;
        let ends_start = self.ends_start(level, trajectory);
        let last = whole_members || result.start.saturating_add(1) == starts;
        Place {
            searched: level == Level::Searched,
            // The trajectories from one logged start are one value.
            closes: kind != InitialKind::Logged || ends_start,
            ends_initial_state: kind == InitialKind::Worst && ends_start && last,
            ends_member: whole_members && trajectory.saturating_add(1) == trajectories,
            whole_members,
            share: level_share(rollout.variant, &self.task.error_budget()),
            budget: self.task.error_budget(),
        }
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
            self.tally.note(Note::NotFinite);
        }
        let paths = match rollout.variant {
            Variant::Mean => Paths::Mean,
            _ => Paths::Noisy,
        };
        self.tally.add_path(paths, result.outside, result.watched);
        if result.failed {
            self.tally.note(Note::SearchFailed);
        }
        if result.width {
            self.tally.note(Note::Width);
        }
        let stated = match (rollout.objective, rollout.variant) {
            (_, Variant::Penalised) | (Objective::Constraint(_), _) => None,
            (Objective::Return, _) => self.task.return_bounds,
        };
        let keeps = stated.is_none_or(|[low, high]| {
            let rounding = 1e-5 * maximum(maximum(-low, high), 0.0);
            result.least >= low - rounding && result.start_value <= high + rounding
        });
        if !(result.within_bounds && keeps) {
            self.tally.note(Note::OutsideRewardBounds);
        }
    }

    /// The verdict on what was added; unfinished work abstains.
    #[inline(never)]
    pub fn outcome(&self) -> Outcome {
        Outcome::new(self.model, self.task, &self.estimates, &self.tally)
    }
}

/// Where a candidate belongs among those of its level.
struct Place {
    searched: bool,
    /// Whether its trajectory is the last of its block.
    closes: bool,
    /// Whether it is the last of an initial state, where these are compared.
    ends_initial_state: bool,
    /// Whether it is the last of a whole member.
    ends_member: bool,
    whole_members: bool,
    /// What each level of the estimate may spend.
    share: f32,
    budget: ErrorBudget,
}

impl Place {
    fn add(&self, minimum: &mut Minimum, result: &SearchResult, freedom: u32) {
        minimum.add(result, self.searched, self.closes);
        if self.ends_initial_state {
            let share = if self.whole_members {
                minimum.member_share(&self.budget)
            } else {
                self.share
            };
            minimum.end_initial_state(self.searched, share, freedom);
        }
        if self.ends_member {
            minimum.end_member(&self.budget, freedom);
        }
    }
}

fn plan<'a, P>(
    model: &'a Model<'a>,
    task: &'a Task<'a>,
    policy: &'a P,
) -> impl Iterator<Item = (Rollout<'a, P>, Level)> + use<'a, P> {
    planned(task).flat_map(move |(objective, variant)| {
        let searched = searches(variant) && task.effort.searched > 0;
        let levels = core::iter::once(Level::Sampled).chain(searched.then_some(Level::Searched));
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
}

/// Whether there are places for all estimates, starts and members; and the most degrees
/// of freedom of a margin, which the starts limit where they come from a log. Out of
/// line: its working copies leave the stack when it returns.
#[inline(never)]
pub(super) fn hold_places<'a, P>(
    model: &'a Model<'a>,
    task: &'a Task<'a>,
    policy: &'a P,
) -> Result<u32, CapacityError> {
    let within = |needed: usize, available: usize| {
        let fits = needed <= available;
        fits.then_some(())
            .ok_or(CapacityError { needed, available })
    };
    within(planned(task).count(), MAX_ESTIMATES)?;
    for (rollout, _) in plan(model, task, policy) {
        let starts = Starts::of(&rollout);
        within(starts.count(), MAX_STARTS)?;
        if rollout.variant == Variant::DiscreteAdversaryInf {
            within(starts.members, MAX_MEMBERS)?;
        }
    }
    if task.initial.kind != InitialKind::Logged {
        return Ok(u32::MAX);
    }
    let distinct = task.initial.distinct(task.state_dimension());
    Ok(distinct.saturating_sub(1) as u32)
}

#[inline(never)]
fn count_steps<'a, P>(model: &'a Model<'a>, task: &'a Task<'a>, policy: &'a P) -> u64 {
    let horizon = u64::from(task.horizon);
    let each = plan(model, task, policy).map(|(rollout, level)| {
        let sweeps = level.sweeps(rollout.variant, task).saturating_add(1);
        u64::from(Assessment::candidates(&rollout, level)).saturating_mul(u64::from(sweeps))
    });
    each.fold(0, u64::saturating_add).saturating_mul(horizon)
}

/// Sweeps of the whole check over `B` lanes.
#[inline(never)]
pub(super) fn count_sweeps<'a, const B: usize, P>(
    model: &'a Model<'a>,
    task: &'a Task<'a>,
    policy: &'a P,
) -> u32 {
    let sweeps = plan(model, task, policy).map(|(rollout, level)| {
        let each = level.sweeps(rollout.variant, task).saturating_add(1);
        let groups = Assessment::candidates(&rollout, level).div_ceil(B as u32);
        groups.saturating_mul(each)
    });
    sweeps.fold(0, u32::saturating_add)
}
