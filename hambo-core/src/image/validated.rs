//! Model, task and policy of an image as they are taken, one part after the other.
//!
//! Each part is read in a function of its own, out of line, which writes it to its final place: one
//! function that held the results of all of them took 26 KB of stack.

use super::adversary_part::add_adversary;
use super::container::Container;
use super::error::{ImageError, Part, Problem};
use super::model_part::parse_model;
use super::part_reader::{PartReader, chained};
use super::policy_part::parse_policy;
use super::task_part::parse_task;
use crate::model::Model;
use crate::numeric::checksum::Checksum;
use crate::policy::{Policy, StoredPolicy};
use crate::task::Task;

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

    /// The same under another name, for tests.
    #[cfg(all(test, feature = "embedded-hal"))]
    pub(super) fn with_hash(self, hash: [u8; 32]) -> Self {
        Self { hash, ..self }
    }

    /// The model, for tests.
    #[cfg(test)]
    pub(super) fn model_mut(&mut self) -> &mut Model<'a> {
        &mut self.model
    }

    /// Adds all of it: what was read, where it lies in memory, and where its numbers lie.
    pub(super) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            model,
            task,
            policy,
            hash,
        } = self;
        model.add_to(sum);
        task.add_to(sum);
        policy.add_to(sum);
        sum.bytes(hash);
    }

    /// SHA-256 over the hashes of all parts in their order.
    pub fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    /// The dynamics and their uncertainty.
    pub fn model(&self) -> &Model<'a> {
        &self.model
    }

    /// What is asked.
    pub fn task(&self) -> &Task<'a> {
        &self.task
    }

    /// The controller under test.
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

/// What was taken so far.
#[derive(Default)]
pub(super) struct Taken<'a> {
    model: Option<Model<'a>>,
    task: Option<Task<'a>>,
    policy: Option<NamedPolicy<'a>>,
    adversaries: u8,
}

/// A controller with the hash of its part.
#[derive(Clone, Debug)]
pub(super) struct NamedPolicy<'a> {
    pub policy: StoredPolicy<'a>,
    pub hash: [u8; 32],
}

/// Parts are taken in their order, so that this is never said.
const EARLIER_MISSING: ImageError = ImageError {
    part: Part::Image,
    problem: Problem::Kind,
};

impl<'a> Taken<'a> {
    /// Takes model, task, policy and adversaries.
    pub fn read(&mut self, parts: &mut PartReader<'a>) -> Result<(), ImageError> {
        self.read_model(parts)?;
        self.read_task(parts)?;
        let task = self.task.as_ref().ok_or(EARLIER_MISSING)?;
        read_policy(parts, task, &mut self.policy)?;
        for _ in 0..self.adversaries {
            self.read_adversary(parts)?;
        }
        Ok(())
    }

    /// Takes another policy for the same task.
    pub fn read_fallback(
        &self,
        parts: &mut PartReader<'a>,
        fallback: &mut Option<NamedPolicy<'a>>,
    ) -> Result<(), ImageError> {
        let task = self.task.as_ref().ok_or(EARLIER_MISSING)?;
        read_policy(parts, task, fallback)
    }

    /// The hash of the controller's part.
    pub fn policy_hash(&self) -> Result<[u8; 32], ImageError> {
        let policy = self.policy.as_ref().ok_or(EARLIER_MISSING)?;
        Ok(policy.hash)
    }

    /// The image of all of them.
    #[inline(always)]
    pub fn image(self, hash: [u8; 32]) -> Result<Image<'a>, ImageError> {
        match self {
            Self {
                model: Some(model),
                task: Some(task),
                policy: Some(named),
                ..
            } => Ok(Image {
                model,
                task,
                policy: named.policy,
                hash,
            }),
            _ => Err(EARLIER_MISSING),
        }
    }

    #[inline(never)]
    fn read_model(&mut self, parts: &mut PartReader<'a>) -> Result<(), ImageError> {
        let part = parts.take(Part::Model)?;
        let model = parse_model(&part).map_err(|problem| Part::Model.error(problem))?;
        self.model = Some(model);
        Ok(())
    }

    #[inline(never)]
    fn read_task(&mut self, parts: &mut PartReader<'a>) -> Result<(), ImageError> {
        let part = parts.take(Part::Task)?;
        let model = self.model.as_ref().ok_or(EARLIER_MISSING)?;
        let (task, adversaries) =
            parse_task(&part, model).map_err(|problem| Part::Task.error(problem))?;
        self.task = Some(task);
        self.adversaries = adversaries;
        Ok(())
    }

    #[inline(never)]
    fn read_adversary(&mut self, parts: &mut PartReader<'a>) -> Result<(), ImageError> {
        let part = parts.take(Part::Adversary)?;
        let (Some(model), Some(task)) = (&self.model, &mut self.task) else {
            return Err(EARLIER_MISSING);
        };
        add_adversary(&part, model, task).map_err(|problem| Part::Adversary.error(problem))
    }
}

/// Takes a controller, which must have the task's sizes.
#[inline(never)]
fn read_policy<'a>(
    parts: &mut PartReader<'a>,
    task: &Task<'_>,
    policy: &mut Option<NamedPolicy<'a>>,
) -> Result<(), ImageError> {
    let part = parts.take(Part::Policy)?;
    let read = parse_policy(&part).map_err(|problem| Part::Policy.error(problem))?;
    if !fits(&read, task) {
        return Err(Part::Policy.error(Problem::Dimension));
    }
    *policy = Some(NamedPolicy {
        policy: read,
        hash: part.hash,
    });
    Ok(())
}
