//! A multilayer perceptron on a batch: forward, and backward by the chain rule.
//!
//! A batch is a matrix with one column per row of data, so a row-major table
//! of data is that matrix as it lies in memory. All parameters lie in one
//! slice, layer by layer: weights (row-major, outputs × inputs), then bias.

use std::hint::black_box;
use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, ColRef, MatMut, MatRef, Par};

use super::activation::{BatchActivation, each};
use super::vectors::with_vectors;
use hambo_core::numeric::network::Activation;

/// Size and place of one layer.
#[derive(Debug, Clone)]
pub struct LayerShape {
    pub inputs: usize,
    pub outputs: usize,
    pub weights: Range<usize>,
    pub bias: Range<usize>,
}

/// Lays the layers of a network out one after the other.
pub fn layer_shapes(widths: &[usize]) -> Vec<LayerShape> {
    let mut start = 0;
    widths
        .windows(2)
        .map(|pair| {
            let weights = start..start + pair[0] * pair[1];
            let bias = weights.end..weights.end + pair[1];
            start = bias.end;
            LayerShape {
                inputs: pair[0],
                outputs: pair[1],
                weights,
                bias,
            }
        })
        .collect()
}

/// Number of parameters of a network.
pub fn parameter_count(layers: &[LayerShape]) -> usize {
    layers.last().map_or(0, |layer| layer.bias.end)
}

/// The working memory of one network for batches of up to a fixed size.
pub struct Network {
    layers: Vec<LayerShape>,
    activation: Activation,
    rows: usize,
    /// Input of every layer and, last, the network's output.
    values: Vec<Vec<f32>>,
    /// Slope of the activation, where it must be kept, beside each of `values`.
    slopes: Vec<Vec<f32>>,
    /// Derivative of the loss in each of `values` before its activation.
    deltas: Vec<Vec<f32>>,
    /// One layer's derivatives before they are added to others; empty until needed.
    summand: Vec<f32>,
}

/// What becomes of the gradient that was there before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gradient {
    Replace,
    Add,
}

impl Network {
    pub fn new(layers: &[LayerShape], activation: Activation, capacity: usize) -> Self {
        let buffers = |capacity: usize| -> Vec<Vec<f32>> {
            let first = layers.first().map(|layer| layer.inputs);
            let widths = first
                .into_iter()
                .chain(layers.iter().map(|layer| layer.outputs));
            widths.map(|width| vec![0.0; width * capacity]).collect()
        };
        Self {
            layers: layers.to_vec(),
            activation,
            rows: 0,
            values: buffers(capacity),
            slopes: buffers(if activation.derivative_follows_from_value() {
                0
            } else {
                capacity
            }),
            deltas: buffers(capacity),
            summand: Vec::new(),
        }
    }

    /// Outputs for a batch of inputs (both row-major). The batch must fit the capacity.
    pub fn forward(&mut self, parameters: &[f32], inputs: &[f32]) -> &[f32] {
        self.values[0][..inputs.len()].copy_from_slice(inputs);
        for (index, layer) in self.layers.iter().enumerate() {
            if index == 0 {
                self.rows = inputs.len() / layer.inputs;
            }
            let (before, after) = self.values.split_at_mut(index + 1);
            let input = &before[index][..self.rows * layer.inputs];
            let output = &mut after[0][..self.rows * layer.outputs];
            product(
                MatMut::from_column_major_slice_mut(output, layer.outputs, self.rows),
                MatRef::from_row_major_slice(
                    &parameters[layer.weights.clone()],
                    layer.outputs,
                    layer.inputs,
                ),
                MatRef::from_column_major_slice(input, layer.inputs, self.rows),
            );
            let bias = &parameters[layer.bias.clone()];
            if index + 1 < self.layers.len() {
                let slopes = &mut self.slopes[index + 1];
                self.activation.apply_batch(bias, output, slopes);
            } else {
                each(bias, output, |sum| sum);
            }
        }
        self.outputs_and_slope().0
    }

    /// The outputs of the last batch, and where the loss writes its derivative in them.
    pub fn outputs_and_slope(&mut self) -> (&[f32], &mut [f32]) {
        let last = self.layers.len();
        let length = self.rows * self.layers.last().map_or(0, |layer| layer.outputs);
        (
            &self.values[last][..length],
            &mut self.deltas[last][..length],
        )
    }

