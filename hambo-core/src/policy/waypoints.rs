//! pi_y of the paper's illustrative example: straight lines from waypoint to
//! waypoint, at a limited speed, never past the target, without memory.

use heapless::Vec;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::policy_trait::{Policy, PolicyInputs};
use crate::numeric::ParameterError;

/// The largest number of legs.
pub const MAX_LEGS: usize = 8;
/// Waypoints are places in at most three dimensions.
pub const MAX_SPACE: usize = 3;

/// Go to `target` while coordinate `axis` is below `below`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leg {
    /// Where to; coordinates past the space's dimension are zero.
    pub target: [f32; MAX_SPACE],
    /// The coordinate that decides.
    pub axis: u8,
    /// The leg counts while the coordinate is below this. The last leg
    /// counts always.
    pub below: f32,
}

/// The first leg that counts gives the target; the action is the way there,
/// limited in 2-norm. The place is the first states; a model may have more.
///
/// ```
/// use hambo_core::numeric::Slices;
/// use hambo_core::policy::{Leg, Policy, PolicyInputs, Waypoints};
/// let over_the_top = Leg { target: [0.0, 1.6, 0.0], axis: 0, below: 0.0 };
/// let goal = Leg { target: [2.0, 0.0, 0.0], axis: 0, below: f32::MAX };
/// let policy = Waypoints::new(2, 0.5, &[over_the_top, goal])?;
/// let mut action = [[0.0]; 2];
/// let slices = Slices::default();
/// policy.act(PolicyInputs::new(&[[1.9], [0.0]], &mut [], &slices), &mut action);
/// assert!((action[0][0] - 0.1).abs() < 1e-6 && action[1][0] == 0.0);
/// # Ok::<(), hambo_core::ParameterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waypoints {
    space: u8,
    speed: f32,
    legs: Vec<Leg, MAX_LEGS>,
}

impl Waypoints {
    /// A controller in a space of `space` dimensions with the largest step
    /// `speed`.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn new(space: u8, speed: f32, legs: &[Leg]) -> Result<Self, ParameterError> {
        let policy = Self {
            space,
            speed,
            legs: Vec::from_slice(legs).map_err(|_| ParameterError::Size("legs"))?,
        };
        policy.validate()?;
        Ok(policy)
    }

    /// Whether every number is in range; policies read from bytes are
    /// held against this, too.
    pub(crate) fn validate(&self) -> Result<(), ParameterError> {
        let space = usize::from(self.space);
        ParameterError::size("space", (1..=MAX_SPACE).contains(&space))?;
        let positive = self.speed.is_finite() && self.speed > 0.0;
        ParameterError::number("speed", positive)?;
        ParameterError::size("legs", !self.legs.is_empty())?;
        for leg in &self.legs {
            ParameterError::size("axis", leg.axis < self.space)?;
            ParameterError::number("below", leg.below.is_finite())?;
            let finite = leg.target.iter().all(|x| x.is_finite());
            let flat = leg.target.iter().skip(space).all(|x| *x == 0.0);
            ParameterError::number("target", finite && flat)?;
        }
        Ok(())
    }

    pub(crate) fn is_deterministic(&self) -> bool {
        true
    }

    /// The way from a position to the target that counts there.
    fn way(&self, position: &Vector3<f32>) -> Vector3<f32> {
        let mut target = Vector3::zeros();
        for leg in &self.legs {
            target = Vector3::from(leg.target);
            let coordinate = position.iter().nth(usize::from(leg.axis));
            if coordinate.is_some_and(|x| *x < leg.below) {
                break;
            }
        }
        target - position
    }

    /// Lane `lane` of the first rows as a place. States after them are none of
    /// its coordinates.
    fn place<const B: usize>(&self, rows: &[[f32; B]], lane: usize) -> Vector3<f32> {
        let mut place = Vector3::zeros();
        let rows = rows.iter().take(usize::from(self.space));
        for (x, row) in place.iter_mut().zip(rows) {
            if let Some(value) = row.get(lane) {
                *x = *value;
            }
        }
        place
    }
}

impl Policy for Waypoints {
    fn state_dimension(&self) -> usize {
        usize::from(self.space)
    }

    fn action_dimension(&self) -> usize {
        usize::from(self.space)
    }

    fn act<const B: usize>(&self, inputs: PolicyInputs<'_, B>, action: &mut [[f32; B]]) {
        for lane in 0..B {
            let way = self.way(&self.place(inputs.state, lane));
            let length = way.norm();
            let step = if length > self.speed {
                way * (self.speed / length)
            } else {
                way
            };
            for (row, x) in action.iter_mut().zip(step.iter()) {
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
            let way = self.way(&self.place(inputs.state, lane));
            let cotangent = self.place(action_cotangent, lane);
            let length = way.norm();
            // The way shrinks as the state advances, hence the minus; past
            // the speed limit only the direction across the way can change.
            let gradient = if length > self.speed {
                let direction = way / length;
                (cotangent - direction * direction.dot(&cotangent)) * (-self.speed / length)
            } else {
                -cotangent
            };
            for (row, x) in state_cotangent.iter_mut().zip(gradient.iter()) {
                if let Some(value) = row.get_mut(lane) {
                    *value += *x;
                }
            }
        }
    }
}
