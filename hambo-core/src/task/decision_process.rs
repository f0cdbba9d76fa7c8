//! The Markov decision process of the paper's section 2 without its transitions.

use heapless::Vec;

use super::constraint::Constraint;
use super::distribution_free::DistributionFree;
use super::expression::Program;
use super::found_choices::FoundChoices;
use super::initial::InitialState;
use super::network_adversary::NetworkAdversary;
use super::physics::Physics;
use super::plan::Plan;
use super::range::{Limits, Wraps};
use super::variant::Variant;
use crate::estimate::ErrorBudget;
use crate::numeric::elementary::{maximum, minimum};

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
    /// Of which objectives a bound decides that holds for any distribution of the
    /// trajectories' values.
    pub distribution_free: DistributionFree,
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
    /// How a check looks for its worst case.
    pub plan: Plan<'a>,
}

/// What a trajectory is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// The discounted sum of rewards.
    Return,
    /// What its [`kind`](Constraint::kind) makes of a trajectory's margins, for the
    /// constraint at this place of the task's list.
    Constraint(u8),
}

impl<'a> Task<'a> {
    /// ds.
    pub fn state_dimension(&self) -> usize {
        self.state_limits.low.len()
    }

    /// How many states the model moves, and the adversary with it.
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
    pub fn error_budget(&self) -> ErrorBudget {
        ErrorBudget {
            delta: self.delta,
            objectives: self.constraints.len().saturating_add(1),
        }
    }

    /// The number of an objective: 0 for the return, from 1 on for the
    /// constraints. None if it is none of the task's.
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
    pub fn constraint(&self, objective: Objective) -> Option<&Constraint> {
        match objective {
            Objective::Return => None,
            Objective::Constraint(place) => self.constraints.get(usize::from(place)),
        }
    }

    /// The network that was trained against an objective under a variant, if
    /// there is one.
    pub fn network(&self, variant: Variant, objective: Objective) -> Option<&NetworkAdversary<'a>> {
        let number = self.objective_number(objective)?;
        self.plan
            .networks
            .iter()
            .find(|network| network.is_for(variant, number))
    }

    /// What searches found against an objective under a variant, if anything.
    pub fn found(&self, variant: Variant, objective: Objective) -> Option<&FoundChoices<'a>> {
        let number = self.objective_number(objective)?;
        self.plan
            .found
            .iter()
            .find(|found| found.is_for(variant, number))
    }

    /// Bounds of an objective at one step, where they are known.
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

    /// Whether every trajectory's value of an objective lies within known bounds; a share of
    /// trajectories always does.
    pub fn is_bounded(&self, objective: Objective) -> bool {
        self.is_share(objective) || self.bounds(objective).is_some()
    }

    /// Whether an objective is the share of the trajectories that keep a constraint.
    pub fn is_share(&self, objective: Objective) -> bool {
        let constraint = self.constraint(objective);
        constraint.is_some_and(|constraint| constraint.probability.is_some())
    }

    /// Whether an objective's bound must hold for any distribution of the trajectories' values.
    pub fn is_distribution_free(&self, objective: Objective) -> bool {
        let least = match objective {
            _ if self.is_share(objective) => DistributionFree::Shares,
            Objective::Return => DistributionFree::SharesAndReturn,
            Objective::Constraint(_) => DistributionFree::Everything,
        };
        self.distribution_free >= least
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
