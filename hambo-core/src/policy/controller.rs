//! A user's own controller in plain Rust: the very code that drives the
//! robot, checked as it is.

use nalgebra::SVector;

use super::policy_trait::{Policy, PolicyInputs, spoil};
use crate::numeric::elementary::maximum;

/// A control law for a robot of `S` states and `A` actions. It has no memory:
/// the same state gives the same action. Every such closure is one.
///
/// ```
/// use hambo_core::{Controller, SVector};
///
/// /// A thermostat: full heat below its set point.
/// struct Thermostat {
///     degrees: f32,
/// }
///
/// impl Controller<1, 1> for Thermostat {
///     fn action(&self, state: &SVector<f32, 1>) -> SVector<f32, 1> {
///         SVector::from([if state.x < self.degrees { 1.0 } else { 0.0 }])
///     }
/// }
///
/// let heat = Thermostat { degrees: 20.0 }.action(&SVector::from([18.5]));
/// assert_eq!(heat.x, 1.0);
/// ```
pub trait Controller<const S: usize, const A: usize> {
    /// The action in a state. If a number of it is not finite, the check
    /// abstains.
    fn action(&self, state: &SVector<f32, S>) -> SVector<f32, A>;
}

impl<F, const S: usize, const A: usize> Controller<S, A> for F
where
    F: Fn(&SVector<f32, S>) -> SVector<f32, A>,
{
    fn action(&self, state: &SVector<f32, S>) -> SVector<f32, A> {
        self(state)
    }
}

/// A [`Controller`] as a [`Policy`]: one lane after the other, with
/// derivatives by central differences.
///
/// The step in a state x is max(|x|, 1) / 256, near the cube root of `f32`'s
/// precision, where rounding and curvature cost about the same. Where the
/// law is not finite beside x, the derivative counts as 0.
///
/// ```
/// use hambo_core::numeric::Slices;
/// use hambo_core::policy::PolicyInputs;
/// use hambo_core::{LaneByLane, Policy, SVector};
///
/// // Pushes a cart towards the origin, with a limited force.
/// let push = |state: &SVector<f32, 2>| {
///     SVector::from([(-2.0 * state.x - 0.5 * state.y).clamp(-1.0, 1.0)])
/// };
/// let policy = LaneByLane::new(push);
/// let state = [[0.25, 3.0], [0.5, 0.0]];
/// let mut action = [[0.0; 2]];
/// let slices = Slices::default();
/// policy.act(PolicyInputs::new(&state, &mut [], &slices), &mut action);
/// assert_eq!(action, [[-0.75, -1.0]]);
///
/// // Free in the first lane, held by the limit in the second.
/// let mut gradient = [[0.0; 2]; 2];
/// let inputs = PolicyInputs::new(&state, &mut [], &slices);
/// policy.pull_back(inputs, &[[1.0; 2]], &mut gradient);
/// assert_eq!(gradient, [[-2.0, 0.0], [-0.5, 0.0]]);
/// ```
///
/// [`Check::with_policy`](crate::check::Check::with_policy) takes it like any other
/// policy. Where the model has other dimensions, every action is NaN, and the
/// check abstains.
#[derive(Clone, Copy, Debug)]
pub struct LaneByLane<C, const S: usize, const A: usize> {
    controller: C,
}

/// The step of the differences, relative to the state.
const STEP: f32 = 1.0 / 256.0;

impl<C: Controller<S, A>, const S: usize, const A: usize> LaneByLane<C, S, A> {
    /// Adapts a controller.
    pub fn new(controller: C) -> Self {
        const { assert!(S > 0 && A > 0, "a controller has a state and an action") };
        Self { controller }
    }
}

/// One lane of `N` rows.
fn lane_of<const N: usize, const B: usize>(rows: &[[f32; B]], lane: usize) -> SVector<f32, N> {
    let mut numbers = SVector::<f32, N>::zeros();
    for (x, row) in numbers.iter_mut().zip(rows) {
        if let Some(value) = row.get(lane) {
            *x = *value;
        }
    }
    numbers
}

impl<C: Controller<S, A>, const S: usize, const A: usize> Policy for LaneByLane<C, S, A> {
    fn state_dimension(&self) -> usize {
        S
    }

    fn action_dimension(&self) -> usize {
        A
    }

    fn act<const B: usize>(&self, inputs: PolicyInputs<'_, B>, action: &mut [[f32; B]]) {
        if inputs.state.len() != S || action.len() != A {
            return spoil(action);
        }
        for lane in 0..B {
            let chosen = self.controller.action(&lane_of(inputs.state, lane));
            for (row, x) in action.iter_mut().zip(chosen.iter()) {
                if let Some(value) = row.get_mut(lane) {
                    *value = *x;
                }
            }
        }
    }

    fn pull_back<const B: usize>(
        &self,
        inputs: PolicyInputs<'_, B>,
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    ) {
        for lane in 0..B {
            let here: SVector<f32, S> = lane_of(inputs.state, lane);
            let cotangent: SVector<f32, A> = lane_of(action_cotangent, lane);
            for (index, (x, row)) in here.iter().zip(state_cotangent.iter_mut()).enumerate() {
                let Some(sum) = row.get_mut(lane) else {
                    continue;
                };
                let step = maximum(x.abs(), 1.0) * STEP;
                let shifted = |to: f32| {
                    let mut there = here;
                    there.iter_mut().skip(index).take(1).for_each(|x| *x = to);
                    self.controller.action(&there)
                };
                // What the step became after rounding, not what it should be.
                let (above, below) = (*x + step, *x - step);
                let width = above - below;
                let (above, below) = (shifted(above), shifted(below));
                let mut gradient = 0.0;
                for ((above, below), c) in above.iter().zip(below.iter()).zip(cotangent.iter()) {
                    let slope = (*above - *below) / width;
                    if slope.is_finite() {
                        gradient += *c * slope;
                    }
                }
                *sum += gradient;
            }
        }
    }
}
