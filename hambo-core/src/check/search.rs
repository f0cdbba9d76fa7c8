//! A group of `B` candidates: each is a trajectory (its initial state and
//! noise) and a start of the adversary.

use crate::adversary::{
    Change, Discrete, REFINE, pattern, searches, softness, start_count, step_length, turn, update,
};
use crate::arithmetic::random::Stream;
use crate::policy::Policy;
use crate::rollout::{Buffers, Returns, Rollout};
use crate::task::{Task, Variant};

/// The sweeps on one group. The first is the start itself: a constant
/// adversary, or none; every later one is a step of the search.
///
/// ```
/// use hambo_core::check::{Assessment, Search};
/// use hambo_core::rollout::Buffers;
/// use hambo_core::task::Variant;
/// let image = hambo_core::example::image()?;
/// let (model, task, policy) = (&image.model, &image.task, &image.policy);
/// let assessment = Assessment::new(model, task, policy).map_err(|_| "too many")?;
/// let rollout = assessment.plan().nth(1).ok_or("CA comes second")?;
/// assert_eq!(Search::<3>::start_total(&rollout), 3);
/// assert_eq!(Search::<3>::iterations(Variant::ContinuousAdversary, task), 8);
/// let mut rows = [[0.0; 3]; 128];
/// let buffers = Buffers::carve(&mut rows, &model.dynamics, task, policy);
/// let mut buffers = buffers.map_err(|_| "too few rows")?;
/// let mut search = Search::new(&rollout, 0);
/// while !search.sweep(&rollout, &mut buffers) {}
/// // The mean, a push down, a push up; each search ends at the worst of all.
/// assert_eq!(search.starts(), &[0, 1, 2]);
/// assert!((search.first[0] + 1.328).abs() < 1e-3 && (search.first[2] + 1.61).abs() < 1e-3);
/// assert!(search.least[0] < search.first[0]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct Search<const B: usize> {
    starts: [usize; B],
    streams: [Stream; B],
    iterations: u32,
    iteration: u32,
    discrete: Discrete<B>,
    /// The objective at the start.
    pub first: [f32; B],
    /// The least objective of all sweeps.
    pub least: [f32; B],
    /// The sweep that found it.
    pub least_iteration: [u32; B],
    /// False once a number was not finite.
    pub finite: [bool; B],
    /// True if the first sweep left the data's support.
    pub outside: [bool; B],
}

/// What the sweeps found for one candidate.
///
/// ```
/// use hambo_core::check::{Assessment, Search};
/// let image = hambo_core::example::image()?;
/// let assessment = Assessment::new(&image.model, &image.task, &image.policy);
/// let assessment = assessment.map_err(|_| "too many")?;
/// let rollout = assessment.plan().nth(1).ok_or("CA comes second")?;
/// // Before the first sweep nothing is known; candidate 4 is trajectory 1 from start 1.
/// let search = Search::of(&rollout, [4]);
/// let found = search.found().next().ok_or("one lane")?;
/// assert_eq!((found.start, found.least), (1, f32::INFINITY));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Its start.
    pub start: usize,
    /// The objective at the start.
    pub first: f32,
    /// The least objective of all sweeps.
    pub least: f32,
    /// False once a number was not finite.
    pub finite: bool,
    /// True if the first sweep left the data's support.
    pub outside: bool,
}

impl<const B: usize> Search<B> {
    /// The group of candidates from `first` on.
    #[must_use]
    pub fn new<P: Policy>(rollout: &Rollout<'_, P>, first: u32) -> Self {
        let candidates = core::array::from_fn(|lane| first.saturating_add(lane as u32));
        Self::of(rollout, candidates)
    }

    /// A group of any candidates. Candidate c is trajectory c / n from start
    /// c mod n, for n starts.
    #[must_use]
    pub fn of<P: Policy>(rollout: &Rollout<'_, P>, candidates: [u32; B]) -> Self {
        let count = Self::start_total(rollout).max(1) as u32;
        let trajectory = |candidate: u32| candidate.checked_div(count).unwrap_or(0);
        let seed = rollout.task.effort.seed;
        Self {
            starts: candidates.map(|c| c.checked_rem(count).unwrap_or(0) as usize),
            streams: candidates.map(|c| Stream::new(seed, trajectory(c))),
            iterations: Self::iterations(rollout.variant, rollout.task),
            iteration: 0,
            discrete: Discrete::new(),
            first: [f32::INFINITY; B],
            least: [f32::INFINITY; B],
            least_iteration: [0; B],
            finite: [true; B],
            outside: [false; B],
        }
    }

    /// How many starts there are: the constant ones, and one more for a
    /// trained adversary.
    #[must_use]
    pub fn start_total<P>(rollout: &Rollout<'_, P>) -> usize {
        let trained = rollout.task.adversary(rollout.variant).is_some();
        start_count(rollout.variant, &rollout.model.dynamics).saturating_add(usize::from(trained))
    }

    /// How many sweeps follow the first.
    #[must_use]
    pub fn iterations(variant: Variant, task: &Task<'_>) -> u32 {
        if searches(variant) {
            task.effort.iterations
        } else {
            0
        }
    }

    /// The starts of the lanes.
    #[must_use]
    pub fn starts(&self) -> &[usize; B] {
        &self.starts
    }

