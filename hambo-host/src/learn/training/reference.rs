//! Oracle of the tests: the same network and objective, plainly, in f64.

use super::{Activation, TrainedEnsemble};

/// Outputs (mean, raw) of one network for one input row; parameters as in `network`.
pub(crate) fn outputs(
    widths: &[usize],
    activation: Activation,
    parameters: &[f64],
    input: &[f64],
) -> Vec<f64> {
    let mut values = input.to_vec();
    let mut rest = parameters;
    for layer in 1..widths.len() {
        let (weights, after) = rest.split_at(widths[layer - 1] * widths[layer]);
        let (bias, after) = after.split_at(widths[layer]);
        rest = after;
        values = weights
            .chunks(widths[layer - 1])
            .zip(bias)
            .map(|(row, bias)| {
                let z = bias + row.iter().zip(&values).map(|(w, v)| w * v).sum::<f64>();
                match activation {
                    _ if layer + 1 == widths.len() => z,
                    Activation::Relu => z.max(0.0),
                    Activation::Tanh => z.tanh(),
                    Activation::Silu => z / (1.0 + (-z).exp()),
                }
            })
            .collect();
    }
    values
}

/// Mean over the rows of the negative log likelihood.
pub(super) fn objective(
    widths: &[usize],
    activation: Activation,
    parameters: &[f64],
    inputs: &[f32],
    targets: &[f32],
    (floor, cap): (f64, f64),
) -> f64 {
    let columns = widths[widths.len() - 1] / 2;
    let rows = inputs.chunks(widths[0]).zip(targets.chunks(columns));
    let sum: f64 = rows
        .map(|(input, target)| {
            let input: Vec<f64> = input.iter().map(|&v| f64::from(v)).collect();
            let output = outputs(widths, activation, parameters, &input);
            (0..columns)
                .map(|j| {
                    let std = (floor + (1.0 + output[columns + j].exp()).ln()).min(cap);
                    let score = (f64::from(target[j]) - output[j]) / std;
                    0.5 * (std::f64::consts::TAU * std * std).ln() + 0.5 * score * score
                })
                .sum::<f64>()
        })
        .sum();
    sum / (targets.len() / columns) as f64
}

/// Every member's predicted mean for one input row, in physical units.
pub(super) fn member_means(ensemble: &TrainedEnsemble, input: &[f32]) -> Vec<Vec<f64>> {
    let map = &ensemble.standardisation;
    let standardised: Vec<f64> = (0..input.len())
        .map(|i| f64::from(input[i] - map.input_mean[i]) / f64::from(map.input_scale[i]))
        .collect();
    let mean = |member: &super::Member| {
        let parameters: Vec<f64> = member
            .layers
            .iter()
            .flat_map(|layer| layer.weights.iter().chain(&layer.bias))
            .map(|&p| f64::from(p))
            .collect();
        let output = outputs(
            &ensemble.widths,
            ensemble.activation,
            &parameters,
            &standardised,
        );
        (0..map.output_mean.len())
            .map(|j| f64::from(map.output_mean[j]) + f64::from(map.output_scale[j]) * output[j])
            .collect()
    };
    ensemble.members.iter().map(mean).collect()
}
