//! A search on a group of `B` candidates side by side: each is a trajectory
//! (its initial state and noise) and a start of the adversary.

use super::adjoint_search::AdjointSearch;
use super::hash;
use super::level::Level;
use super::schedule::{Round, ScheduledSweep};
use super::sequence_search::SequenceSearch;
use super::start::{Start, Starts};
use crate::numeric::random::Stream;
use crate::policy::Policy;
use crate::rollout::{Buffers, Feedback, Returns, Rollout};
use crate::task::Variant;

/// Points of the search's course that are kept: after the start, and after
/// 1/16, 1/8, 1/4, 1/2 and all of its sweeps.
pub(crate) const COURSE: usize = 6;

/// The sweeps on one group. The first is the start itself: a constant
/// adversary, a member, what was found elsewhere, a trained network, or none;
/// every later one is a step of the search.
#[derive(Clone, Debug)]
pub struct Search<const B: usize> {
    level: Level,
    starts: [Start; B],
    numbers: [usize; B],
    trajectories: [u32; B],
    streams: [Stream; B],
    iterations: u32,
    iteration: u32,
    sequence: SequenceSearch<B>,
    start_value: [f32; B],
    least: [f32; B],
    /// The smooth objective of what is kept: it decides between equals.
    smooth: [f32; B],
    course: [[f32; B]; COURSE],
    marks: Marks<B>,
}

/// What went wrong on the way, lane by lane.
#[derive(Clone, Debug)]
struct Marks<const B: usize> {
    finite: [bool; B],
    outside: [u32; B],
    far_outside: [bool; B],
    steps: [u32; B],
    within_bounds: [bool; B],
    width: [bool; B],
    failed: [bool; B],
}

/// A trajectory of a level and a start of the adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The trajectory's number in its level.
    pub trajectory: u32,
    /// The start's number.
    pub start: usize,
}

impl Candidate {
    /// Candidate c of a level in which every start has its turn: trajectory c / n from start
    /// c mod n, for n starts; of DAinf, which compares whole members, trajectory c mod L under
    /// member c / L.
    pub fn numbered<P>(rollout: &Rollout<'_, P>, level: Level, number: u32) -> Self {
        let starts = Starts::of(rollout).count();
        let whole_members = rollout.variant == Variant::DiscreteAdversaryInf;
        let by = if whole_members {
            level.trajectories(rollout.task)
        } else {
            starts as u32
        };
        let (whole, rest) = (number.checked_div(by), number.checked_rem(by));
        let (whole, rest) = (whole.unwrap_or(0), rest.unwrap_or(0));
        if whole_members {
            Self {
                trajectory: rest,
                // Lanes beyond the last candidate do what the last member does.
                start: (whole as usize).min(starts.saturating_sub(1)),
            }
        } else {
            Self {
                trajectory: whole,
                start: rest as usize,
            }
        }
    }
}

/// What the sweeps found for one candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchResult {
    /// The number of its start.
    pub start: usize,
    /// The objective at the start.
    pub start_value: f32,
    /// The least objective of all sweeps.
    pub least: f32,
    /// The least objective as the sweeps went on.
    pub course: [f32; COURSE],
    /// False once a number was not finite.
    pub finite: bool,
    /// Steps of the first sweep that began outside the data's support.
    pub outside: u32,
    /// Whether one of them began far outside.
    pub far_outside: bool,
    /// Steps of the first sweep whose distance from the log was measured: all
    /// of them where the adversary does nothing, else none.
    pub watched: u32,
    /// False once a step's reward lay outside the task's bounds.
    pub within_bounds: bool,
    /// True once the model left the adversary a choice.
    pub width: bool,
    /// True once a derivative did not exist, so that the search was blind.
    pub failed: bool,
}

impl SearchResult {
    /// A result without marks, for tests; its course ends below its least, to be told apart.
    #[cfg(test)]
    pub(crate) fn found(start: usize, start_value: f32, least: f32) -> Self {
        Self {
            start,
            start_value,
            least,
            course: [start_value, least, least, least, least, least - 0.5],
            finite: true,
            outside: 0,
            far_outside: false,
            watched: 0,
            within_bounds: true,
            width: true,
            failed: false,
        }
    }

