//! The plan of a check and its results in the plan's order: the part that must
//! not run in parallel. The sweeps themselves may run anywhere.

use heapless::Vec;

use super::estimate::{Estimate, level_share};
use super::judge::planned;
use super::limits::MAX_ESTIMATES;
use super::outcome::Outcome;
use super::selection::Selection;
use super::stage::{Stage, stages};
use super::tally::{Note, Paths, Tally, WatchedPath};

use crate::adversary::{
    Candidate, Ends, Level, MAX_MEMBERS, MAX_STARTS, Minimum, SearchResult, Shortlist, Starts,
};
use crate::estimate::ErrorBudget;
use crate::gate::Hashes;
use crate::model::Model;
use crate::numeric::CapacityError;
use crate::numeric::elementary::maximum;
use crate::numeric::redundant::{Redundant, Side};
use crate::rollout::Rollout;
use crate::task::{InitialKind, Objective, Task, Variant};

/// The estimates of a check, one after the other, each stage by stage. The
/// candidates of a stage are searched in any groups and any order, and added
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
/// while let Some(stage) = assessment.current() {
///     for first in (0..stage.candidates()).step_by(4) {
///         let buffers = Buffers::carve(&mut rows, &model.dynamics, task, policy);
///         let mut buffers = buffers.map_err(|_| "too few rows")?;
///         let lanes = [0, 1, 2, 3].map(|lane| assessment.candidate(&stage, first + lane));
///         let mut search = Search::<4>::of(&stage.rollout, stage.level, lanes);
///         while !search.sweep(&stage.rollout, &mut buffers) {}
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
    /// Stages that are done.
    stages: Redundant<u32>,
    /// Candidates of the stage under way that were added.
    added: Redundant<u32>,
    /// Which starts a focused estimate goes on with.
    selection: Selection,
    minimum: Minimum,
    /// The same once more, fed by itself: what the two come to must agree.
    twin: Minimum,
    tally: Tally,
    /// The most degrees of freedom of a margin.
    freedom: Redundant<u32>,
}

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
        ensure_capacity(model, task, policy)?;
        Ok(Self::empty(model, task, policy))
    }

    /// Nothing estimated yet; capacities are already checked. Inlined: a copy costs kilobytes
    /// of stack.
    #[inline(always)]
    pub(super) fn empty(model: &'a Model<'a>, task: &'a Task<'a>, policy: &'a P) -> Self {
        let freedom = degrees_of_freedom(task);
        Self {
            model,
            policy,
            task,
            estimates: Vec::new(),
            stages: Redundant::of(0, 0),
            added: Redundant::of(0, 0),
            selection: Selection::new(),
            minimum: Minimum::default(),
            twin: Minimum::twin(),
            tally: Tally::new(count_steps(model, task, policy)),
            freedom: Redundant::of(freedom, freedom),
        }
    }

    /// What is estimated, in order: every objective under mean propagation
    /// and under the task's variants, sampled, and searched where there is a
    /// search.
    pub fn plan(&self) -> impl Iterator<Item = Stage<'a, P>> + use<'a, P> {
        stages(self.model, self.task, self.policy)
    }

    /// The stage that is under way, if any is left and all of them fit the
    /// task's limit.
    pub fn current(&self) -> Option<Stage<'a, P>> {
        if self.steps() > self.task.plan.method.step_limit {
            return None;
        }
        self.plan().nth(self.stages.read(Side::Plain) as usize)
    }

    /// Steps of the model that the whole check takes, forward sweeps alone.
    pub fn steps(&self) -> u64 {
        self.tally.steps(Side::Plain)
    }

    /// The candidate with a number of the stage under way. Beyond the last it is the last,
    /// so that idle lanes do what another does.
    pub fn candidate(&self, stage: &Stage<'_, P>, number: u32) -> Candidate {
        let number = number.min(stage.candidates().saturating_sub(1));
        if !stage.is_chosen() {
            return stage.candidate(number);
        }
        let starts = stage.starts as u32;
        let place = number.checked_div(starts).unwrap_or(0);
        let of_those = match stage.level {
            Level::Searched => self.selection.searched(place as usize),
            _ => self.selection.sampled(),
        };
        Candidate {
            trajectory: stage.first.saturating_add(place),
            start: of_those.at(number.checked_rem(starts).unwrap_or(0) as usize),
        }
    }

    fn begin(&mut self) {
        let kept = self.stages.agrees()
            && self.added.agrees()
            && self.freedom.agrees()
            && self.selection.agrees();
        if !kept {
            self.tally.note(Note::Corrupted);
        }
        self.added = Redundant::of(0, 0);
        let Some(stage) = self.current() else {
            return;
        };
        let rollout = &stage.rollout;
        if stage.part == 0 {
            let bounds = match rollout.variant {
                // What is taken off the reward has no bounds.
                Variant::Penalised => None,
                _ => self.task.bounds(rollout.objective),
            };
            let starts = Starts::of(rollout);
            let constraint = self.task.constraint(rollout.objective);
            let free = self.task.is_distribution_free(rollout.objective);
            for minimum in [&mut self.minimum, &mut self.twin] {
                minimum.begin(starts, constraint, (bounds, free), stage.compares_members());
            }
            self.selection.begin(starts.count());
        } else {
            // The second level begins with a trial where there is one.
            let begins_level = match stage.level {
                Level::Trial => stage.first == 0,
                Level::Searched => stage.focus.is_none(),
                Level::Pilot | Level::Complete | Level::Sampled => false,
            };
            for minimum in [&mut self.minimum, &mut self.twin] {
                if begins_level {
                    minimum.begin_level();
                } else if stage.level == Level::Trial {
                    minimum.begin_block();
                }
            }
        }
    }

    /// Adds what was found for the next candidates of the stage under way, in
    /// their order. After the last the next stage begins, and what idle lanes
    /// found is left.
    pub fn add_results(&mut self, results: impl IntoIterator<Item = SearchResult>) {
        let Some(stage) = self.current() else {
            return;
        };
        if self.stages.read(Side::Plain) == 0 && self.added.read(Side::Plain) == 0 {
            self.begin();
        }
        let candidates = stage.candidates();
        let left = candidates.saturating_sub(self.added.read(Side::Plain)) as usize;
        for result in results.into_iter().take(left) {
            self.note_result(&stage.rollout, &result);
            let place = self.place(&stage, self.added.read(Side::Plain));
            self.add_result(&stage, &place, &result);
            self.added.update(|added| added.saturating_add(1));
        }
        if self.added.read(Side::Plain) < candidates {
            return;
        }
        let kept = stage.focus.and_then(|focus| focus.kept);
        if let (Level::Pilot, Some(kept)) = (stage.level, kept) {
            self.selection.end_pilot(kept);
        }
        if stage.level == Level::Complete {
            let share = level_share(&stage.rollout, &self.task.error_budget());
            for minimum in [&mut self.minimum, &mut self.twin] {
                minimum.end_complete(share);
            }
        }
        self.stages.update(|stages| stages.saturating_add(1));
        if self.current().is_none_or(|next| next.part == 0) {
            self.end_estimate(&stage.rollout);
        }
        self.begin();
    }

    fn add_result(&mut self, stage: &Stage<'_, P>, place: &Place, result: &SearchResult) {
        match (stage.level, stage.focus) {
            (Level::Pilot, _) => {
                self.selection.add_pilot(result);
                return;
            }
            (Level::Trial, Some(focus)) => {
                let (block, ends) = (place.place_in_block, place.ends);
                self.selection
                    .add_trial(result, block, ends, focus.searched);
            }
            _ => {}
        }
        let sampled = self.selection.sampled();
        place.add(
            &mut self.minimum,
            result,
            sampled,
            self.freedom.read(Side::Plain),
        );
        place.add(
            &mut self.twin,
            result,
            sampled,
            self.freedom.read(Side::Complement),
        );
    }

    fn end_estimate(&mut self, rollout: &Rollout<'_, P>) {
        let budget = self.task.error_budget();
        let freedom = |side| self.freedom.read(side);
        let estimate = Estimate::new(rollout, &self.minimum, &budget, freedom(Side::Plain));
        let twin = Estimate::new(rollout, &self.twin, &budget, freedom(Side::Complement));
        self.tally
            .add_estimate([estimate.mean, estimate.lower], [twin.mean, twin.lower]);
        // There are places for the whole plan.
        let _ = self.estimates.push(estimate);
    }

    /// Where the candidate with this number of a stage belongs.
    fn place(&self, stage: &Stage<'_, P>, number: u32) -> Place {
        let whole_members = stage.compares_members();
        let starts = stage.starts as u32;
        let (trajectory, start) = if whole_members {
            (number.checked_rem(stage.trajectories), 0)
        } else {
            let start = number.checked_rem(starts).unwrap_or(0);
            (number.checked_div(starts), start)
        };
        let place_in_block = trajectory.unwrap_or(0);
        let trajectory = stage.first.saturating_add(place_in_block);
        let kind = self.task.initial.kind;
        let ends_start = self.ends_start(stage.level, trajectory);
        let ends_trajectory = whole_members || start.saturating_add(1) == starts;
        Place {
            level: stage.level,
            focused: stage.focus.is_some(),
            place_in_block: place_in_block as usize,
            ends: if !ends_trajectory {
                Ends::Nothing
            } else if kind == InitialKind::Logged && !ends_start {
                // The trajectories from one logged start are one value.
                Ends::Trajectory
            } else {
                Ends::Block
            },
            ends_initial_state: kind == InitialKind::Worst && ends_start && ends_trajectory,
            ends_member: whole_members && trajectory.saturating_add(1) == stage.trajectories,
            whole_members,
            share: level_share(&stage.rollout, &self.task.error_budget()),
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
        let walked = WatchedPath {
            steps: result.watched,
            outside: result.outside,
            far_outside: result.far_outside,
        };
        self.tally.add_path(paths, walked);
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

    /// Notes that what the estimates rest on has changed in memory.
    pub(super) fn spoil(&mut self) {
        self.tally.note(Note::Corrupted);
    }

    /// The verdict on what was added; unfinished work abstains.
    pub fn outcome(&self) -> Outcome {
        self.outcome_of(None)
    }

    /// That of somebody's check.
    #[inline(never)]
    pub(super) fn outcome_of<S>(&self, hashes: Option<Hashes>) -> Outcome<S> {
        Outcome::new(self.model, self.task, &self.estimates, &self.tally, hashes)
    }
}

/// Where a candidate belongs among those of its stage.
struct Place {
    level: Level,
    focused: bool,
    /// The trajectory's place in the stage.
    place_in_block: usize,
    ends: Ends,
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
    fn add(&self, minimum: &mut Minimum, result: &SearchResult, sampled: Shortlist, freedom: u32) {
        match self.level {
            Level::Pilot => return,
            Level::Complete => return minimum.add_complete(result, sampled, self.ends),
            Level::Trial => return minimum.add_trial(result, self.ends),
            Level::Searched if self.focused => {
                minimum.add_kept(result, self.place_in_block, self.ends);
            }
            Level::Sampled | Level::Searched => minimum.add(result, self.level, self.ends),
        }
        if self.ends_initial_state {
            let share = if self.whole_members {
                minimum.member_share(&self.budget)
            } else {
                self.share
            };
            minimum.end_initial_state(self.level, share, freedom);
        }
        if self.ends_member {
            minimum.end_member(&self.budget, freedom);
        }
    }
}

/// Whether there are places for all estimates, starts and members. Out of line: its
/// working copies leave the stack when it returns.
#[inline(never)]
pub(super) fn ensure_capacity<'a, P>(
    model: &'a Model<'a>,
    task: &'a Task<'a>,
    policy: &'a P,
) -> Result<(), CapacityError> {
    let within = |needed: usize, available: usize| {
        let fits = needed <= available;
        fits.then_some(())
            .ok_or(CapacityError { needed, available })
    };
    within(planned(task).count(), MAX_ESTIMATES)?;
    for stage in stages(model, task, policy) {
        let starts = Starts::of(&stage.rollout);
        within(starts.count(), MAX_STARTS)?;
        if stage.compares_members() {
            within(starts.members, MAX_MEMBERS)?;
        }
    }
    Ok(())
}

