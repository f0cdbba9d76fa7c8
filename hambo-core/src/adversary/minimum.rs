//! Equation (2)'s minimum, sampled: on every trajectory the least objective
//! over all adversaries tried. Candidates are added in one order, so that the
//! sums do not depend on the lanes that searched them.

use heapless::Vec;

use super::focus::TRIAL_BLOCK;
use super::level::Level;
use super::member_quantile::{member_quantile, member_share};
use super::search::{COURSE, SearchResult};
use super::shortlist::Shortlist;
use super::start::{MAX_STARTS, Start, Starts};
use crate::estimate::{ErrorBudget, LevelEstimate, SampleMoments, Values};
use crate::task::Constraint;

/// The largest number of members that HAMBO-DAinf compares.
pub(crate) const MAX_MEMBERS: usize = 64;

/// The samples of one estimate, level by level.
#[derive(Clone, Debug, Default)]
pub(crate) struct Minimum {
    starts: Starts,
    /// Trajectories of the level under way.
    count: u32,
    /// The sum over its trajectories of the objective at each start.
    start_sums: Vec<f64, MAX_STARTS>,
    /// Of the trajectory that is being added.
    now: Trajectory,
    /// What the trials of a block found, whose searches follow.
    tried: Vec<Trajectory, TRIAL_BLOCK>,
    /// The sums over the level's trajectories of the least that was found.
    sums: Sums,
    /// The first level: the least of all starts. Where initial states are
    /// compared, those of the one that is being added.
    sampled: SampleMoments,
    /// What the starts take on the complete trajectories that a pilot left out, at most 0.
    left_out: Option<LevelEstimate>,
    /// The second level: what the search finds beyond that, at most 0. While complete
    /// trajectories are added, what the starts take on them that were left out.
    correction: SampleMoments,
    /// The worst initial state so far of both levels, where they are compared.
    worst: [Option<LevelEstimate>; 2],
    /// Mean and lower bound of each whole member, where members are compared:
    /// then `sampled` is the one that is being added.
    members: Vec<[f32; 2], MAX_MEMBERS>,
    /// The least of their lower bounds for any distribution.
    least_member: f32,
    whole_members: bool,
    /// What is estimated, if it is no return.
    constraint: Option<Constraint>,
    /// Whether only means and bounds are asked for, not what is shown beside them.
    is_twin: bool,
}

/// What ends with a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Nothing: other candidates of the same trajectory follow.
    Nothing,
    /// Its trajectory.
    Trajectory,
    /// Its trajectory, the last of a block that counts as one value.
    Block,
}

/// The least objectives on one trajectory.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Trajectory {
    start: f32,
    found: f32,
    untrained: f32,
    course: [f32; COURSE],
}

/// Sums of [`Trajectory`] over a level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    untrained: f64,
    course: [f64; COURSE],
}

impl Default for Trajectory {
    fn default() -> Self {
        Self {
            start: f32::INFINITY,
            found: f32::INFINITY,
            untrained: f32::INFINITY,
            course: [f32::INFINITY; COURSE],
        }
    }
}

impl Minimum {
    /// A second computation of the same means and bounds, without what is only shown.
    pub fn twin() -> Self {
        Self {
            is_twin: true,
            ..Self::default()
        }
    }

    /// Empties the samples for an estimate with these starts, of the return or
    /// of a constraint. All values are known to lie within the bounds, if any, and `free` if
    /// the bounds of their means must hold for any distribution. `whole_members` if members
    /// are compared by their own means.
    pub fn begin(
        &mut self,
        starts: Starts,
        constraint: Option<&Constraint>,
        (bounds, free): (Option<[f32; 2]>, bool),
        whole_members: bool,
    ) {
        self.starts = starts;
        self.constraint = constraint.copied();
        let kept = constraint.is_some_and(|constraint| constraint.probability.is_some());
        let values = match bounds {
            _ if kept => Values::Kept,
            Some(bounds) => Values::Within(bounds),
            None => Values::Any,
        };
        self.sampled = SampleMoments::new(values).for_any_distribution(free);
        self.left_out = None;
        self.correction = SampleMoments::new(values.taken()).for_any_distribution(free);
        self.worst = [None; 2];
        self.members.clear();
        self.least_member = f32::INFINITY;
        self.whole_members = whole_members;
        self.begin_level();
    }

    /// Begins the next level of the same estimate.
    pub fn begin_level(&mut self) {
        self.count = 0;
        self.now = Trajectory::default();
        self.tried.clear();
        self.sums = Sums::default();
        self.start_sums.clear();
        // More starts than places are refused before the check begins.
        let _ = self.start_sums.resize(self.starts.count(), 0.0);
    }

