//! Oracle of the tests: the same objective, plainly, in f64.

use hambo_core::image::PRIOR_ACTIVATION;

use super::trained::TrainedEnsemble;
use hambo_base::network::Activation;
use hambo_base::network::reference::outputs;

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
    let of = |member: &super::Member, widths: &[usize], activation| {
        let parameters: Vec<f64> = member
            .layers
            .iter()
            .flat_map(|layer| layer.weights.iter().chain(&layer.bias))
            .map(|&p| f64::from(p))
            .collect();
        outputs(widths, activation, &parameters, &standardised)
    };
    let mean = |(number, member): (usize, &super::Member)| {
        let mut output = of(member, &ensemble.widths, ensemble.activation);
        if let Some(prior) = ensemble.priors.get(number) {
            let widths = [input.len(), prior.layers[0].outputs, map.output_mean.len()];
            let added = of(prior, &widths, PRIOR_ACTIVATION);
            output.iter_mut().zip(added).for_each(|(y, x)| *y += x);
        }
        (0..map.output_mean.len())
            .map(|j| f64::from(map.output_mean[j]) + f64::from(map.output_scale[j]) * output[j])
            .collect()
    };
    ensemble.members.iter().enumerate().map(mean).collect()
}
