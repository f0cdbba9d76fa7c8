//! Linear state feedback. Constant and PD controllers are linear ones, and
//! the host writes them as such.

use super::head::ActionMap;
use super::policy_trait::{Policy, PolicyInputs, spoil};
use crate::numeric::ParameterError;
use crate::numeric::checksum::Checksum;
use crate::numeric::dense::{Dense, TILE, padded};

/// action = gain · state + bias, then an `ActionMap`. The weights are
/// borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Linear<'a> {
    layer: Dense<'a>,
    state_dimension: usize,
    outputs: usize,
    actions: ActionMap<'a>,
}

type Rows<'r, const B: usize> = (&'r mut [[f32; B]], &'r mut [[f32; B]]);

impl Linear<'_> {
    /// Adds all of it.
    pub(super) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            layer,
            state_dimension,
            outputs,
            actions,
        } = self;
        layer.add_to(sum);
        sum.value(&(state_dimension, outputs));
        actions.add_to(sum);
    }
}

impl<'a> Linear<'a> {
    /// Whether the same state always gets the same action.
    pub(crate) fn is_deterministic(&self) -> bool {
        self.actions.head.spread().is_none()
    }

    /// A policy over the tiles of one dense layer.
    pub(crate) fn new(
        tiles: &'a [[f32; TILE]],
        state_dimension: usize,
        actions: ActionMap<'a>,
    ) -> Result<Self, ParameterError> {
        let outputs = actions.outputs()?;
        let fits = Dense::tiles(state_dimension, outputs) == Some(tiles.len());
        ParameterError::size("weights", fits)?;
        let layer = Dense::new(tiles, state_dimension, outputs);
        let layer = layer.ok_or(ParameterError::Size("weights"))?;
        Ok(Self {
            layer,
            state_dimension,
            outputs,
            actions,
        })
    }

    /// Outputs, and the derivative in the states; `None` if `rows` is too
    /// short.
    fn carve<'r, const B: usize>(&self, rows: &'r mut [[f32; B]]) -> Option<Rows<'r, B>> {
        let (outputs, rows) = rows.split_at_mut_checked(padded(self.outputs))?;
        Some((outputs, rows.get_mut(..self.state_dimension)?))
    }
}

impl Policy for Linear<'_> {
    fn state_dimension(&self) -> usize {
        self.state_dimension
    }

    fn action_dimension(&self) -> usize {
        self.actions.action_dimension()
    }

    fn scratch_rows(&self) -> Option<usize> {
        padded(self.outputs).checked_add(self.state_dimension)
    }

    fn act<const B: usize>(&self, inputs: PolicyInputs<'_, B>, action: &mut [[f32; B]]) {
        let acted = self.carve(inputs.scratch).and_then(|(outputs, _)| {
            self.layer.forward(inputs.state, outputs);
            self.actions.apply(outputs, inputs.noise, action)
        });
        if acted.is_none() {
            spoil(action);
        }
    }

    fn pull_back<const B: usize>(
        &self,
        inputs: PolicyInputs<'_, B>,
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    ) {
        let pulled = self.carve(inputs.scratch).and_then(|(outputs, gradient)| {
            self.actions
                .pull_back(inputs.noise, action_cotangent, outputs)?;
            self.layer.pull_back(outputs, gradient);
            Some(gradient)
        });
        // A scratch that is too short has spoilt the action already.
        for (sum, row) in state_cotangent.iter_mut().zip(pulled.unwrap_or_default()) {
            for (s, g) in sum.iter_mut().zip(row) {
                *s += *g;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Slices;

    #[test]
    fn a_pd_controller() -> Result<(), ParameterError> {
        // -2 x - 0.5 v: a tile of biases, then one for each state.
        let tiles = [[0.0; 4], [-2.0, 0.0, 0.0, 0.0], [-0.5, 0.0, 0.0, 0.0]];
        let actions = ActionMap::deterministic(&[1.0], &[0.0]);
        let policy = Linear::new(&tiles, 2, actions)?;
        let mut scratch = vec![[0.0]; policy.scratch_rows().unwrap_or(0)];
        let (mut action, mut gradient) = ([[0.0]], [[0.0]; 2]);
        let whole = Slices::default();
        let inputs = PolicyInputs::new(&[[1.0], [4.0]], &mut scratch, &whole);
        policy.act(inputs, &mut action);
        let inputs = PolicyInputs::new(&[], &mut scratch, &whole);
        policy.pull_back(inputs, &[[1.0]], &mut gradient);
        assert_eq!((action, gradient), ([[-4.0]], [[-2.0], [-0.5]]));
        let missing = Linear::new(&tiles[1..], 2, actions).map(|_| ());
        assert_eq!(missing, Err(ParameterError::Size("weights")));
        Ok(())
    }
}