/// The most degrees of freedom of a margin: the starts limit them where they come from a log.
#[inline(never)]
fn degrees_of_freedom(task: &Task<'_>) -> u32 {
    if task.initial.kind != InitialKind::Logged {
        return u32::MAX;
    }
    let distinct = task.initial.distinct(task.state_dimension());
    distinct.saturating_sub(1) as u32
}

#[inline(never)]
fn count_steps<'a, P>(model: &'a Model<'a>, task: &'a Task<'a>, policy: &'a P) -> u64 {
    let horizon = u64::from(task.horizon);
    let each = stages(model, task, policy)
        .map(|stage| u64::from(stage.candidates()).saturating_mul(u64::from(stage.sweeps())));
    each.fold(0, u64::saturating_add).saturating_mul(horizon)
}

/// Sweeps of the whole check over `B` lanes.
#[inline(never)]
pub(super) fn count_sweeps<'a, const B: usize, P>(
    model: &'a Model<'a>,
    task: &'a Task<'a>,
    policy: &'a P,
) -> u32 {
    let sweeps = stages(model, task, policy).map(|stage| {
        let groups = stage.candidates().div_ceil(B as u32);
        groups.saturating_mul(stage.sweeps())
    });
    sweeps.fold(0, u32::saturating_add)
}
