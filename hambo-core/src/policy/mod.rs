//! Controllers: an action for every state, and the derivative of it.

mod waypoints;

pub use waypoints::{Leg, MAX_LEGS, MAX_SPACE, Waypoints};

/// A deterministic controller.
///
/// [`Policy::pull_back`] is what the adjoint search needs: it adds
/// (d action / d state)ᵀ · `action_cotangent` to `state_cotangent`.
pub trait Policy {
    /// The number of state dimensions it reads.
    fn state_dimension(&self) -> usize;

    /// The number of action dimensions it writes.
    fn action_dimension(&self) -> usize;

    /// The action of every lane. The task's action limits come after it.
    fn act<const B: usize>(&self, state: &[[f32; B]], action: &mut [[f32; B]]);

    /// The derivative of [`Policy::act`], transposed.
    fn pull_back<const B: usize>(
        &self,
        state: &[[f32; B]],
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

    fn act<const B: usize>(&self, state: &[[f32; B]], action: &mut [[f32; B]]) {
        match self {
            Self::Waypoints(policy) => policy.act(state, action),
        }
    }

    fn pull_back<const B: usize>(
        &self,
        state: &[[f32; B]],
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    ) {
        match self {
            Self::Waypoints(policy) => policy.pull_back(state, action_cotangent, state_cotangent),
        }
    }
}
