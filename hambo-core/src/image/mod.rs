//! Bytes to a validated model, task and policy: what the paper's algorithm 1
//! takes as given.
//!
//! An image is a row of parts: model, task, policy, and adversaries that were
//! trained or found elsewhere, as many as the task says. Each part is a container of its own ([`container`]),
//! so that a new controller can arrive alone. Only [`Image::parse`] and [`Image::parse_prefix`] make
//! an [`Image`]; any wrong byte is an [`ImageError`].
//!
//! The readers of parts stay out of line: their working copies leave the
//! stack when they return.

mod adversary_part;
mod arena;
mod bundle;
#[cfg(test)]
mod checksum_tests;
pub mod container;
mod error;
mod gaussian_process_part;
#[cfg(test)]
mod manifest_tests;
mod model_part;
mod part_reader;
mod policy_part;
pub(crate) mod rehash;
mod signature;
mod task_part;
mod validated;

pub use adversary_part::{AdversaryKind, AdversaryManifest};
pub use bundle::{Bundle, BundleManifest, MonitorSettings, Name};
pub use error::{ImageError, Part, Problem};
pub use gaussian_process_part::{GaussianProcessManifest, GroupedGaussianProcessManifest};
pub use model_part::{
    DynamicsManifest, EnsembleManifest, ModelManifest, NoiseManifest, PRIOR_ACTIVATION, parse_model,
};
pub use part_reader::PartHashes;
pub use policy_part::{
    ActionManifest, LinearManifest, MixedManifest, ObservedManifest, ObserverManifest,
    PerceptronManifest, PolicyManifest, parse_policy,
};
pub use signature::{MESSAGE, Role, SignatureManifest, Signed, message};
pub use task_part::TaskManifest;
pub use validated::Image;
pub(crate) use validated::fits;
