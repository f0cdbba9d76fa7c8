//! A controller that does what it is told.

use hambo_core::policy::Policy;

use super::group::WIDTH;

/// The next action of every lane of a group, decided elsewhere.
pub(super) struct Dictated {
    pub(super) states: usize,
    pub(super) actions: Vec<[f32; WIDTH]>,
}

impl Policy for Dictated {
    fn state_dimension(&self) -> usize {
        self.states
    }

    fn action_dimension(&self) -> usize {
        self.actions.len()
    }

    fn act<const B: usize>(
        &self,
        _: &[[f32; B]],
        _: &[[f32; B]],
        _: &mut [[f32; B]],
        action: &mut [[f32; B]],
    ) {
        for (to, from) in action.iter_mut().zip(&self.actions) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = *from;
            }
        }
    }

    /// What is dictated does not depend on the state.
    fn pull_back<const B: usize>(
        &self,
        _: &[[f32; B]],
        _: &[[f32; B]],
        _: &mut [[f32; B]],
        _: &[[f32; B]],
        _: &mut [[f32; B]],
    ) {
    }
}
