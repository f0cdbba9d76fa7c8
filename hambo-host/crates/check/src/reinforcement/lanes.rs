//! A network's outputs for all lanes of a problem.

use rayon::prelude::*;

use super::weights::ACTIVATION;
use hambo_base::network::perceptron::{LayerShape, Network};

/// Rows of a part. Fixed, because a product's bits may depend on its size, and
/// must not depend on the number of threads.
const PART: usize = 128;

/// Parts of the lanes that are worked on side by side.
pub struct LaneNetwork {
    inputs: usize,
    outputs: usize,
    parts: Vec<Network>,
    pub(super) values: Vec<f32>,
}

impl LaneNetwork {
    pub(super) fn new(layers: &[LayerShape], lanes: usize) -> Self {
        let outputs = layers.last().map_or(0, |layer| layer.outputs);
        let part = |_| Network::new(layers, ACTIVATION, PART.min(lanes));
        Self {
            inputs: layers.first().map_or(0, |layer| layer.inputs),
            outputs,
            parts: (0..lanes.div_ceil(PART)).map(part).collect(),
            values: vec![0.0; lanes * outputs],
        }
    }

    /// Fills `values`, one row for each lane.
    pub(super) fn forward(&mut self, parameters: &[f32], observations: &[f32]) {
        let inputs = observations.par_chunks(PART * self.inputs);
        let values = self.values.par_chunks_mut(PART * self.outputs);
        let parts = self.parts.par_iter_mut().zip(inputs).zip(values);
        parts.for_each(|((network, inputs), values)| {
            values.copy_from_slice(network.forward(parameters, inputs));
        });
    }
}
