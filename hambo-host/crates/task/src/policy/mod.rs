//! Policies on the host: the policy file (TOML or [ONNX](onnx)), and the weights that it
//! is read into.
//!
//! [`crate::image::encode_policy`] turns any of them into the bytes that the core
//! reads; only the core evaluates them.

mod error;
pub mod find;
mod foreign;
mod format;
pub(crate) mod host_policy;
mod learned_reward;
mod network_keys;
pub(crate) mod observes;
pub mod onnx;
mod onnx_error;
mod read;
#[cfg(test)]
mod tests;

pub use error::PolicyError;
pub use hambo_core::policy::{Head, Leg, Spread, Waypoints};
pub use host_policy::{
    ActionMap, HostPolicy, LinearPolicy, ObservedPolicy, Observer, PerceptronPolicy,
};
pub use learned_reward::for_task;
pub use learned_reward::without_return;
pub use onnx_error::OnnxError;