    /// Adds the next candidate of the sampled or the searched level: trajectory by
    /// trajectory, and within one by the start.
    pub fn add(&mut self, result: &SearchResult, level: Level, ends: Ends) {
        let result = &self.outcome(result);
        self.add_start(result);
        if self.whole_members {
            self.sampled.add(result.start_value);
            if ends == Ends::Block {
                self.sampled.close();
            }
            if result.start.saturating_add(1) == self.starts.count() {
                self.count = self.count.saturating_add(1);
            }
            return;
        }
        lower(&mut self.now.start, result.start_value);
        self.now.take(result, self.starts.untrained());
        self.end_trajectory(level, ends);
    }

    /// Adds the next candidate of a complete trajectory: the least of the starts that were
    /// kept is one more sampled value, and what the others take off it is beside it.
    pub fn add_complete(&mut self, result: &SearchResult, kept: Shortlist, ends: Ends) {
        let of_all = &self.outcome(result);
        if kept.contains(of_all.start) {
            lower(&mut self.now.start, of_all.start_value);
        }
        lower(&mut self.now.found, of_all.start_value);
        if ends == Ends::Nothing {
            return;
        }
        let now = core::mem::take(&mut self.now);
        self.sampled.add(now.start);
        self.sampled.close();
        self.correction.add(now.beyond_start());
        self.correction.close();
    }

    /// Ends the complete trajectories. The bound of what the starts take on them that a pilot
    /// left out holds for any distribution where the values have bounds: a start that breaks a
    /// trajectory in a hundred may not be met at all.
    pub fn end_complete(&mut self, share: f32) {
        let left_out = self.correction.for_any_distribution(true);
        self.left_out = Some(level_of(&left_out, self.is_twin, share, u32::MAX));
        self.correction = self.correction.emptied();
    }

    /// Adds the next candidate of a trial.
    pub fn add_trial(&mut self, result: &SearchResult, ends: Ends) {
        let result = &self.outcome(result);
        self.add_start(result);
        lower(&mut self.now.start, result.start_value);
        self.now.take(result, self.starts.untrained());
        if ends != Ends::Nothing {
            // A block has places for all of its trajectories.
            let _ = self.tried.push(core::mem::take(&mut self.now));
        }
    }

    /// Adds the next candidate of the search that follows a trial, on the trajectory at a
    /// place of its block.
    pub fn add_kept(&mut self, result: &SearchResult, place: usize, ends: Ends) {
        let result = &self.outcome(result);
        self.now.take(result, self.starts.untrained());
        if ends != Ends::Nothing {
            // Without its trial a trajectory has no start: that is no number.
            let tried = self.tried.get(place).copied().unwrap_or_default();
            self.now.take_trial(&tried);
        }
        self.end_trajectory(Level::Searched, ends);
    }

    fn add_start(&mut self, result: &SearchResult) {
        if let Some(sum) = self.start_sums.get_mut(result.start) {
            *sum += f64::from(result.start_value);
        }
    }

    /// Begins the next block of trials.
    pub fn begin_block(&mut self) {
        self.tried.clear();
    }

    fn outcome(&self, result: &SearchResult) -> SearchResult {
        match self.constraint {
            Some(constraint) => result.map(|number| constraint.outcome(number)),
            None => *result,
        }
    }

    fn end_trajectory(&mut self, level: Level, ends: Ends) {
        if ends == Ends::Nothing {
            return;
        }
        let now = core::mem::take(&mut self.now);
        self.count = self.count.saturating_add(1);
        self.sums.untrained += f64::from(now.untrained);
        for (sum, value) in self.sums.course.iter_mut().zip(now.course) {
            *sum += f64::from(value);
        }
        let (sample, value) = if level == Level::Searched {
            (&mut self.correction, now.beyond_start())
        } else {
            (&mut self.sampled, now.start)
        };
        sample.add(value);
        if ends == Ends::Block {
            sample.close();
        }
    }

    /// Ends an initial state, whose trajectories of a level have all been added,
    /// where the worst of several counts. Each has the whole share: if the bound
    /// of the truly worst holds, the least of all bounds lies below it.
    pub fn end_initial_state(&mut self, level: Level, share: f32, freedom: u32) {
        let [of_sampled, of_correction] = &mut self.worst;
        let (worst, sample) = if level == Level::Searched {
            (of_correction, &mut self.correction)
        } else {
            (of_sampled, &mut self.sampled)
        };
        let one = level_of(sample, self.is_twin, share, freedom);
        *worst = Some(worst.map_or(one, |worst| worst.worse(one)));
        *sample = sample.emptied();
    }

