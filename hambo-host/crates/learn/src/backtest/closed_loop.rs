//! The logging controller in the loop: where the model's path leaves the logged one, so does the
//! action, as it would have.

use hambo_core::Policy;
use hambo_core::numeric::Slices;
use hambo_core::policy::PolicyInputs;
use hambo_core::task::Limits;
use hambo_data::Transition;

/// The controller that made a log, with what was logged beside it: exploration, or a human hand.
pub(super) struct ClosedLoop<'a, P> {
    controller: &'a P,
    limits: &'a Limits<'a>,
    /// Logged less computed, one action after the other.
    beside: Vec<f32>,
}

impl<'a, P: Policy> ClosedLoop<'a, P> {
    /// Of the rows of a window.
    pub(super) fn of(controller: &'a P, limits: &'a Limits<'a>, rows: &[Transition<'_>]) -> Self {
        let mut closed = Self {
            controller,
            limits,
            beside: Vec::new(),
        };
        let mut scratch = vec![[0.0]; controller.scratch_rows().unwrap_or(0)];
        let mut action = vec![[f32::NAN]; controller.action_dimension()];
        for row in rows {
            let state: Vec<[f32; 1]> = row.state.iter().map(|x| [*x]).collect();
            let whole = Slices::default();
            let inputs = PolicyInputs::new(&state, &mut scratch, &whole);
            closed.within_limits(inputs, &mut action);
            let pairs = row.action.iter().zip(&action);
            closed
                .beside
                .extend(pairs.map(|(logged, [own])| logged - own));
        }
        closed
    }

    /// What the controller does by itself, without chance.
    fn within_limits<const B: usize>(&self, inputs: PolicyInputs<'_, B>, action: &mut [[f32; B]]) {
        let inputs = PolicyInputs {
            noise: &[],
            ..inputs
        };
        self.controller.act(inputs, action);
        let limits = self.limits.low.iter().zip(self.limits.high);
        for (row, (low, high)) in action.iter_mut().zip(limits) {
            *row = row.map(|x| x.clamp(*low, *high));
        }
    }
}

impl<P: Policy> Policy for ClosedLoop<'_, P> {
    fn state_dimension(&self) -> usize {
        self.controller.state_dimension()
    }

    fn action_dimension(&self) -> usize {
        self.controller.action_dimension()
    }

    fn scratch_rows(&self) -> Option<usize> {
        self.controller.scratch_rows()
    }

    fn act<const B: usize>(&self, inputs: PolicyInputs<'_, B>, action: &mut [[f32; B]]) {
        let step = inputs.step as usize;
        self.within_limits(inputs, action);
        let beside = self.beside.chunks_exact(action.len().max(1)).nth(step);
        for (place, row) in action.iter_mut().enumerate() {
            let beside = beside.and_then(|beside| beside.get(place));
            *row = row.map(|x| x + beside.copied().unwrap_or(f32::NAN));
        }
    }

    fn pull_back<const B: usize>(
        &self,
        inputs: PolicyInputs<'_, B>,
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    ) {
        self.controller
            .pull_back(inputs, action_cotangent, state_cotangent);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use hambo_core::example;

    use super::*;

    /// The example's controller is a = −s / 2 within ±1.
    #[test]
    fn the_action_follows_the_state_and_keeps_what_was_logged_beside_it() {
        let controller = example::policy().unwrap();
        let limits = Limits {
            low: &[-1.0],
            high: &[1.0],
        };
        let row = |state: &'static [f32], action: &'static [f32]| Transition {
            state,
            action,
            next_state: state,
            reward: 0.0,
            episode: 0,
        };
        // Explored by 0.2; at the limit, where −2 is −1.
        let rows = [row(&[1.0], &[-0.3]), row(&[4.0], &[-1.0])];
        let closed = ClosedLoop::of(&controller, &limits, &rows);
        let act = |step: u32, state: f32| {
            let mut scratch = vec![[0.0]; closed.scratch_rows().unwrap()];
            let (whole, state) = (Slices::default(), [[state]]);
            let inputs = PolicyInputs {
                step,
                ..PolicyInputs::new(&state, &mut scratch, &whole)
            };
            let mut action = [[0.0]];
            closed.act(inputs, &mut action);
            action[0][0]
        };
        // Where the log was, what was logged.
        assert!((act(0, 1.0) + 0.3).abs() < 1e-6 && (act(1, 4.0) + 1.0).abs() < 1e-6);
        // Elsewhere, what the controller does there, and the same beside it.
        assert!((act(0, 0.5) + 0.05).abs() < 1e-6 && (act(1, 1.0) + 0.5).abs() < 1e-6);
        // No row, no action.
        assert!(act(2, 1.0).is_nan());
    }
}