    /// Derivative of the loss in every parameter, from its derivative in the outputs.
    pub fn backward(&mut self, parameters: &[f32], gradient: &mut [f32], how: Gradient) {
        for index in (0..self.layers.len()).rev() {
            let layer = &self.layers[index];
            let gradient = &mut gradient[layer.weights.start..layer.bias.end];
            match how {
                Gradient::Replace => self.layer_gradient(index, gradient),
                Gradient::Add => {
                    let mut summand = std::mem::take(&mut self.summand);
                    summand.resize(summand.len().max(gradient.len()), 0.0);
                    self.layer_gradient(index, &mut summand[..gradient.len()]);
                    add(gradient, &summand);
                    self.summand = summand;
                }
            }
            if index > 0 {
                self.pull_back(index, parameters);
            }
        }
    }

    /// Derivative of the loss in every input, from its derivative in the
    /// outputs: for a loss that moves what feeds the network, not its weights.
    pub fn backward_to_inputs(&mut self, parameters: &[f32]) {
        for index in (0..self.layers.len()).rev() {
            self.pull_back(index, parameters);
        }
    }

    /// What [`Self::backward_to_inputs`] found, one row for each of the batch.
    pub fn input_slope(&self) -> &[f32] {
        let inputs = self.layers.first().map_or(0, |layer| layer.inputs);
        &self.deltas[0][..self.rows * inputs]
    }

    /// Derivative of the loss in the weights and the bias of one layer.
    fn layer_gradient(&self, index: usize, gradient: &mut [f32]) {
        let layer = &self.layers[index];
        let delta = &self.deltas[index + 1][..self.rows * layer.outputs];
        let input = &self.values[index][..self.rows * layer.inputs];
        let (weights, bias) = gradient.split_at_mut(layer.weights.len());
        product(
            MatMut::from_row_major_slice_mut(weights, layer.outputs, layer.inputs),
            MatRef::from_column_major_slice(delta, layer.outputs, self.rows),
            MatRef::from_column_major_slice(input, layer.inputs, self.rows).transpose(),
        );
        bias.fill(0.0);
        with_vectors(|| {
            for column in delta.chunks_exact(layer.outputs) {
                bias.iter_mut().zip(column).for_each(|(sum, d)| *sum += d);
            }
        });
    }

    /// Derivative of the loss in one layer's inputs, before their activation.
    fn pull_back(&mut self, index: usize, parameters: &[f32]) {
        let layer = &self.layers[index];
        let (before, after) = self.deltas.split_at_mut(index + 1);
        let delta = &after[0][..self.rows * layer.outputs];
        let length = self.rows * layer.inputs;
        let previous = &mut before[index][..length];
        product(
            MatMut::from_column_major_slice_mut(previous, layer.inputs, self.rows),
            MatRef::from_row_major_slice(
                &parameters[layer.weights.clone()],
                layer.outputs,
                layer.inputs,
            )
            .transpose(),
            MatRef::from_column_major_slice(delta, layer.outputs, self.rows),
        );
        // The network's own inputs have no activation.
        if index > 0 {
            let (values, slopes) = (&self.values[index], &self.slopes[index]);
            self.activation.pull_back_batch(values, slopes, previous);
        }
    }
}

/// Adds one gradient to another.
pub fn add(gradient: &mut [f32], other: &[f32]) {
    with_vectors(|| {
        let sums = gradient.iter_mut().zip(other);
        sums.for_each(|(sum, other)| *sum += other);
    });
}

/// `to` = `left` · `right`, on this thread alone.
fn product(to: MatMut<'_, f32>, left: MatRef<'_, f32>, right: MatRef<'_, f32>) {
    matmul(to, Accum::Replace, left, right, 1.0, Par::Seq);
    // On x86 the product's assembly kernels leave the upper halves of the vector
    // registers in use, and then every scalar instruction pays for it: the
    // activations after it take up to twenty times as long. A reduction by faer
    // ends with the instruction that frees them.
    let registers = [0.0_f32; 16];
    black_box(ColRef::from_slice(black_box(&registers)).norm_max());
}
