//! A controller that an image may hold: an enum over the kinds.

use super::linear::Linear;
use super::observed::Observed;
use super::perceptron::Perceptron;
use super::policy_trait::Policy;
use super::waypoints::Waypoints;
use crate::numeric::Slices;

/// A controller that comes out of an image.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one, and no heap")]
pub enum StoredPolicy<'a> {
    /// Straight lines from place to place.
    Waypoints(Waypoints),
    /// Linear state feedback; constant and PD controllers, too.
    Linear(Linear<'a>),
    /// A network.
    Perceptron(Perceptron<'a>),
    /// One of these two behind functions of the state.
    Observed(Observed<'a>),
}

impl StoredPolicy<'_> {
    /// Whether the same state always gets the same action.
    ///
    /// ```
    /// assert!(hambo_core::example::policy()?.is_deterministic());
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        match self {
            Self::Waypoints(_) => true,
            Self::Linear(policy) => policy.is_deterministic(),
            Self::Perceptron(policy) => policy.is_deterministic(),
            Self::Observed(policy) => policy.is_deterministic(),
        }
    }
}

impl Policy for StoredPolicy<'_> {
    fn state_dimension(&self) -> usize {
        match self {
            Self::Waypoints(policy) => policy.state_dimension(),
            Self::Linear(policy) => policy.state_dimension(),
            Self::Perceptron(policy) => policy.state_dimension(),
            Self::Observed(policy) => policy.state_dimension(),
        }
    }

    fn action_dimension(&self) -> usize {
        match self {
            Self::Waypoints(policy) => policy.action_dimension(),
            Self::Linear(policy) => policy.action_dimension(),
            Self::Perceptron(policy) => policy.action_dimension(),
            Self::Observed(policy) => policy.action_dimension(),
        }
    }

    fn scratch_rows(&self) -> Option<usize> {
        match self {
            Self::Waypoints(policy) => policy.scratch_rows(),
            Self::Linear(policy) => policy.scratch_rows(),
            Self::Perceptron(policy) => policy.scratch_rows(),
            Self::Observed(policy) => policy.scratch_rows(),
        }
    }

    fn act<const B: usize>(
        &self,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action: &mut [[f32; B]],
    ) {
        self.act_in_slices(0, state, noise, scratch, action, &Slices::default());
    }

    fn act_in_slices<const B: usize>(
        &self,
        step: u32,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action: &mut [[f32; B]],
        slices: &Slices<'_>,
    ) {
        match self {
            Self::Waypoints(policy) => policy.act(state, noise, scratch, action),
            Self::Linear(policy) => policy.act(state, noise, scratch, action),
            Self::Perceptron(policy) => {
                policy.act_in_slices(step, state, noise, scratch, action, slices);
            }
            Self::Observed(policy) => {
                policy.act_in_slices(step, state, noise, scratch, action, slices);
            }
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
        self.pull_back_in_slices(
            state,
            noise,
            scratch,
            action_cotangent,
            state_cotangent,
            &Slices::default(),
        );
    }

    fn pull_back_in_slices<const B: usize>(
        &self,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
        slices: &Slices<'_>,
    ) {
        let (from, to) = (action_cotangent, state_cotangent);
        match self {
            Self::Waypoints(policy) => policy.pull_back(state, noise, scratch, from, to),
            Self::Linear(policy) => policy.pull_back(state, noise, scratch, from, to),
            Self::Perceptron(policy) => {
                policy.pull_back_in_slices(state, noise, scratch, from, to, slices);
            }
            Self::Observed(policy) => {
                policy.pull_back_in_slices(state, noise, scratch, from, to, slices);
            }
        }
    }
}
