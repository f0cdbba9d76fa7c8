//! Neural controllers: a multilayer perceptron between a normalised
//! observation and an [`ActionMap`].

use super::{ActionMap, Policy};
use crate::arithmetic::dense::{TILE, padded};
use crate::network::NetworkShape;

/// How states are normalised: (state − mean) · scale.
///
/// ```
/// use hambo_core::policy::Observation;
/// // A state with mean 1 and standard deviation 0.5.
/// let observation = Observation { mean: &[1.0], scale: &[1.0 / 0.5] };
/// let seen = (2.0 - observation.mean[0]) * observation.scale[0];
/// assert_eq!(seen, 2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation<'a> {
    /// Mean of each state.
    pub mean: &'a [f32],
    /// One over the standard deviation of each state.
    pub scale: &'a [f32],
}

/// A network policy whose weights are borrowed.
///
/// ```
/// use hambo_core::network::{Activation, NetworkShape};
/// use hambo_core::policy::{ActionMap, Head, Observation, Perceptron, Policy};
/// // One state, one hidden unit, one action: relu(x) + 1.
/// let tiles = [[0.0; 4], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]];
/// let shape = NetworkShape::new(1, &[1], 1, Activation::Relu).ok_or("bad shape")?;
/// let observation = Observation { mean: &[1.0], scale: &[2.0] };
/// let actions = ActionMap {
///     head: Head::Deterministic,
///     squash: false,
///     log_std: &[],
///     scale: &[10.0],
///     offset: &[0.5],
/// };
/// let policy = Perceptron::new(shape, &tiles, observation, actions).ok_or("bad policy")?;
/// let mut scratch = [[0.0; 2]; 32];
/// let mut action = [[0.0; 2]];
/// policy.act(&[[3.0, -1.0]], &[], &mut scratch, &mut action);
/// assert_eq!(action, [[50.5, 10.5]]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct Perceptron<'a> {
    network: NetworkShape,
    tiles: &'a [[f32; TILE]],
    observation: Observation<'a>,
    actions: ActionMap<'a>,
}

/// The rows of a perceptron's scratch.
struct Scratch<'r, const B: usize> {
    /// Normalised states.
    input: &'r mut [[f32; B]],
    /// Values before the activations.
    hidden: &'r mut [[f32; B]],
    outputs: &'r mut [[f32; B]],
    ping: &'r mut [[f32; B]],
    pong: &'r mut [[f32; B]],
}

impl<'a> Perceptron<'a> {
    /// A policy from its parts; `None` if sizes do not fit together.
    #[must_use]
    pub fn new(
        network: NetworkShape,
        tiles: &'a [[f32; TILE]],
        observation: Observation<'a>,
        actions: ActionMap<'a>,
    ) -> Option<Self> {
        let fits = tiles.len() == network.tiles()
            && network.outputs() == actions.outputs()?
            && observation.mean.len() == network.inputs()
            && observation.scale.len() == network.inputs();
        fits.then_some(Self {
            network,
            tiles,
            observation,
            actions,
        })
    }

    fn carve<'r, const B: usize>(&self, rows: &'r mut [[f32; B]]) -> Option<Scratch<'r, B>> {
        let (input, rows) = rows.split_at_mut_checked(self.network.inputs())?;
        let (hidden, rows) = rows.split_at_mut_checked(self.network.hidden_rows())?;
        let (outputs, rows) = rows.split_at_mut_checked(padded(self.network.outputs()))?;
        let (ping, rows) = rows.split_at_mut_checked(self.network.widest())?;
        let (pong, _) = rows.split_at_mut_checked(self.network.widest())?;
        Some(Scratch {
            input,
            hidden,
            outputs,
            ping,
            pong,
        })
    }

    fn try_act<const B: usize>(
        &self,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action: &mut [[f32; B]],
    ) -> Option<()> {
        let Scratch {
            input,
            hidden,
            outputs,
            ping,
            pong,
        } = self.carve(scratch)?;
        let units = self.observation.mean.iter().zip(self.observation.scale);
        for ((row, x), (mean, scale)) in input.iter_mut().zip(state).zip(units) {
            for (y, x) in row.iter_mut().zip(x) {
                *y = (*x - *mean) * *scale;
            }
        }
        self.network
            .forward(self.tiles, input, hidden, outputs, (ping, pong))?;
        self.actions.apply(outputs, noise, action)
    }

    fn try_pull_back<const B: usize>(
        &self,
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    ) -> Option<()> {
        let Scratch {
            hidden,
            outputs,
            ping,
            pong,
            ..
        } = self.carve(scratch)?;
        let rows = ping.get_mut(..outputs.len())?;
        self.actions
            .pull_back(outputs, noise, action_cotangent, rows)?;
        let gradient = self.network.pull_back(self.tiles, hidden, (ping, pong))?;
        let sums = state_cotangent.iter_mut().zip(gradient);
        for ((sum, row), scale) in sums.zip(self.observation.scale) {
            for (s, g) in sum.iter_mut().zip(row) {
                *s += *scale * *g;
            }
        }
        Some(())
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
        self.network
            .inputs()
            .checked_add(self.network.hidden_rows())?
            .checked_add(padded(self.network.outputs()))?
            .checked_add(self.network.widest().checked_mul(2)?)
    }

    fn act<const B: usize>(
        &self,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action: &mut [[f32; B]],
    ) {
        if self.try_act(state, noise, scratch, action).is_none() {
            super::spoil(action);
        }
    }

    fn pull_back<const B: usize>(
        &self,
        _state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    ) {
        // A scratch that is too short has spoilt the action already.
        let _ = self.try_pull_back(noise, scratch, action_cotangent, state_cotangent);
    }
}
