//! Linear state feedback. Constant and PD controllers are linear ones, and
//! the host writes them as such.

use super::{ActionMap, Policy};
use crate::arithmetic::dense::{Dense, TILE, padded};

/// action = gain · state + bias, then an [`ActionMap`]. The weights are
/// borrowed.
///
/// ```
/// use hambo_core::policy::{ActionMap, Head, Linear, Policy};
/// // A PD controller: -2 x - 0.5 v. A tile of biases, then one for each state.
/// let tiles = [[0.0; 4], [-2.0, 0.0, 0.0, 0.0], [-0.5, 0.0, 0.0, 0.0]];
/// let actions = ActionMap {
///     head: Head::Deterministic,
///     squash: false,
///     log_std: &[],
///     scale: &[1.0],
///     offset: &[0.0],
/// };
/// let policy = Linear::new(&tiles, 2, actions).ok_or("bad policy")?;
/// let mut scratch = [[0.0]; 16];
/// let mut action = [[0.0]];
/// policy.act(&[[1.0], [4.0]], &[], &mut scratch, &mut action);
/// assert_eq!(action, [[-4.0]]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Linear<'a> {
    layer: Dense<'a>,
    state_dimension: usize,
    outputs: usize,
    actions: ActionMap<'a>,
}

/// The rows of a linear policy's scratch.
struct Scratch<'r, const B: usize> {
    /// gain · state + bias.
    outputs: &'r mut [[f32; B]],
    output_cotangent: &'r mut [[f32; B]],
    gradient: &'r mut [[f32; B]],
}

impl<'a> Linear<'a> {
    /// A policy over the tiles of one dense layer; `None` if sizes do not fit
    /// together.
    #[must_use]
    pub fn new(
        tiles: &'a [[f32; TILE]],
        state_dimension: usize,
        actions: ActionMap<'a>,
    ) -> Option<Self> {
        let outputs = actions.outputs()?;
        let fits = Dense::tiles(state_dimension, outputs) == Some(tiles.len());
        let layer = Dense::new(tiles, state_dimension, outputs).filter(|_| fits)?;
        Some(Self {
            layer,
            state_dimension,
            outputs,
            actions,
        })
    }

    fn carve<'r, const B: usize>(&self, rows: &'r mut [[f32; B]]) -> Option<Scratch<'r, B>> {
        let (outputs, rows) = rows.split_at_mut_checked(padded(self.outputs))?;
        let (output_cotangent, rows) = rows.split_at_mut_checked(padded(self.outputs))?;
        let (gradient, _) = rows.split_at_mut_checked(self.state_dimension)?;
        Some(Scratch {
            outputs,
            output_cotangent,
            gradient,
        })
    }

    fn try_act<const B: usize>(
        &self,
        state: &[[f32; B]],
        noise: &[[f32; B]],
        scratch: &mut [[f32; B]],
        action: &mut [[f32; B]],
    ) -> Option<()> {
        let Scratch { outputs, .. } = self.carve(scratch)?;
        self.layer.forward(state, outputs);
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
            outputs,
            output_cotangent,
            gradient,
        } = self.carve(scratch)?;
        self.actions
            .pull_back(outputs, noise, action_cotangent, output_cotangent)?;
        self.layer.pull_back(output_cotangent, gradient);
        for (sum, row) in state_cotangent.iter_mut().zip(gradient.iter()) {
            for (s, g) in sum.iter_mut().zip(row) {
                *s += *g;
            }
        }
        Some(())
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
        padded(self.outputs)
            .checked_mul(2)?
            .checked_add(self.state_dimension)
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