    /// The same with every objective passed through a function that does not
    /// fall.
    pub(super) fn map(&self, function: impl Fn(f32) -> f32) -> Self {
        Self {
            start_value: function(self.start_value),
            least: function(self.least),
            course: self.course.map(&function),
            ..*self
        }
    }
}

impl<const B: usize> Search<B> {
    /// A group of any candidates of a level in which every start has its turn, by their
    /// [numbers](Candidate::numbered).
    pub fn new<P: Policy>(rollout: &Rollout<'_, P>, level: Level, candidates: [u32; B]) -> Self {
        let candidates = candidates.map(|number| Candidate::numbered(rollout, level, number));
        Self::of(rollout, level, candidates)
    }

    /// A group of any candidates of a level.
    pub fn of<P: Policy>(
        rollout: &Rollout<'_, P>,
        level: Level,
        candidates: [Candidate; B],
    ) -> Self {
        let starts = Starts::of(rollout);
        let trajectories = candidates.map(|candidate| candidate.trajectory);
        let numbers = candidates.map(|candidate| candidate.start);
        let places =
            candidates.map(|candidate| hash::place(candidate.trajectory, candidate.start as u32));
        Self {
            level,
            starts: numbers.map(|number| starts.at(number)),
            numbers,
            trajectories,
            streams: trajectories.map(|trajectory| level.stream(rollout.task, trajectory)),
            iterations: level.sweeps(rollout.variant, rollout.task),
            iteration: 0,
            sequence: SequenceSearch::new(places),
            start_value: [f32::INFINITY; B],
            least: [f32::INFINITY; B],
            smooth: [f32::INFINITY; B],
            course: [[f32::INFINITY; B]; COURSE],
            marks: Marks {
                finite: [true; B],
                outside: [0; B],
                far_outside: [false; B],
                steps: [0; B],
                within_bounds: [true; B],
                width: [false; B],
                failed: [false; B],
            },
        }
    }

    /// The least objective so far, lane by lane.
    pub fn least(&self) -> &[f32; B] {
        &self.least
    }

