//! A user's own controller in plain Rust: the very code that drives the
//! robot, checked as it is.

use super::Policy;
use crate::arithmetic::elementary::maximum;

/// The largest number of states, and of actions, of a [`Controller`].
pub const MAX_DIMENSION: usize = 32;

/// A control law for one robot. It has no memory: the same state gives the
/// same action.
///
/// ```
/// use hambo_core::policy::Controller;
///
/// /// A thermostat: full heat below 20 degrees.
/// struct Thermostat;
///
/// impl Controller for Thermostat {
///     fn state_dimension(&self) -> usize {
///         1
///     }
///     fn action_dimension(&self) -> usize {
///         1
///     }
///     fn action(&self, state: &[f32], action: &mut [f32]) {
///         if let ([temperature], [heat]) = (state, action) {
///             *heat = if *temperature < 20.0 { 1.0 } else { 0.0 };
///         }
///     }
/// }
///
/// let mut heat = [f32::NAN];
/// Thermostat.action(&[18.5], &mut heat);
/// assert_eq!(heat, [1.0]);
/// ```
pub trait Controller {
    /// The number of states it reads.
    fn state_dimension(&self) -> usize;

    /// The number of actions it writes.
    fn action_dimension(&self) -> usize;

    /// Writes the action for a state. An action that is not written is NaN,
    /// and the check abstains.
    fn action(&self, state: &[f32], action: &mut [f32]);
}

/// A [`Controller`] as a [`Policy`]: one lane after the other, with
/// derivatives by central differences.
///
/// The step in a state x is max(|x|, 1) / 256, near the cube root of `f32`'s
/// precision, where rounding and curvature cost about the same. Where the
/// law is not finite beside x, the derivative counts as 0.
///
/// ```
/// use hambo_core::policy::{Controller, LaneByLane, Policy};
///
/// /// Pushes a cart towards the origin, with a limited force.
/// struct Push;
///
/// impl Controller for Push {
///     fn state_dimension(&self) -> usize {
///         2
///     }
///     fn action_dimension(&self) -> usize {
///         1
///     }
///     fn action(&self, state: &[f32], action: &mut [f32]) {
///         if let ([x, v], [force]) = (state, action) {
///             *force = (-2.0 * *x - 0.5 * *v).clamp(-1.0, 1.0);
///         }
///     }
/// }
///
/// let policy = LaneByLane::new(Push).ok_or("too many dimensions")?;
/// let state = [[0.25, 3.0], [0.5, 0.0]];
/// let mut action = [[0.0; 2]];
/// policy.act(&state, &[], &mut [], &mut action);
/// assert_eq!(action, [[-0.75, -1.0]]);
///
/// // Free in the first lane, held by the limit in the second.
/// let mut gradient = [[0.0; 2]; 2];
/// policy.pull_back(&state, &[], &mut [], &[[1.0; 2]], &mut gradient);
/// assert_eq!(gradient, [[-2.0, 0.0], [-0.5, 0.0]]);
/// # Ok::<(), &str>(())
/// ```
///
/// `Check::with_policy` takes it like any other policy.
#[derive(Clone, Copy, Debug)]
pub struct LaneByLane<C> {
    controller: C,
    state_dimension: usize,
    action_dimension: usize,
}

/// The step of the differences, relative to the state.
const STEP: f32 = 1.0 / 256.0;

impl<C: Controller> LaneByLane<C> {
    /// Adapts a controller; `None` if it has no dimension or more than
    /// [`MAX_DIMENSION`].
    #[must_use]
    pub fn new(controller: C) -> Option<Self> {
        let (state, action) = (controller.state_dimension(), controller.action_dimension());
        let sizes = 1..=MAX_DIMENSION;
        (sizes.contains(&state) && sizes.contains(&action)).then_some(Self {
            controller,
            state_dimension: state,
            action_dimension: action,
        })
    }

    /// The action in one state; NaN where the controller wrote nothing.
    fn action(&self, state: &[f32; MAX_DIMENSION]) -> [f32; MAX_DIMENSION] {
        let mut action = [f32::NAN; MAX_DIMENSION];
        let slices = state
            .get(..self.state_dimension)
            .zip(action.get_mut(..self.action_dimension));
        if let Some((state, action)) = slices {
            self.controller.action(state, action);
        }
        action
    }
}

/// One lane of up to 32 rows.
fn lane_of<const B: usize>(rows: &[[f32; B]], lane: usize) -> [f32; MAX_DIMENSION] {
    let mut numbers = [0.0; MAX_DIMENSION];
    for (x, row) in numbers.iter_mut().zip(rows) {
        if let Some(value) = row.get(lane) {
            *x = *value;
        }
    }
    numbers
}

impl<C: Controller> Policy for LaneByLane<C> {
    fn state_dimension(&self) -> usize {
        self.state_dimension
    }

    fn action_dimension(&self) -> usize {
        self.action_dimension
    }

    fn act<const B: usize>(
        &self,
        state: &[[f32; B]],
        _noise: &[[f32; B]],
        _scratch: &mut [[f32; B]],
        action: &mut [[f32; B]],
    ) {
        for lane in 0..B {
            let chosen = self.action(&lane_of(state, lane));
            for (row, x) in action.iter_mut().zip(chosen) {
                if let Some(value) = row.get_mut(lane) {
                    *value = x;
                }
            }
        }
    }

    fn pull_back<const B: usize>(
        &self,
        state: &[[f32; B]],
        _noise: &[[f32; B]],
        _scratch: &mut [[f32; B]],
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    ) {
        for lane in 0..B {
            let here = lane_of(state, lane);
            let cotangent = lane_of(action_cotangent, lane);
            for (index, row) in state_cotangent.iter_mut().enumerate() {
                let (Some(x), Some(sum)) = (here.get(index), row.get_mut(lane)) else {
                    continue;
                };
                let step = maximum(x.abs(), 1.0) * STEP;
                let shifted = |to: f32| {
                    let mut there = here;
                    if let Some(x) = there.get_mut(index) {
                        *x = to;
                    }
                    self.action(&there)
                };
                // What the step became after rounding, not what it should be.
                let (above, below) = (*x + step, *x - step);
                let width = above - below;
                let mut gradient = 0.0;
                let actions = shifted(above).into_iter().zip(shifted(below));
                let actions = actions.take(self.action_dimension);
                for ((above, below), c) in actions.zip(&cotangent) {
                    let slope = (above - below) / width;
                    if slope.is_finite() {
                        gradient += *c * slope;
                    }
                }
                *sum += gradient;
            }
        }
    }
}
