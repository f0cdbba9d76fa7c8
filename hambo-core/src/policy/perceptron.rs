//! Neural controllers: a multilayer perceptron between a standardised state
//! and an `ActionMap`.

use super::head::ActionMap;
use super::policy_trait::{Policy, spoil};
use crate::numeric::network::Perceptrons;
use crate::numeric::{ParameterError, Slices};

/// A network policy whose weights are borrowed.
#[derive(Clone, Debug)]
pub struct Perceptron<'a> {
    network: Perceptrons<'a>,
    actions: ActionMap<'a>,
}

impl<'a> Perceptron<'a> {
    /// Whether the same state always gets the same action.
    #[must_use]
    pub(crate) fn is_deterministic(&self) -> bool {
        self.actions.head.spread().is_none()
    }

    /// A policy from its parts.
    ///
    /// # Errors
    /// If sizes do not fit together.
    pub(crate) fn new(
        network: Perceptrons<'a>,
        actions: ActionMap<'a>,
    ) -> Result<Self, ParameterError> {
        ParameterError::size("weights", network.count() == 1)?;
        ParameterError::size("outputs", network.outputs() == actions.outputs()?)?;
        Ok(Self { network, actions })
    }
}

impl Policy for Perceptron<'_> {
    fn state_dimension(&self) -> usize {
        self.network.inputs()
    }

    fn action_dimension(&self) -> usize {
        self.actions.action_dimension()
    }

    fn scratch_rows(&self) -> Option<usize> {
        self.network.scratch_rows()
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
        _step: u32,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action: &mut [[f32; B]],
        slices: &Slices<'_>,
    ) {
        let outputs = self.network.forward(state, &[], scratch, slices);
        if outputs
            .and_then(|outputs| self.actions.apply(outputs, noise, action))
            .is_none()
        {
            spoil(action);
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
        let (from, to) = (action_cotangent, state_cotangent);
        self.pull_back_in_slices(state, noise, scratch, from, to, &Slices::default());
    }

    fn pull_back_in_slices<const B: usize>(
        &self,
        _state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
        slices: &Slices<'_>,
    ) {
        let to_cotangents =
            |outputs: &mut [[f32; B]]| self.actions.pull_back(noise, action_cotangent, outputs);
        // A scratch that is too short has spoilt the action already.
        let _ = self
            .network
            .pull_back(scratch, to_cotangents, (state_cotangent, &mut []), slices);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::network::{Activation, NetworkShape};
    use crate::policy::head::Head;

    #[test]
    fn the_state_is_standardised_and_the_action_scaled() -> Result<(), ParameterError> {
        // 10 (relu(2 (x − 1)) + 1) + 0.5.
        let tiles = [
            [0.0; 4],
            [1.0, 0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0],
        ];
        let shape = NetworkShape::new(1, &[1], 1, Activation::Relu)?;
        let network = Perceptrons::new(shape, &tiles, &[1.0], &[2.0])?;
        let actions = ActionMap {
            head: Head::Deterministic,
            squash: false,
            log_std: &[],
            scale: &[10.0],
            offset: &[0.5],
        };
        let policy = Perceptron::new(network, actions)?;
        let mut scratch = [[0.0; 2]; 32];
        let mut action = [[0.0; 2]];
        policy.act(&[[3.0, -1.0]], &[], &mut scratch, &mut action);
        assert_eq!(action, [[50.5, 10.5]]);
        let mut gradient = [[0.0; 2]];
        policy.pull_back(&[], &[], &mut scratch, &[[1.0; 2]], &mut gradient);
        assert_eq!(gradient, [[20.0, 0.0]]);
        Ok(())
    }
}
