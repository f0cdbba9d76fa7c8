//! Controllers: an action for every state, and the derivative of it.

mod waypoints;

pub use waypoints::{Leg, MAX_LEGS, MAX_SPACE, Waypoints};

/// A controller over lanes.
///
/// `noise` holds one standard normal number for each action dimension and
/// lane; a deterministic controller ignores it. [`Policy::pull_back`] is what
/// the adjoint search needs: it adds (d action / d state)ᵀ ·
/// `action_cotangent` to `state_cotangent`.
pub trait Policy {
    /// The number of state dimensions it reads.
    fn state_dimension(&self) -> usize;

    /// The number of action dimensions it writes.
    fn action_dimension(&self) -> usize;

    /// The rows of scratch that it works in; `None` if that is no number.
    fn scratch_rows(&self) -> Option<usize> {
        Some(0)
    }

    /// The action of every lane. The task's action limits come after it.
    fn act<const B: usize>(
        &self,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action: &mut [[f32; B]],
    );

    /// The derivative of the last [`Policy::act`], transposed; `scratch` is as
    /// that call left it.
    fn pull_back<const B: usize>(
        &self,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    );
}

/// A controller that comes out of an image.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredPolicy {
    /// Straight lines from place to place.
    Waypoints(Waypoints),
}

impl Policy for StoredPolicy {
    fn state_dimension(&self) -> usize {
        match self {
            Self::Waypoints(policy) => policy.state_dimension(),
        }
    }

    fn action_dimension(&self) -> usize {
        match self {
            Self::Waypoints(policy) => policy.action_dimension(),
        }
    }

    fn scratch_rows(&self) -> Option<usize> {
        match self {
            Self::Waypoints(policy) => policy.scratch_rows(),
        }
    }

    fn act<const B: usize>(
        &self,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action: &mut [[f32; B]],
    ) {
        match self {
            Self::Waypoints(policy) => policy.act(state, noise, scratch, action),
        }
    }

    fn pull_back<const B: usize>(
        &self,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    ) {
        match self {
            Self::Waypoints(policy) => {
                policy.pull_back(state, noise, scratch, action_cotangent, state_cotangent);
            }
        }
    }
}
