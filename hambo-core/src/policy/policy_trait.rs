//! What every controller can do: act, and pull a derivative back through its action.

use nalgebra::SVector;

use crate::numeric::Slices;

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
pub(super) fn spoil<const B: usize>(action: &mut [[f32; B]]) {
    for row in action {
        *row = [f32::NAN; B];
    }
}
