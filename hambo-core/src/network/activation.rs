//! Activation functions of the hidden layers and their derivatives.

use serde::{Deserialize, Serialize};

use crate::arithmetic::elementary::{hyperbolic_tangent, maximum, sigmoid};

/// The function between two dense layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Activation {
    /// max(x, 0).
    #[default]
    Relu,
    /// tanh(x).
    Tanh,
    /// x · sigmoid(x).
    Silu,
}

impl Activation {
    /// Writes the activations of `before` to `after`.
    pub fn apply<const B: usize>(self, before: &[[f32; B]], after: &mut [[f32; B]]) {
        match self {
            Self::Relu => map(before, after, |x| maximum(x, 0.0)),
            Self::Tanh => map(before, after, hyperbolic_tangent),
            Self::Silu => map(before, after, |x| x * sigmoid(x)),
        }
    }

    /// Multiplies `cotangent` by the derivative at `before`.
    pub fn pull_back<const B: usize>(self, before: &[[f32; B]], cotangent: &mut [[f32; B]]) {
        match self {
            Self::Relu => scale(before, cotangent, |x| if x > 0.0 { 1.0 } else { 0.0 }),
            Self::Tanh => scale(before, cotangent, |x| {
                let y = hyperbolic_tangent(x);
                1.0 - y * y
            }),
            Self::Silu => scale(before, cotangent, |x| {
                let s = sigmoid(x);
                s * (1.0 + x * (1.0 - s))
            }),
        }
    }
}

fn map<const B: usize>(from: &[[f32; B]], to: &mut [[f32; B]], f: impl Fn(f32) -> f32) {
    for (from, to) in from.iter().zip(to) {
        for (x, y) in from.iter().zip(to) {
            *y = f(*x);
        }
    }
}

fn scale<const B: usize>(at: &[[f32; B]], rows: &mut [[f32; B]], f: impl Fn(f32) -> f32) {
    for (at, row) in at.iter().zip(rows) {
        for (x, y) in at.iter().zip(row) {
            *y *= f(*x);
        }
    }
}
