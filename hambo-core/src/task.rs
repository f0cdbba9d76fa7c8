//! What is asked: horizon, reward, limits, initial states and threshold.
//!
//! The Markov decision process of the paper's section 2, without its
//! transitions: T, r, p0 and the constraints c_i
//! ([`Constraint`]); with the confidence 1 − delta of
//! definition 2.1.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use crate::arithmetic::elementary::{maximum, minimum};
use crate::arithmetic::random::Stream;
use crate::constraint::Constraint;
use crate::estimate::ErrorBudget;
use crate::expression::Program;
pub use crate::limits::Limits;
use crate::physics::Physics;
use crate::policy::{FoundChoices, NetworkAdversary};
pub use crate::variant::Variant;
use crate::wrap::Wraps;

/// The largest number of constraints.
pub const MAX_CONSTRAINTS: usize = 8;

/// A task as it comes out of an image.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// T.
    pub horizon: u32,
    /// gamma; 1 for an undiscounted return.
    pub discount: f32,
    /// The probability with which the bound may fail.
    pub delta: f32,
    /// Deploy only if the bound reaches this; without one nothing deploys.
    pub threshold: Option<f32>,
    /// Bounds of the reward of one step, where they are known.
    pub reward_bounds: Option<[f32; 2]>,
    /// Bounds of the return, where the task states them.
    pub return_bounds: Option<[f32; 2]>,
    /// Bounds of each constraint at one step, where they are known.
    pub constraint_bounds: Vec<Option<[f32; 2]>, MAX_CONSTRAINTS>,
    /// States that come back after a period, such as angles.
    pub wraps: Wraps<'a>,
    /// What is known of the dynamics.
    pub physics: Physics,
    /// Physical limits of the states.
    pub state_limits: Limits<'a>,
    /// Limits to which actions are clipped.
    pub action_limits: Limits<'a>,
    /// Where trajectories start.
    pub initial: InitialState<'a>,
    /// Reward, termination and constraints on one tape.
    pub program: Program,
    /// The tape's slot of the reward.
    pub reward: u16,
    /// The tape's slot of the termination: nonzero ends the trajectory.
    pub termination: Option<u16>,
    /// The tape's slot of where the robot may be switched off: nonzero ends a drive of the
    /// fallback. No rollout asks for it.
    pub power_off: Option<u16>,
    /// What must hold besides.
    pub constraints: Vec<Constraint, MAX_CONSTRAINTS>,
    /// How much work to spend.
    pub effort: Effort,
    /// Which estimates are made.
    pub method: Method,
    /// Whether the host's own check, with more effort, did not deploy. Such a
    /// task is checked and never deploys.
    pub refused_by_host: bool,
    /// Networks that were trained elsewhere.
    pub networks: Vec<NetworkAdversary<'a>, MAX_ADVERSARIES>,
    /// What searches found elsewhere.
    pub found: Vec<FoundChoices<'a>, MAX_ADVERSARIES>,
}

/// The largest number of trained networks, and of lists of what was found: one
/// for each objective and variant that has one.
pub const MAX_ADVERSARIES: usize = 10;

/// What a trajectory is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// The discounted sum of rewards.
    Return,
    /// What its [`kind`](Constraint::kind) makes of a trajectory's margins, for the
    /// constraint at this place of the task's list.
    Constraint(u8),
}

/// The largest number of variants that one check runs.
pub const MAX_VARIANTS: usize = 8;

/// Which estimates are made, and how.
///
/// ```
/// use hambo_core::task::{Method, Variant};
/// let method = Method::default();
/// assert_eq!(method.variants, [Variant::ContinuousAdversary]);
/// assert!(method.aleatoric_noise);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// The variants that decide: every one of them must reach the threshold.
    /// Mean propagation is reported beside them in any case.
    pub variants: Vec<Variant, MAX_VARIANTS>,
    /// Whether the system's own chance is played out.
    pub aleatoric_noise: bool,
    /// The weight of the uncertainty in the penalised (MOPO) estimate.
    pub penalty: f32,
    /// The most steps of the model that a check may take. One that needs
    /// more abstains at once, whatever the number of lanes.
    pub step_limit: u64,
}

impl Default for Method {
    fn default() -> Self {
        let mut variants = Vec::new();
        // One place is always there.
        let _ = variants.push(Variant::ContinuousAdversary);
        Self {
            variants,
            aleatoric_noise: true,
            penalty: 1.0,
            step_limit: u64::MAX,
        }
    }
}

impl<'a> Task<'a> {
    /// ds.
    #[must_use]
    pub fn state_dimension(&self) -> usize {
        self.state_limits.low.len()
    }

    /// How many states the model moves, and the adversary with it.
    #[must_use]
    pub fn moved_states(&self) -> usize {
        self.physics.moved_count(self.state_dimension())
    }

