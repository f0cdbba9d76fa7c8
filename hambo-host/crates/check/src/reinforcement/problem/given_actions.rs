//! A controller whose actions are decided elsewhere.

use hambo_core::policy::Policy;
use hambo_core::policy::PolicyInputs;

use super::lane_group::WIDTH;

/// The next action of every lane of a group, decided elsewhere.
pub(super) struct GivenActions {
    pub(super) states: usize,
    pub(super) actions: Vec<[f32; WIDTH]>,
}

impl Policy for GivenActions {
    fn state_dimension(&self) -> usize {
        self.states
    }

    fn action_dimension(&self) -> usize {
        self.actions.len()
    }

    fn act<const B: usize>(&self, _: PolicyInputs<'_, B>, action: &mut [[f32; B]]) {
        for (to, from) in action.iter_mut().zip(&self.actions) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = *from;
            }
        }
    }

    /// The actions do not depend on the state.
    fn pull_back<const B: usize>(
        &self,
        _: PolicyInputs<'_, B>,
        _: &[[f32; B]],
        _: &mut [[f32; B]],
    ) {
    }
}
