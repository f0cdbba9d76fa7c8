//! What every controller can do: act, and pull a derivative back through its action.

use nalgebra::SVector;

use crate::numeric::Slices;

/// What a controller is called with.
pub struct PolicyInputs<'r, const B: usize> {
    /// The step of the trajectory, from 0. Controllers know no clock; what replays a log does.
    pub step: u32,
    /// s.
    pub state: &'r [[f32; B]],
    /// One standard normal number for each action dimension; none count as zeros. A
    /// deterministic controller ignores it.
    pub noise: &'r [[f32; B]],
    /// Rows to work in, at least [`Policy::scratch_rows`].
    pub scratch: &'r mut [[f32; B]],
    /// Asked between two slices of long work.
    pub slices: &'r Slices<'r>,
}

impl<'r, const B: usize> PolicyInputs<'r, B> {
    /// At the first step, without noise.
    pub fn new(state: &'r [[f32; B]], scratch: &'r mut [[f32; B]], slices: &'r Slices<'r>) -> Self {
        Self {
            step: 0,
            state,
            noise: &[],
            scratch,
            slices,
        }
    }
}

/// A controller over lanes.
///
/// ```
/// use hambo_core::numeric::Slices;
/// use hambo_core::policy::PolicyInputs;
/// use hambo_core::{Policy, SVector};
/// let policy = hambo_core::example::policy()?;
/// assert_eq!((policy.state_dimension(), policy.action_dimension()), (1, 1));
/// let mut scratch = vec![[0.0; 2]; policy.scratch_rows().ok_or("too large")?];
/// let (state, slices) = ([[1.0, -4.0]], Slices::default());
/// let mut action = [[0.0; 2]];
/// policy.act(PolicyInputs::new(&state, &mut scratch, &slices), &mut action);
/// assert_eq!(action, [[-0.5, 2.0]]);
/// let mut gradient = [[0.0; 2]];
/// let inputs = PolicyInputs::new(&state, &mut scratch, &slices);
/// policy.pull_back(inputs, &[[1.0; 2]], &mut gradient);
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

    /// The action of every lane. The task's action limits come after it. The actions are
    /// NaN if the scratch is too short, or a pause stopped the work.
    fn act<const B: usize>(&self, inputs: PolicyInputs<'_, B>, action: &mut [[f32; B]]);

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
            let whole = Slices::default();
            self.act(PolicyInputs::new(state, scratch, &whole), action);
        }
        action
    }

    /// Adds (d action / d state)ᵀ · `action_cotangent` of the last [`Policy::act`] to
    /// `state_cotangent`. The scratch is as that call left it, and is used up. The cotangent
    /// is of no use if a pause stopped the work.
    fn pull_back<const B: usize>(
        &self,
        inputs: PolicyInputs<'_, B>,
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    );
}

/// What an action becomes where the scratch is too short: NaN, which never
/// deploys.
pub(super) fn spoil<const B: usize>(action: &mut [[f32; B]]) {
    for row in action {
        *row = [f32::NAN; B];
    }
}
