//! The activation functions and their slopes.

use hambo_core::numeric::elementary::{normal_density, normal_distribution};
use hambo_core::numeric::network::Activation;

use super::vectors::with_vectors;

/// What training needs of an activation beyond the core's lanes: the whole
/// batch at once, with slopes.
pub trait BatchActivation {
    /// Replaces each weighted sum, to which its bias is still to be added, by
    /// its activation. Where the slope does not follow from that
    /// ([`Activation::derivative_follows_from_value`]), it is kept for the
    /// backward pass.
    fn apply_batch(self, bias: &[f32], values: &mut [f32], slopes: &mut [f32]);

    /// Multiplies derivatives by the slopes, known from what
    /// [`Self::apply_batch`] left.
    fn pull_back_batch(self, values: &[f32], slopes: &[f32], deltas: &mut [f32]);

    /// Variance of the initial weights that keeps the signal's size from layer
    /// to layer: He for the rectifiers, Glorot for tanh.
    fn initial_variance(self, inputs: usize, outputs: usize) -> f64;
}

impl BatchActivation for Activation {
    fn apply_batch(self, bias: &[f32], values: &mut [f32], slopes: &mut [f32]) {
        // The branch stays outside the loops so that they vectorise.
        match self {
            Self::Relu => each(bias, values, |z| if z > 0.0 { z } else { 0.0 }),
            Self::Tanh => each(bias, values, f32::tanh),
            Self::Elu => each(bias, values, |z| if z > 0.0 { z } else { z.exp() - 1.0 }),
            Self::Softplus => each(bias, values, |z| z.max(0.0) + (-z.abs()).exp().ln_1p()),
            Self::Gelu => {
                each(bias, values, |z| z);
                for (value, slope) in values.iter_mut().zip(slopes) {
                    let z = *value;
                    let share = normal_distribution(z);
                    (*value, *slope) = (z * share, share + z * normal_density(z));
                }
            }
            Self::Silu => {
                each(bias, values, |z| z);
                for (value, slope) in values.iter_mut().zip(slopes) {
                    let z = *value;
                    let gate = 1.0 / (1.0 + (-z).exp());
                    (*value, *slope) = (z * gate, gate * (1.0 + z * (1.0 - gate)));
                }
            }
        }
    }

    fn pull_back_batch(self, values: &[f32], slopes: &[f32], deltas: &mut [f32]) {
        match self {
            Self::Relu => scale(deltas, values, |d, y| if y > 0.0 { d } else { 0.0 }),
            Self::Tanh => scale(deltas, values, |d, y| d * (1.0 - y * y)),
            Self::Elu => scale(
                deltas,
                values,
                |d, y| if y > 0.0 { d } else { d * (1.0 + y) },
            ),
            Self::Softplus => scale(deltas, values, |d, y| d * (1.0 - (-y).exp())),
            Self::Silu | Self::Gelu => scale(deltas, slopes, |d, slope| d * slope),
        }
    }

    fn initial_variance(self, inputs: usize, outputs: usize) -> f64 {
        match self {
            Self::Relu | Self::Silu | Self::Elu | Self::Softplus | Self::Gelu => {
                2.0 / inputs as f64
            }
            Self::Tanh => 2.0 / (inputs + outputs) as f64,
        }
    }
}

/// Replaces every number by `activate` of its sum with its unit's bias.
pub fn each(bias: &[f32], values: &mut [f32], activate: impl Fn(f32) -> f32) {
    with_vectors(|| {
        for row in values.chunks_exact_mut(bias.len()) {
            for (value, bias) in row.iter_mut().zip(bias) {
                *value = activate(*value + bias);
            }
        }
    });
}

fn scale(deltas: &mut [f32], by: &[f32], product: impl Fn(f32, f32) -> f32) {
    with_vectors(|| {
        for (delta, by) in deltas.iter_mut().zip(by) {
            *delta = product(*delta, *by);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let case = |activation: Activation, z: f32| {
            let (mut value, mut slope, mut delta) = ([z - 0.5], [0.0], [1.0]);
            activation.apply_batch(&[0.5], &mut value, &mut slope);
            activation.pull_back_batch(&value, &slope, &mut delta);
            (value[0], delta[0])
        };
        assert_eq!(case(Activation::Relu, -1.0), (0.0, 0.0));
        assert_eq!(case(Activation::Relu, 2.0), (2.0, 1.0));
        assert_eq!(case(Activation::Tanh, 0.0), (0.0, 1.0));
        assert_eq!(case(Activation::Silu, 0.0), (0.0, 0.5));
        assert_eq!(case(Activation::Elu, 2.0), (2.0, 1.0));
        assert_eq!(case(Activation::Elu, -200.0), (-1.0, 0.0));
        let (value, slope) = case(Activation::Softplus, 0.0);
        assert!((value - 2.0_f32.ln()).abs() < 1e-6 && (slope - 0.5).abs() < 1e-6);
        assert_eq!(case(Activation::Softplus, 200.0), (200.0, 1.0));
        assert_eq!(case(Activation::Gelu, 0.0), (0.0, 0.5));
        assert_eq!(case(Activation::Gelu, 200.0), (200.0, 1.0));
        // Far out the gate is closed, not NaN.
        assert_eq!(case(Activation::Silu, -200.0), (-0.0, 0.0));
    }
}
