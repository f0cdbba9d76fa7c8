//! Neural controllers: a multilayer perceptron between a standardised state
//! and an `ActionMap`.

use super::head::ActionMap;
use super::policy_trait::{Policy, PolicyInputs, spoil};
use crate::numeric::ParameterError;
use crate::numeric::checksum::Checksum;
use crate::numeric::network::Perceptrons;

/// A network policy whose weights are borrowed.
#[derive(Clone, Debug)]
pub struct Perceptron<'a> {
    network: Perceptrons<'a>,
    actions: ActionMap<'a>,
}

impl Perceptron<'_> {
    /// Adds all of it.
    pub(super) fn add_to(&self, sum: &mut Checksum) {
        let Self { network, actions } = self;
        network.add_to(sum);
        actions.add_to(sum);
    }
}

impl<'a> Perceptron<'a> {
    /// Whether the same state always gets the same action.
    pub(crate) fn is_deterministic(&self) -> bool {
        self.actions.head.spread().is_none()
    }

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

    fn act<const B: usize>(&self, inputs: PolicyInputs<'_, B>, action: &mut [[f32; B]]) {
        let outputs = self
            .network
            .forward(inputs.state, &[], inputs.scratch, inputs.slices);
        if outputs
            .and_then(|outputs| self.actions.apply(outputs, inputs.noise, action))
            .is_none()
        {
            spoil(action);
        }
    }

    fn pull_back<const B: usize>(
        &self,
        inputs: PolicyInputs<'_, B>,
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    ) {
        let to_cotangents = |outputs: &mut [[f32; B]]| {
            self.actions
                .pull_back(inputs.noise, action_cotangent, outputs)
        };
        // A scratch that is too short has spoilt the action already.
        let _ = self.network.pull_back(
            inputs.scratch,
            to_cotangents,
            (state_cotangent, &mut []),
            inputs.slices,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Slices;
    use crate::numeric::network::{Activation, NetworkShape};

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
        let actions = ActionMap::deterministic(&[10.0], &[0.5]);
        let policy = Perceptron::new(network, actions)?;
        let mut scratch = [[0.0; 2]; 32];
        let mut action = [[0.0; 2]];
        let whole = Slices::default();
        let inputs = PolicyInputs::new(&[[3.0, -1.0]], &mut scratch, &whole);
        policy.act(inputs, &mut action);
        assert_eq!(action, [[50.5, 10.5]]);
        let mut gradient = [[0.0; 2]];
        let inputs = PolicyInputs::new(&[], &mut scratch, &whole);
        policy.pull_back(inputs, &[[1.0; 2]], &mut gradient);
        assert_eq!(gradient, [[20.0, 0.0]]);
        Ok(())
    }
}
