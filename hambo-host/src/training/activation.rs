//! The activation functions and their slopes.

use hambo_core::network::Activation;

/// What training needs of an activation beyond the core's lanes: the whole
/// batch at once, with slopes.
pub(super) trait BatchActivation {
    /// Replaces each weighted sum by its activation and keeps the slope there
    /// for the backward pass.
    fn apply_batch(self, values: &mut [f32], slopes: &mut [f32]);

    /// Variance of the initial weights that keeps the signal's size from layer
    /// to layer: He for the rectifiers, Glorot for tanh.
    fn initial_variance(self, inputs: usize, outputs: usize) -> f64;
}

impl BatchActivation for Activation {
    fn apply_batch(self, values: &mut [f32], slopes: &mut [f32]) {
        // The branch stays outside the loop so that the loop vectorises.
        match self {
            Self::Relu => each(
                values,
                slopes,
                |z| {
                    if z > 0.0 { (z, 1.0) } else { (0.0, 0.0) }
                },
            ),
            Self::Tanh => each(values, slopes, |z| {
                let y = z.tanh();
                (y, 1.0 - y * y)
            }),
            Self::Silu => each(values, slopes, |z| {
                let gate = 1.0 / (1.0 + (-z).exp());
                (z * gate, gate * (1.0 + z * (1.0 - gate)))
            }),
        }
    }

    fn initial_variance(self, inputs: usize, outputs: usize) -> f64 {
        match self {
            Self::Relu | Self::Silu => 2.0 / inputs as f64,
            Self::Tanh => 2.0 / (inputs + outputs) as f64,
        }
    }
}

fn each(values: &mut [f32], slopes: &mut [f32], activate: impl Fn(f32) -> (f32, f32)) {
    for (value, slope) in values.iter_mut().zip(slopes) {
        (*value, *slope) = activate(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let case = |activation: Activation, z: f32| {
            let (mut value, mut slope) = ([z], [0.0]);
            activation.apply_batch(&mut value, &mut slope);
            (value[0], slope[0])
        };
        assert_eq!(case(Activation::Relu, -1.0), (0.0, 0.0));
        assert_eq!(case(Activation::Relu, 2.0), (2.0, 1.0));
        assert_eq!(case(Activation::Tanh, 0.0), (0.0, 1.0));
        assert_eq!(case(Activation::Silu, 0.0), (0.0, 0.5));
        // Far out the gate is closed, not NaN.
        assert_eq!(case(Activation::Silu, -200.0), (-0.0, 0.0));
    }
}
