//! Randomised prior functions: a fixed random network for each member, added to
//! its mean. Training fits the sum to the data, so members still agree on the
//! log; elsewhere nothing makes the trained part undo the random one.

use crate::numeric::dense::TILE;
use crate::numeric::network::{NetworkShape, Perceptrons};
use crate::numeric::{ParameterError, Slices};

/// One random network for each member, with an output for each state.
#[derive(Clone, Debug)]
pub(crate) struct Priors<'a> {
    networks: Perceptrons<'a>,
}

impl<'a> Priors<'a> {
    /// As many as `tiles` has weights for.
    pub(crate) fn new(
        shape: NetworkShape,
        tiles: &'a [[f32; TILE]],
        input_mean: &'a [f32],
        input_scale: &'a [f32],
    ) -> Result<Self, ParameterError> {
        let networks = Perceptrons::new(shape, tiles, input_mean, input_scale)?;
        Ok(Self { networks })
    }

    /// The networks, which are all that there is.
    pub(super) fn networks(&self) -> &Perceptrons<'a> {
        &self.networks
    }

    /// Whether there is one for each member, and an output for each state.
    pub(super) fn check(&self, members: usize, states: usize) -> Result<(), ParameterError> {
        ParameterError::size("priors", self.networks.count() == members)?;
        ParameterError::size("prior outputs", self.networks.outputs() == states)
    }

    pub(super) fn scratch_rows(&self) -> Option<usize> {
        self.networks.scratch_rows()
    }

    /// Adds what the priors say to the first rows of every member's outputs,
    /// which lie `stride` rows apart.
    pub(super) fn add_to<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        outputs: &mut [[f32; B]],
        stride: usize,
        slices: &Slices<'_>,
    ) -> Option<()> {
        let own = self.networks.forward(state, action, scratch, slices)?;
        let own = own.chunks_exact(self.networks.output_rows().max(1));
        for (member, prior) in outputs.chunks_exact_mut(stride.max(1)).zip(own) {
            let rows = member.iter_mut().zip(prior);
            for (sum, row) in rows.take(self.networks.outputs()) {
                for (sum, x) in sum.iter_mut().zip(row) {
                    *sum += *x;
                }
            }
        }
        Some(())
    }

    /// Pulls the cotangents of the members' means back through the priors.
    pub(super) fn pull_back<const B: usize>(
        &self,
        outputs: &[[f32; B]],
        stride: usize,
        scratch: &mut [[f32; B]],
        cotangents: (&mut [[f32; B]], &mut [[f32; B]]),
        slices: &Slices<'_>,
    ) -> Option<()> {
        let means = self.networks.outputs();
        let rows = self.networks.output_rows().max(1);
        let to_cotangents = |own: &mut [[f32; B]]| {
            let members = outputs.chunks_exact(stride.max(1));
            for (prior, member) in own.chunks_exact_mut(rows).zip(members) {
                let sources = member.iter().take(means);
                let (wanted, padding) = prior.split_at_mut_checked(means)?;
                for (row, cotangent) in wanted.iter_mut().zip(sources) {
                    *row = *cotangent;
                }
                padding.fill([0.0; B]);
            }
            Some(())
        };
        self.networks
            .pull_back(scratch, to_cotangents, cotangents, slices)
    }
}
