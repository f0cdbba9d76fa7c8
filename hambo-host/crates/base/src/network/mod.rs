//! Multilayer perceptrons of the host: their layers, forward and backward passes,
//! initial weights, Adam, and the units of what goes in and comes out.
//!
//! Ensembles, soft actor-critic and double DQN train with these; files and images
//! hold the [`Layer`]s. Predictions of the product come from the core.

mod activation;
pub mod adam;
pub mod initial;
mod layer;
pub mod perceptron;
pub mod reference;
pub mod standardisation;
pub mod vectors;

pub use hambo_core::numeric::network::Activation;
pub use initial::Initial;
pub use layer::{Layer, pack, unpack};
pub use standardisation::Standardisation;
