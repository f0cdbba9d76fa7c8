//! A "controller" that repeats logged actions, step by step.

use hambo_core::Policy;
use hambo_core::policy::PolicyInputs;

/// The actions of a window.
pub(super) struct Replay<'a> {
    pub(super) states: usize,
    /// One action after the other.
    pub(super) actions: &'a [f32],
    pub(super) dimension: usize,
}

impl Policy for Replay<'_> {
    fn state_dimension(&self) -> usize {
        self.states
    }

    fn action_dimension(&self) -> usize {
        self.dimension
    }

    fn act<const B: usize>(&self, inputs: PolicyInputs<'_, B>, action: &mut [[f32; B]]) {
        let logged = self.actions.chunks_exact(self.dimension.max(1));
        let logged = logged.skip(inputs.step as usize).flatten().map(|x| [*x; B]);
        let logged = logged.chain(std::iter::repeat([f32::NAN; B]));
        for (row, logged) in action.iter_mut().zip(logged) {
            *row = logged;
        }
    }

    /// What is replayed does not depend on the state.
    fn pull_back<const B: usize>(
        &self,
        _inputs: PolicyInputs<'_, B>,
        _action_cotangent: &[[f32; B]],
        _state_cotangent: &mut [[f32; B]],
    ) {
    }
}
