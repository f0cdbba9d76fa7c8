//! Multilayer perceptrons: members of an ensemble (h_theta and nu_theta of
//! equation (5)), controllers, adversaries.
//!
//! `NetworkShape` is apart from the weights, so that the members of an
//! ensemble share it; `Perceptrons` has weights and scratch. What the
//! derivatives of the activations need is kept for the way back.

mod activation;
mod blocks;
mod perceptrons;
mod shape;
#[cfg(test)]
mod tests;

pub use activation::Activation;
pub(crate) use perceptrons::Perceptrons;
pub use shape::MAX_HIDDEN_LAYERS;
pub(crate) use shape::NetworkShape;
