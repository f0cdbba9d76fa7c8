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
pub mod container;
mod error;
mod gaussian_process_part;
#[cfg(test)]
mod manifest_tests;
mod model_part;
mod part_reader;
mod policy_part;
mod taken;
mod task_part;

use adversary_part::add_adversary;
pub use adversary_part::{AdversaryKind, AdversaryManifest};
pub use bundle::{Bundle, BundleManifest, MAX_PARTS, MonitorSettings, Name, PartHashes};
pub use error::{ImageError, Part, Problem};
pub use gaussian_process_part::{GaussianProcessManifest, GroupedGaussianProcessManifest};
pub use model_part::{
    DynamicsManifest, EnsembleManifest, ModelManifest, PRIOR_ACTIVATION, parse_model,
};
pub use policy_part::{
    ActionManifest, LinearManifest, MixedManifest, ObservedManifest, ObserverManifest,
    PerceptronManifest, PolicyManifest, parse_policy,
};
use taken::Taken;
pub use task_part::TaskManifest;

use crate::model::Model;
use crate::policy::{Policy, StoredPolicy};
use crate::task::Task;
use container::Container;
use part_reader::{PartReader, chained};

/// A model, a task and a policy that fit together. Only bytes make one: what
/// an image holds is what its checksums were computed over.
///
/// ```
/// use hambo_core::image::{Image, Part, Problem};
/// // What the host wrote is read from flash; here, a region of zeros.
/// static FLASH: [u128; 8] = [0; 8];
/// let error = Image::parse_prefix(bytemuck::cast_slice(&FLASH)).map(|_| ()).unwrap_err();
/// assert_eq!((error.part, error.problem), (Part::Model, Problem::Magic));
/// ```
#[derive(Clone, Debug)]
pub struct Image<'a> {
    model: Model<'a>,
    task: Task<'a>,
    policy: StoredPolicy<'a>,
    hash: [u8; 32],
}

impl<'a> Image<'a> {
    /// Reads an image that fills `bytes`, such as a file.
    ///
    /// # Errors
    /// If any byte is wrong, missing or too many.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ImageError> {
        let mut rest = bytes;
        let image = Self::parse_parts(&mut rest)?;
        if rest.is_empty() {
            Ok(image)
        } else {
            Err(Part::Image.error(Problem::TrailingBytes))
        }
    }

    /// Reads an image from the start of `bytes`, such as a region of flash;
    /// what follows the image does not count.
    ///
    /// # Errors
    /// If any byte of the image is wrong or missing.
    pub fn parse_prefix(bytes: &'a [u8]) -> Result<Self, ImageError> {
        Self::parse_parts(&mut { bytes })
    }

    #[inline(never)]
    fn parse_parts(bytes: &mut &'a [u8]) -> Result<Self, ImageError> {
        let mut parts = PartReader::new(bytes);
        let mut taken = Taken::default();
        taken.read(&mut parts)?;
        let (hash, rest) = parts.finish()?;
        *bytes = rest;
        taken.image(hash)
    }

    /// An image of parts that fit together; for the example of this crate.
    #[inline(always)]
    pub(crate) fn of(model: Model<'a>, task: Task<'a>, policy: StoredPolicy<'a>) -> Self {
        Self {
            model,
            task,
            policy,
            hash: [0; 32],
        }
    }

    /// SHA-256 over the hashes of all parts in their order.
    #[must_use]
    pub fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    /// The dynamics and their uncertainty.
    #[must_use]
    pub fn model(&self) -> &Model<'a> {
        &self.model
    }

    /// What is asked.
    #[must_use]
    pub fn task(&self) -> &Task<'a> {
        &self.task
    }

    /// The controller under test.
    #[must_use]
    pub fn policy(&self) -> &StoredPolicy<'a> {
        &self.policy
    }

    /// The same model and task under another controller, whose part came alone.
    ///
    /// # Errors
    /// If any byte of the part is wrong, or the controller is one of other sizes.
    pub fn with_policy(&self, part: &'a [u8]) -> Result<Self, ImageError> {
        let part = Container::take(&mut { part }, Part::Policy)?;
        Ok(Self {
            policy: policy_of(&part, &self.task)?,
            hash: chained(&self.hash, &part.hash),
            ..self.clone()
        })
    }

    /// The same model and task under another controller of theirs, such as a bundle's
    /// fallback. The hash stays: it is that of the bytes.
    #[must_use]
    pub fn with_policy_of(&self, policy: &StoredPolicy<'a>) -> Self {
        Self {
            policy: policy.clone(),
            ..self.clone()
        }
    }

    /// The same model, task and controller with one adversary more, whose part
    /// came alone.
    ///
    /// # Errors
    /// If any byte of the part is wrong, the adversary is one of other sizes, or there
    /// is no room for it.
    pub fn with_adversary(&self, part: &'a [u8]) -> Result<Self, ImageError> {
        let part = Container::take(&mut { part }, Part::Adversary)?;
        let mut image = self.clone();
        add_adversary(&part, &self.model, &mut image.task)
            .map_err(|problem| Part::Adversary.error(problem))?;
        image.hash = chained(&self.hash, &part.hash);
        Ok(image)
    }
}

/// The controller of a part, which must have the task's sizes.
fn policy_of<'a>(part: &Container<'a>, task: &Task<'_>) -> Result<StoredPolicy<'a>, ImageError> {
    let policy = parse_policy(part).map_err(|problem| Part::Policy.error(problem))?;
    if fits(&policy, task) {
        Ok(policy)
    } else {
        Err(Part::Policy.error(Problem::Dimension))
    }
}

/// Whether a controller has the task's sizes.
pub(crate) fn fits(policy: &StoredPolicy<'_>, task: &Task<'_>) -> bool {
    let states = task.state_dimension();
    let sees = match policy {
        // A place is the first states.
        StoredPolicy::Waypoints(policy) => policy.state_dimension() <= states,
        others => others.state_dimension() == states,
    };
    sees && policy.action_dimension() == task.action_limits.low.len()
}
