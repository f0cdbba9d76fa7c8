//! Controllers: an action for every state, and the derivative of it.
//!
//! pi_e of the paper, the policy that is evaluated: a(s), or with chance
//! a(s, noise), which keeps it differentiable. Any code can be one
//! ([`Controller`], [`Policy`]); [`StoredPolicy`] is what an image may hold.
//! The adversary's own policy eta(s, a) is a network too, where one was
//! trained: [`NetworkAdversary`]. What a search found elsewhere comes as
//! sequences: [`FoundChoices`].

mod adversary;
mod controller;
mod found;
mod head;
mod linear;
mod observed;
mod perceptron;
mod waypoints;

use nalgebra::SVector;

pub use adversary::NetworkAdversary;
pub use controller::{Controller, LaneByLane};
pub use found::FoundChoices;
pub(crate) use head::ActionMap;
pub use head::{Head, LOG_STD_HIGH, LOG_STD_LOW, Spread};
pub use linear::Linear;
pub use observed::{MAX_OBSERVED, Observed, Observer};
pub use perceptron::Perceptron;
pub use waypoints::{Leg, MAX_LEGS, MAX_SPACE, Waypoints};

use crate::pause::Slices;

/// A controller over lanes.
///
/// `noise` holds one standard normal number for each action dimension and
/// lane; a deterministic controller ignores it. [`Policy::pull_back`] is what
/// the adjoint search needs: it adds (d action / d state)ᵀ ·
/// `action_cotangent` to `state_cotangent`.
///
/// ```
/// use hambo_core::{Policy, SVector};
/// let policy = hambo_core::example::policy()?;
/// assert_eq!((policy.state_dimension(), policy.action_dimension()), (1, 1));
/// let mut scratch = vec![[0.0; 2]; policy.scratch_rows().ok_or("too large")?];
/// let mut action = [[0.0; 2]];
/// policy.act(&[[1.0, -4.0]], &[], &mut scratch, &mut action);
/// assert_eq!(action, [[-0.5, 2.0]]);
/// let mut gradient = [[0.0; 2]];
/// policy.pull_back(&[[1.0, -4.0]], &[], &mut scratch, &[[1.0; 2]], &mut gradient);
/// assert_eq!(gradient, [[-0.5, -0.5]]);
/// // In a control loop there is one lane.
/// let mut scratch = [[0.0]; 16];
/// let action: SVector<f32, 1> = policy.action(&SVector::from([3.0]), &mut scratch);
/// assert_eq!(action.x, -1.5);
/// # Ok::<(), &str>(())
/// ```
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

    /// Likewise at a step of a trajectory, from 0. Controllers know no clock; what replays a
    /// log does.
    fn act_at<const B: usize>(
        &self,
        step: u32,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action: &mut [[f32; B]],
    ) {
        let _ = step;
        self.act(state, noise, scratch, action);
    }

    /// Likewise with pauses, where the work is more than one slice. The actions are NaN if
    /// it was stopped.
    fn act_in_slices<const B: usize>(
        &self,
        step: u32,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action: &mut [[f32; B]],
        slices: &Slices<'_>,
    ) {
        let _ = slices;
        self.act_at(step, state, noise, scratch, action);
    }

    /// The action in one state, without chance: what a control loop applies,
    /// within the task's limits. NaN where the sizes are not the policy's or
    /// the scratch is too short.
    fn action<const S: usize, const A: usize>(
        &self,
        state: &SVector<f32, S>,
        scratch: &mut [[f32; 1]],
    ) -> SVector<f32, A> {
        let mut action = SVector::from([f32::NAN; A]);
        if S == self.state_dimension() && A == self.action_dimension() {
            let (state, action) = (state.as_slice(), action.as_mut_slice());
            let (state, _) = state.as_chunks();
            let (action, _) = action.as_chunks_mut();
            self.act(state, &[], scratch, action);
        }
        action
    }

    /// The derivative of the last [`Policy::act`], transposed; `scratch` is as
    /// that call left it, and is used up.
    fn pull_back<const B: usize>(
        &self,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    );

    /// Likewise with pauses, where the work is more than one slice. The cotangent is of no
    /// use if it was stopped.
    fn pull_back_in_slices<const B: usize>(
        &self,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
        slices: &Slices<'_>,
    ) {
        let _ = slices;
        self.pull_back(state, noise, scratch, action_cotangent, state_cotangent);
    }
}

/// What an action becomes where the scratch is too short: NaN, which never
/// deploys.
fn spoil<const B: usize>(action: &mut [[f32; B]]) {
    for row in action {
        *row = [f32::NAN; B];
    }
}

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
