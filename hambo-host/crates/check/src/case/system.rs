//! A model, a task and a controller, ready to be rolled out.

use hambo_core::image::Image;
use hambo_core::model::Model;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::Rollout;
use hambo_core::task::InitialKind;
use hambo_core::task::Objective;
use hambo_core::task::Task;
use hambo_core::task::Variant;

/// The parts of an image. Its task may be changed without encoding the image again.
#[derive(Clone, Debug)]
pub struct System<'a> {
    /// The dynamics and their uncertainty.
    pub model: &'a Model<'a>,
    /// What is asked, with the adversaries that are tried.
    pub task: Task<'a>,
    /// The controller under test.
    pub policy: &'a StoredPolicy<'a>,
}

impl<'a> From<&'a Image<'a>> for System<'a> {
    fn from(image: &'a Image<'a>) -> Self {
        Self {
            model: image.model(),
            task: image.task().clone(),
            policy: image.policy(),
        }
    }
}

impl System<'_> {
    /// The rollout of an objective under a variant.
    #[must_use]
    pub fn rollout(&self, variant: Variant, objective: Objective) -> Rollout<'_, StoredPolicy<'_>> {
        Rollout {
            model: self.model,
            policy: self.policy,
            task: &self.task,
            variant,
            objective,
        }
    }

    /// Initial states that each need the whole number of trajectories.
    #[must_use]
    pub fn starts_of_their_own(&self) -> u32 {
        match self.task.initial.kind {
            InitialKind::Worst => self.task.initial.listed(self.task.state_dimension()) as u32,
            _ => 1,
        }
    }
}