    /// Computes the known states of `next`, which holds the others; see
    /// [`Physics::compute_known`].
    pub fn compute_known<const B: usize>(
        &self,
        seen: (&[[f32; B]], &[[f32; B]]),
        step: f32,
        next: &mut [[f32; B]],
        values: &mut [[f32; B]],
    ) -> [bool; B] {
        let (program, range) = (&self.program, (&self.wraps, &self.state_limits));
        self.physics
            .compute_known(program, range, seen, step, next, values)
    }

    /// Moves states into their intervals and pairs to their circles.
    pub fn keep_in_range<const B: usize>(&self, states: &mut [[f32; B]]) {
        self.wraps.wrap(states);
        self.physics.keep_on_circles(states);
    }

    /// How delta is shared out.
    #[must_use]
    pub fn error_budget(&self) -> ErrorBudget {
        ErrorBudget {
            delta: self.delta,
            objectives: self.constraints.len().saturating_add(1),
        }
    }

    /// The number of an objective: 0 for the return, from 1 on for the
    /// constraints. None if it is none of the task's.
    #[must_use]
    pub fn objective_number(&self, objective: Objective) -> Option<u8> {
        let number = match objective {
            Objective::Return => 0,
            Objective::Constraint(place) => {
                self.constraints.get(usize::from(place))?;
                place.checked_add(1)?
            }
        };
        Some(number)
    }

    /// All objectives, the return first, in the order of their numbers.
    pub fn objectives(&self) -> impl Iterator<Item = Objective> + use<> {
        let constraints = (0_u8..).take(self.constraints.len());
        core::iter::once(Objective::Return).chain(constraints.map(Objective::Constraint))
    }

    /// The constraint of an objective; none for the return.
    #[must_use]
    pub fn constraint(&self, objective: Objective) -> Option<&Constraint> {
        match objective {
            Objective::Return => None,
            Objective::Constraint(place) => self.constraints.get(usize::from(place)),
        }
    }

    /// The network that was trained against an objective under a variant, if
    /// there is one.
    #[must_use]
    pub fn network(&self, variant: Variant, objective: Objective) -> Option<&NetworkAdversary<'a>> {
        let number = self.objective_number(objective)?;
        self.networks
            .iter()
            .find(|network| network.is_for(variant, number))
    }

    /// What searches found against an objective under a variant, likewise.
    #[must_use]
    pub fn found(&self, variant: Variant, objective: Objective) -> Option<&FoundChoices<'a>> {
        let number = self.objective_number(objective)?;
        self.found
            .iter()
            .find(|found| found.is_for(variant, number))
    }

    /// Bounds of an objective at one step, where they are known.
    #[must_use]
    pub fn step_bounds(&self, objective: Objective) -> Option<[f32; 2]> {
        match objective {
            Objective::Return => self.reward_bounds,
            Objective::Constraint(_) => {
                let number = usize::from(self.objective_number(objective)?);
                *self.constraint_bounds.get(number.checked_sub(1)?)?
            }
        }
    }

    /// Bounds of an objective over a whole trajectory, where they are known.
    #[must_use]
    pub fn bounds(&self, objective: Objective) -> Option<[f32; 2]> {
        let step = self.step_bounds(objective);
        let bounds = match objective {
            // Mean, least, last and greatest of the steps keep the bounds of one.
            Objective::Constraint(_) => step?,
            Objective::Return => match (step.map(|step| self.sum_bounds(step)), self.return_bounds)
            {
                (Some([low, high]), Some([least, greatest])) => {
                    [maximum(low, least), minimum(high, greatest)]
                }
                (sum, stated) => sum.or(stated)?,
            },
        };
        // A sum of T rewards may lie beyond its bounds by rounding.
        let [low, high] = bounds;
        let rounding = 1e-5 * maximum(maximum(-low, high), 0.0);
        let bounds = [low - rounding, high + rounding];
        (bounds[0].is_finite() && bounds[1].is_finite() && bounds[0] < bounds[1]).then_some(bounds)
    }

    /// Bounds of the return, given those of one reward. A trajectory may end
    /// early, so both hold zero.
    ///
    /// ```
    /// let task = hambo_core::example::task()?;
    /// // Four rewards; a trajectory that ends at once has the return 0.
    /// assert_eq!(task.sum_bounds([1.0, 2.0]), [0.0, 8.0]);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn sum_bounds(&self, [low, high]: [f32; 2]) -> [f32; 2] {
        let mut weight = 1.0;
        let mut sum = 0.0;
        for _ in 0..self.horizon {
            sum += weight;
            weight *= self.discount;
        }
        [minimum(low, 0.0) * sum, maximum(high, 0.0) * sum]
    }
}

/// A focused search has so many times the sweeps of an even one.
const SWEEPS_OF_FOCUSED: u32 = 2;

/// How many trajectories are drawn and how long the adversary searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Trajectories of the first level, forward only.
    pub trajectories: u32,
    /// Trajectories of the second level, which are searched.
    pub searched: u32,
    /// Sweeps of an even search from each start; a focused one has
    /// [others](Effort::search_sweeps).
    pub iterations: u32,
    /// The seed of all random streams.
    pub seed: u64,
    /// Who has the sweeps.
    pub allocation: Allocation,
}