    /// What the bound of a whole member may spend.
    pub fn member_share(&self, budget: &ErrorBudget) -> f32 {
        member_share(self.starts.members, budget)
    }

    /// Ends a whole member, whose trajectories have all been added.
    pub fn end_member(&mut self, budget: &ErrorBudget, freedom: u32) {
        let member = self.sampled(self.member_share(budget), freedom);
        let free = member.distribution_free;
        if free.is_nan() || free < self.least_member {
            self.least_member = free;
        }
        // More members than places are refused before the check begins.
        let _ = self.members.push([member.mean, member.lower]);
        if self.members.len() < self.starts.members {
            self.sampled = self.sampled.emptied();
            self.worst = [None; 2];
        }
    }

    /// The first level; of whole members the last one's, of initial states the
    /// worst's.
    pub fn sampled(&self, share: f32, freedom: u32) -> LevelEstimate {
        let [worst, _] = self.worst;
        worst.unwrap_or_else(|| level_of(&self.sampled, self.is_twin, share, freedom))
    }

    /// What the starts take that a pilot left out, if it did.
    pub fn left_out(&self) -> Option<LevelEstimate> {
        self.left_out
    }

    /// The second level, if there is one.
    pub fn correction(&self, share: f32, freedom: u32) -> Option<LevelEstimate> {
        let [_, worst] = self.worst;
        let own = || level_of(&self.correction, self.is_twin, share, freedom);
        worst.or_else(|| (self.correction.count() > 0).then(own))
    }

    /// The mean over the last level's trajectories of the least of all starts
    /// but the trained network, and what a search found from them.
    pub fn untrained_mean(&self) -> f32 {
        self.mean(self.sums.untrained)
    }

    /// The mean over the same trajectories of the least of all starts, as the search went on.
    pub fn course(&self) -> [f32; COURSE] {
        self.sums.course.map(|sum| self.mean(sum))
    }

    /// The kinds of starts that a predicate names: the one with the least mean
    /// over the last level's trajectories, and that mean.
    pub fn worst_start(&self, wanted: impl Fn(Start) -> bool) -> Option<(Start, f32)> {
        let mut worst: Option<(Start, f32)> = None;
        for (number, sum) in self.start_sums.iter().enumerate() {
            let (start, mean) = (self.starts.at(number), self.mean(*sum));
            if wanted(start) && worst.is_none_or(|(_, least)| mean < least) {
                worst = Some((start, mean));
            }
        }
        worst
    }

    fn mean(&self, sum: f64) -> f32 {
        (sum / f64::from(self.count)) as f32
    }

    /// A lower bound over whole members for any distribution: that of the least.
    pub fn least_member(&self) -> f32 {
        self.least_member
    }

    /// Mean and lower bound over whole members, see [`member_quantile`].
    pub fn member_quantile(&self, budget: &ErrorBudget) -> (f32, f32) {
        member_quantile(&self.members, budget)
    }
}

/// The mean of a sample with its bound.
fn level_of(sample: &SampleMoments, is_twin: bool, share: f32, freedom: u32) -> LevelEstimate {
    if is_twin {
        sample.deciding(share, freedom)
    } else {
        sample.estimate(share, freedom)
    }
}

fn lower(least: &mut f32, value: f32) {
    if value < *least {
        *least = value;
    }
}

impl Trajectory {
    /// What was found beyond the starts. Minus infinity needs no correction.
    fn beyond_start(&self) -> f32 {
        if self.start == f32::NEG_INFINITY {
            0.0
        } else {
            self.found - self.start
        }
    }

    fn take(&mut self, result: &SearchResult, untrained: usize) {
        lower(&mut self.found, result.least);
        if result.start < untrained {
            lower(&mut self.untrained, result.least);
        }
        for (least, value) in self.course.iter_mut().zip(result.course) {
            lower(least, value);
        }
    }

    /// Takes over what the trial of the same trajectory found: it came before all sweeps but
    /// the first.
    fn take_trial(&mut self, trial: &Self) {
        self.start = trial.start;
        lower(&mut self.found, trial.found);
        lower(&mut self.untrained, trial.untrained);
        let [first, later @ ..] = &mut self.course;
        let [start, ..] = trial.course;
        *first = start;
        for least in later {
            lower(least, trial.found);
        }
    }
}

#[cfg(test)]
#[path = "minimum_tests.rs"]
mod tests;