    /// What was found, lane by lane.
    pub fn found(&self) -> impl Iterator<Item = Found> + '_ {
        let values = self.first.iter().zip(&self.least);
        let marks = self.finite.iter().zip(&self.outside);
        let lanes = self.starts.iter().zip(values.zip(marks));
        lanes.map(|(start, ((first, least), (finite, outside)))| Found {
            start: *start,
            first: *first,
            least: *least,
            finite: *finite,
            outside: *outside,
        })
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
        let improved = self.record(&returns);
        buffers.trained = [false; B];
        if self.iteration >= self.iterations {
            return true;
        }
        match rollout.variant {
            Variant::DiscreteAdversary1 => self.discrete_step(rollout, &returns, buffers),
            _ => self.continuous_step(rollout, &returns, &improved, buffers),
        }
        self.iteration = self.iteration.saturating_add(1);
        false
    }

    fn begin<P: Policy>(&self, rollout: &Rollout<'_, P>, buffers: &mut Buffers<'_, B>) {
        rollout.start(&self.streams, buffers);
        let constants = start_count(rollout.variant, &rollout.model.dynamics);
        buffers.trained = self.starts.map(|start| start >= constants);
        match rollout.variant {
            Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf => {
                self.discrete.begin(&self.starts, buffers.choices);
            }
            _ => self.lay_pattern(0, rollout.model.dynamics.state_dimension(), buffers),
        }
    }

    /// The adversary's choices at the start of a round.
    fn lay_pattern(&self, round: u32, dimension: usize, buffers: &mut Buffers<'_, B>) {
        for (row, (step, j)) in buffers.eta.iter_mut().zip(places(dimension)) {
            *row = self
                .starts
                .map(|start| pattern(round, start, dimension, step, j));
        }
    }

    /// Follows the adjoint by a projected sign step, or begins a new round.
    fn continuous_step<P: Policy>(
        &self,
        rollout: &Rollout<'_, P>,
        returns: &Returns<B>,
        improved: &[bool; B],
        buffers: &mut Buffers<'_, B>,
    ) {
        keep(improved, buffers.eta, buffers.worst_eta);
        let now = turn(self.iteration, self.iterations);
        let next = turn(self.iteration.saturating_add(1), self.iterations);
        let dimension = rollout.model.dynamics.state_dimension();
        // In the last round only what hurts more is followed downhill.
        let follow = match (next.round, next.round == now.round) {
            (REFINE, _) => *improved,
            (_, same) => [same; B],
        };
        if follow.contains(&true) {
            let mut steps = self.starts.map(|start| step_length(now, start));
            for (step, follow) in steps.iter_mut().zip(&follow) {
                *step *= f32::from(u8::from(*follow));
            }
            let softness = softness(now);
            rollout.backward(
                &self.streams,
                returns,
                softness,
                buffers,
                |eta, gradient| {
                    update(eta, gradient, &steps);
                },
            );
        }
        if next.round == REFINE {
            self.lay_changes(
                &follow,
                next.sweep,
                rollout.task.horizon,
                dimension,
                buffers,
            );
        } else if next.round != now.round {
            self.lay_pattern(next.round, dimension, buffers);
        }
    }

    /// Puts changes of the worst choice on trial in the lanes that do not
    /// follow the adjoint.
    fn lay_changes(
        &self,
        follow: &[bool; B],
        sweep: u32,
        steps: u32,
        dimension: usize,
        buffers: &mut Buffers<'_, B>,
    ) {
        let changes = self
            .starts
            .map(|start| Change::new(start, sweep, steps, dimension));
        let rows = buffers.eta.iter_mut().zip(buffers.worst_eta.iter());
        for ((row, worst), (step, j)) in rows.zip(places(dimension)) {
            let lanes = row.iter_mut().zip(worst).zip(follow.iter().zip(&changes));
            for ((eta, worst), (follow, change)) in lanes {
                if !*follow {
                    *eta = change.apply(step, j, *worst);
                }
            }
        }
    }

    /// Judges the sequence on trial and puts the next one there.
    fn discrete_step<P: Policy>(
        &mut self,
        rollout: &Rollout<'_, P>,
        returns: &Returns<B>,
        buffers: &mut Buffers<'_, B>,
    ) {
        let improved = self.discrete.judge(&returns.value, buffers.choices);
        if improved.contains(&true) {
            let softness = softness(turn(self.iteration, self.iterations));
            rollout.backward(&self.streams, returns, softness, buffers, |row, found| {
                for ((to, from), improved) in row.iter_mut().zip(found).zip(&improved) {
                    if *improved {
                        *to = *from;
                    }
                }
            });
        }
        let members = rollout.model.dynamics.members();
        self.discrete.propose(&improved, members, buffers.choices);
    }

    /// Keeps the figures of a sweep; returns the lanes that it improved.
    fn record(&mut self, returns: &Returns<B>) -> [bool; B] {
        if self.iteration == 0 {
            self.first = returns.value;
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

/// The step and the component of every row of eta.
fn places(dimension: usize) -> impl Iterator<Item = (u32, usize)> {
    (0_u32..).flat_map(move |step| (0..dimension).map(move |j| (step, j)))
}

/// Copies the lanes that `which` names.
fn keep<const B: usize>(which: &[bool; B], from: &[[f32; B]], to: &mut [[f32; B]]) {
    for (from, to) in from.iter().zip(to) {
        for ((from, to), which) in from.iter().zip(to).zip(which) {
            if *which {
                *to = *from;
            }
        }
    }
}
