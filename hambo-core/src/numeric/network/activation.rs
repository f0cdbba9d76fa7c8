//! Activation functions of the hidden layers and their derivatives.

use serde::{Deserialize, Serialize};

use super::blocks::{in_slices, pull_back_in_slices};
use crate::numeric::dense::Dense;
use crate::numeric::elementary::{
    exp, maximum, normal_density, normal_distribution, sigmoid, softplus, tanh,
};
use crate::numeric::slices::Slices;

/// The function between two dense layers.
///
/// ```
/// use hambo_core::numeric::network::Activation;
/// assert_eq!(Activation::Relu.of(-3.0), 0.0);
/// assert_eq!(Activation::Tanh.of(0.0), 0.0);
/// assert!((Activation::Silu.of(10.0) - 10.0).abs() < 1e-3);
/// assert_eq!([Activation::Elu.of(2.0), Activation::Elu.of(-200.0)], [2.0, -1.0]);
/// assert_eq!([200.0, -200.0].map(|x| Activation::Softplus.of(x)), [200.0, 0.0]);
/// assert!((Activation::Gelu.of(1.0) - 0.841_344_7).abs() < 1e-6);
/// assert_eq!(Activation::default(), Activation::Relu);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Activation {
    /// max(x, 0).
    #[default]
    Relu,
    /// tanh(x).
    Tanh,
    /// x · sigmoid(x).
    Silu,
    /// x, or exp(x) − 1 where x is negative.
    Elu,
    /// ln(1 + exp(x)).
    Softplus,
    /// x · Phi(x) with the distribution function of the standard normal.
    Gelu,
}

impl Activation {
    /// Whether the derivative follows from the value after the activation, so
    /// that the value before it need not be kept.
    pub fn derivative_follows_from_value(self) -> bool {
        match self {
            Self::Relu | Self::Tanh | Self::Elu | Self::Softplus => true,
            Self::Silu | Self::Gelu => false,
        }
    }

    /// The activation of one number.
    pub fn of(self, x: f32) -> f32 {
        match self {
            Self::Relu => relu(x),
            Self::Tanh => tanh(x),
            Self::Silu => x * sigmoid(x),
            Self::Elu => elu(x),
            Self::Softplus => softplus(x),
            Self::Gelu => x * normal_distribution(x),
        }
    }

    /// `output = activation(W input + b)`; `None` if it was stopped.
    pub(super) fn after<const B: usize>(
        self,
        layer: &Dense<'_>,
        input: &[[f32; B]],
        output: &mut [[f32; B]],
        slices: &Slices<'_>,
    ) -> Option<()> {
        in_slices(layer, output, slices, |layer, output| match self {
            Self::Relu => layer.forward_through(relu, input, output),
            Self::Tanh | Self::Silu | Self::Elu | Self::Softplus | Self::Gelu => {
                layer.forward(input, output);
                for y in output.as_flattened_mut() {
                    *y = self.of(*y);
                }
            }
        })
    }

    /// The derivative in what went into the activation, in `cotangent`, from
    /// that in the outputs of the layer after it. `kept` holds the values
    /// after the activation if [`Self::derivative_follows_from_value`], else
    /// those before it. `None` if it was stopped.
    pub(super) fn pull_back_through<const B: usize>(
        self,
        layer: &Dense<'_>,
        kept: &[[f32; B]],
        outputs: &[[f32; B]],
        cotangent: &mut [[f32; B]],
        slices: &Slices<'_>,
    ) -> Option<()> {
        let rectified = match self {
            Self::Relu => kept,
            Self::Tanh | Self::Silu | Self::Elu | Self::Softplus | Self::Gelu => &[],
        };
        pull_back_in_slices(layer, rectified, outputs, cotangent, slices)?;
        self.pull_back(kept, cotangent);
        Some(())
    }

    /// Multiplies `cotangent` by the derivative.
    fn pull_back<const B: usize>(self, kept: &[[f32; B]], cotangent: &mut [[f32; B]]) {
        let (kept, cotangent) = (kept.as_flattened(), cotangent.as_flattened_mut());
        let pairs = kept.iter().zip(cotangent);
        match self {
            Self::Relu => pairs.for_each(|(y, c)| *c = if *y > 0.0 { *c } else { 0.0 }),
            Self::Tanh => pairs.for_each(|(y, c)| *c *= 1.0 - *y * *y),
            Self::Silu => pairs.for_each(|(x, c)| {
                let s = sigmoid(*x);
                *c *= s * (1.0 + *x * (1.0 - s));
            }),
            Self::Gelu => pairs.for_each(|(x, c)| {
                *c *= normal_distribution(*x) + *x * normal_density(*x);
            }),
            // exp(x) is one more than the value.
            Self::Elu => pairs.for_each(|(y, c)| *c *= if *y > 0.0 { 1.0 } else { 1.0 + *y }),
            // sigmoid(x), by exp(−value) = 1 / (1 + exp(x)).
            Self::Softplus => pairs.for_each(|(y, c)| *c *= 1.0 - exp(-*y)),
        }
    }
}

fn relu(x: f32) -> f32 {
    maximum(x, 0.0)
}

/// A NaN stays one.
fn elu(x: f32) -> f32 {
    if x > 0.0 { x } else { exp(x) - 1.0 }
}