impl Effort {
    /// Sweeps of a whole search: a focused one goes on for longer from fewer starts.
    #[must_use]
    pub fn search_sweeps(&self) -> u32 {
        match self.allocation {
            Allocation::Even => self.iterations,
            Allocation::Focused => self.iterations.saturating_mul(SWEEPS_OF_FOCUSED),
        }
    }
}

/// How the steps of the model are shared among the adversary's starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Allocation {
    /// Every start has the same: all sampled trajectories, and the whole search on all
    /// searched ones.
    #[default]
    Even,
    /// Most go to the promising ones, see [`Focus`](crate::adversary::Focus).
    Focused,
}

/// How the initial state is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InitialKind {
    /// Always the same.
    Point,
    /// Uniform in a box.
    Uniform,
    /// Independent normal coordinates.
    Gaussian,
    /// One of a list, drawn at random: the robot always starts from one of
    /// these.
    Listed,
    /// The first states of the log's episodes: a sample of where the robot
    /// starts. Trajectories start from each in turn, and the margin counts the
    /// starts.
    Logged,
    /// The worst that were found in a box, worst first. Trajectories start from
    /// each in turn, and the one with the least bound counts.
    Worst,
}

/// p0. `first` and `second` are value and nothing, low and high, mean and
/// standard deviation, or the listed states one after the other.
///
/// ```
/// use hambo_core::arithmetic::random::Stream;
/// use hambo_core::task::{InitialKind, InitialState};
/// let initial = InitialState { kind: InitialKind::Uniform, first: &[-1.0], second: &[1.0] };
/// let mut rows = [[0.0, 9.0]];
/// initial.draw(&mut Stream::new(1, 0), 0, &mut rows);
/// assert!(rows[0][0].abs() < 1.0);
/// // The other lane is left alone.
/// assert_eq!(rows[0][1], 9.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InitialState<'a> {
    /// Which distribution.
    pub kind: InitialKind,
    /// First parameter of each dimension.
    pub first: &'a [f32],
    /// Second parameter of each dimension; empty for points and lists.
    pub second: &'a [f32],
}

impl InitialState<'_> {
    /// How many numbers of its stream the initial state takes.
    #[must_use]
    pub fn draws(&self, dimension: usize) -> u64 {
        match self.kind {
            InitialKind::Point => 0,
            InitialKind::Uniform | InitialKind::Gaussian => dimension as u64,
            InitialKind::Listed | InitialKind::Logged | InitialKind::Worst => 1,
        }
    }

    /// How many states are listed.
    #[must_use]
    pub fn listed(&self, dimension: usize) -> usize {
        self.first.len().checked_div(dimension).unwrap_or(0)
    }

    /// How many of the listed states differ.
    ///
    /// ```
    /// use hambo_core::task::{InitialKind, InitialState};
    /// let first = [0.0, 1.0, 0.0, 2.0, 0.0, 1.0];
    /// let initial = InitialState { kind: InitialKind::Logged, first: &first, second: &[] };
    /// assert_eq!((initial.listed(2), initial.distinct(2)), (3, 2));
    /// ```
    #[must_use]
    pub fn distinct(&self, dimension: usize) -> usize {
        let states = || self.first.chunks_exact(dimension.max(1));
        let new = |(place, state): &(usize, &[f32])| !states().take(*place).any(|s| s == *state);
        states().enumerate().filter(new).count()
    }

    /// Puts a listed state into one lane.
    pub fn put_listed<const B: usize>(&self, place: u32, lane: usize, rows: &mut [[f32; B]]) {
        let first = (place as usize).saturating_mul(rows.len());
        for (row, value) in rows.iter_mut().zip(self.first.iter().skip(first)) {
            if let Some(x) = row.get_mut(lane) {
                *x = *value;
            }
        }
    }

    /// Draws the state of one lane into `rows`.
    pub fn draw<const B: usize>(&self, stream: &mut Stream, lane: usize, rows: &mut [[f32; B]]) {
        let dimension = rows.len();
        let skipped = match self.kind {
            InitialKind::Listed | InitialKind::Logged | InitialKind::Worst => {
                let count = self.listed(dimension) as u32;
                (stream.index(count) as usize).saturating_mul(dimension)
            }
            _ => 0,
        };
        let second = self.second.iter().copied().chain(core::iter::repeat(0.0));
        for ((row, first), second) in rows
            .iter_mut()
            .zip(self.first.iter().skip(skipped))
            .zip(second)
        {
            let value = match self.kind {
                InitialKind::Point
                | InitialKind::Listed
                | InitialKind::Logged
                | InitialKind::Worst => *first,
                InitialKind::Uniform => *first + (second - *first) * stream.uniform(),
                InitialKind::Gaussian => *first + second * stream.standard_normal(),
            };
            if let Some(x) = row.get_mut(lane) {
                *x = value;
            }
        }
    }
}