    /// What was found, lane by lane.
    pub fn results(&self) -> impl Iterator<Item = SearchResult> + '_ {
        (0..B).filter_map(|lane| {
            let mut course = [f32::INFINITY; COURSE];
            for (point, row) in course.iter_mut().zip(&self.course) {
                *point = *row.get(lane)?;
            }
            Some(SearchResult {
                start: *self.numbers.get(lane)?,
                start_value: *self.start_value.get(lane)?,
                least: *self.least.get(lane)?,
                course,
                finite: *self.marks.finite.get(lane)?,
                outside: *self.marks.outside.get(lane)?,
                far_outside: *self.marks.far_outside.get(lane)?,
                watched: *self.marks.steps.get(lane)?,
                within_bounds: *self.marks.within_bounds.get(lane)?,
                width: *self.marks.width.get(lane)?,
                failed: *self.marks.failed.get(lane)?,
            })
        })
    }

    /// One sweep; true after the last. The states of this sweep stay in
    /// `buffers`. A sweep that a pause stopped is the last, and no lane is finite.
    pub fn sweep<P: Policy>(
        &mut self,
        rollout: &Rollout<'_, P>,
        buffers: &mut Buffers<'_, B>,
    ) -> bool {
        if self.iteration == 0 {
            self.begin(rollout, buffers);
        }
        let returns = rollout.forward(&self.streams, buffers);
        let improved = self.keep_least(&returns, rollout.variant);
        buffers.feedback = [Feedback::Given; B];
        buffers.watch_support = [false; B];
        if self.iteration >= self.iterations || buffers.is_stopped() {
            return true;
        }
        if rollout.variant == Variant::DiscreteAdversary1 {
            let softness = ScheduledSweep::new(self.iteration, self.iterations).softness();
            self.sequence.propose(
                rollout,
                &self.streams,
                &returns,
                &improved,
                softness,
                buffers,
            );
        } else {
            let failed =
                self.adjoint()
                    .propose(rollout, &self.streams, &returns, &improved, buffers);
            for (mark, failed) in self.marks.failed.iter_mut().zip(failed) {
                *mark |= failed;
            }
        }
        if buffers.is_stopped() {
            self.marks.finite = [false; B];
            return true;
        }
        self.iteration = self.iteration.saturating_add(1);
        false
    }

    /// The lanes in which the adversary does nothing on the first sweep: mean
    /// propagation, the mean with noise, a member followed throughout. Those are
    /// the paths that the system itself may take.
    fn watched(&self, variant: Variant) -> [bool; B] {
        self.starts.map(|start| match start {
            Start::Constant(0) => true,
            Start::Member(_) => variant != Variant::ContinuousAdversary,
            _ => false,
        })
    }

    fn adjoint(&self) -> AdjointSearch<'_, B> {
        AdjointSearch {
            starts: &self.starts,
            numbers: &self.numbers,
            trajectories: &self.trajectories,
            iteration: self.iteration,
            iterations: self.iterations,
        }
    }

    fn begin<P: Policy>(&self, rollout: &Rollout<'_, P>, buffers: &mut Buffers<'_, B>) {
        buffers.smooth_end = self.iterations > 0;
        buffers.watch_support = self.watched(rollout.variant);
        self.level.start_all(rollout, &self.trajectories, buffers);
        let dynamics = &rollout.model.dynamics;
        let continuous = rollout.variant == Variant::ContinuousAdversary;
        buffers.feedback = self.starts.map(|start| match start {
            Start::Network => Feedback::Network,
            Start::Member(member) if continuous => Feedback::Member(member as u16),
            _ => Feedback::Given,
        });
        let found = rollout.task.found(rollout.variant, rollout.objective);
        match rollout.variant {
            Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf => {
                let members = dynamics.members();
                SequenceSearch::begin(&self.starts, found, members, &mut buffers.members);
            }
            _ => {
                let adjoint = self.adjoint();
                adjoint.lay_pattern(Round::Constant, dynamics.outputs(), buffers);
                if let Some(found) = found {
                    adjoint.lay_found(found, buffers);
                }
            }
        }
    }

    /// Keeps the figures of a sweep; returns the lanes that it improved, if
    /// only in the smooth objective.
    fn keep_least(&mut self, returns: &Returns<B>, variant: Variant) -> [bool; B] {
        if self.iteration == 0 {
            self.start_value = returns.value;
            self.marks.outside = returns.outside;
            self.marks.far_outside = returns.far_outside;
            let watched = self.watched(variant);
            self.marks.steps = core::array::from_fn(|lane| match watched.get(lane) {
                Some(true) => returns.steps.get(lane).copied().unwrap_or(0),
                _ => 0,
            });
        }
        self.marks.add(returns);
        let mut improved = [false; B];
        let least = self.least.iter_mut().zip(&returns.value);
        for ((least, value), improved) in least.zip(&mut improved) {
            if *value < *least {
                *least = *value;
                *improved = true;
            }
        }
        let ties = self.smooth.iter_mut().zip(&returns.smooth);
        let ties = ties.zip(self.least.iter().zip(&returns.value));
        for (improved, ((kept, smooth), (least, value))) in improved.iter_mut().zip(ties) {
            if *improved || (*value == *least && *smooth < *kept) {
                *improved = true;
                *kept = *smooth;
            }
        }
        let points = (0_u32..).zip(&mut self.course);
        for (point, row) in points {
            if self.iteration <= course_sweep(point, self.iterations) {
                *row = self.least;
            }
        }
        improved
    }
}

impl<const B: usize> Marks<B> {
    fn add(&mut self, returns: &Returns<B>) {
        for (mark, good) in self.finite.iter_mut().zip(returns.finite) {
            *mark &= good;
        }
        for (mark, good) in self.within_bounds.iter_mut().zip(returns.within_bounds) {
            *mark &= good;
        }
        for (mark, width) in self.width.iter_mut().zip(returns.width) {
            *mark |= width;
        }
    }
}

/// The sweep after which a point of the course is taken.
pub fn course_sweep(point: u32, sweeps: u32) -> u32 {
    match (COURSE as u32).saturating_sub(1).checked_sub(point) {
        _ if point == 0 => 0,
        Some(halvings) => sweeps.checked_shr(halvings).unwrap_or(0),
        None => sweeps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_course_doubles_its_sweeps() {
        let points = [0, 1, 2, 3, 4, 5].map(|point| course_sweep(point, 160));
        assert_eq!(points, [0, 10, 20, 40, 80, 160]);
    }
}
