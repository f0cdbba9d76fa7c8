//! What is judged: a model, a task and a controller, ready to become an image.

use hambo_core::task::Effort;

use crate::Error;
use crate::formats::image::{AlignedBytes, TrainedAdversary, encode_image_with};
use crate::formats::log::Log;
use crate::formats::task::TaskFile;

/// The parts of an image.
#[derive(Clone, Debug)]
pub struct Case {
    /// The model's part.
    pub model_part: Vec<u8>,
    /// The task.
    pub task: TaskFile,
    /// Trajectories, sweeps of the search, seed.
    pub effort: Effort,
    /// Initial states, one after the other, for a task that takes them from
    /// its data.
    pub initial: Vec<f32>,
    /// The controller's part.
    pub policy_part: Vec<u8>,
}

/// The first state of every episode of a log, one after the other.
#[must_use]
pub fn first_states(log: &Log) -> Vec<f32> {
    let mut last = None;
    log.rows()
        .filter(|row| last.replace(row.episode) != Some(row.episode))
        .flat_map(|row| row.state.to_vec())
        .collect()
}

impl Case {
    /// The image with these trained adversaries.
    ///
    /// # Errors
    /// If a size does not fit the format.
    pub fn image(&self, adversaries: &[TrainedAdversary]) -> Result<AlignedBytes, Error> {
        let bytes = encode_image_with(
            &self.model_part,
            &self.task,
            self.effort,
            &self.initial,
            &self.policy_part,
            adversaries,
        )?;
        Ok(AlignedBytes::new(&bytes))
    }
}
