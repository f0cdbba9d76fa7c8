//! The same network in plain f64: the oracle that the tests of several crates compare with.

use hambo_core::numeric::network::Activation;

/// Outputs of one network for one input row; parameters as in `perceptron`.
pub fn outputs(
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
                    Activation::Gelu => 0.5 * z * libm::erfc(-z / std::f64::consts::SQRT_2),
                    Activation::Elu => z.max(0.0) + z.min(0.0).exp_m1(),
                    Activation::Softplus => z.max(0.0) + (-z.abs()).exp().ln_1p(),
                }
            })
            .collect();
    }
    values
}
