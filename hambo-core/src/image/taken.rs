//! The parts of an image as they are taken, one after the other.
//!
//! Each is read in a function of its own, out of line, and kept where it stays: one function
//! that held the results of all of them took 26 KB of stack.

use super::adversary_part::add_adversary;
use super::model_part::parse_model;
use super::part_reader::PartReader;
use super::policy_part::parse_policy;
use super::task_part::parse_task;
use super::{Image, ImageError, Part, Problem, fits};
use crate::model::Model;
use crate::policy::StoredPolicy;
use crate::task::Task;

/// What was taken so far.
#[derive(Default)]
pub(super) struct Taken<'a> {
    model: Option<Model<'a>>,
    task: Option<Task<'a>>,
    policy: Option<StoredPolicy<'a>>,
    adversaries: u8,
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
        fallback: &mut Option<StoredPolicy<'a>>,
    ) -> Result<(), ImageError> {
        let task = self.task.as_ref().ok_or(EARLIER_MISSING)?;
        read_policy(parts, task, fallback)
    }

    /// The image of all of them.
    #[inline(always)]
    pub fn image(self, hash: [u8; 32]) -> Result<Image<'a>, ImageError> {
        match self {
            Self {
                model: Some(model),
                task: Some(task),
                policy: Some(policy),
                ..
            } => Ok(Image {
                model,
                task,
                policy,
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
    policy: &mut Option<StoredPolicy<'a>>,
) -> Result<(), ImageError> {
    let part = parts.take(Part::Policy)?;
    let read = parse_policy(&part).map_err(|problem| Part::Policy.error(problem))?;
    if !fits(&read, task) {
        return Err(Part::Policy.error(Problem::Dimension));
    }
    *policy = Some(read);
    Ok(())
}
