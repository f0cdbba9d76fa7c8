//! Task and model as the core reads them, for whoever replays a log: its actions are there.

use hambo_core::task::Effort;

use hambo_base::Error;
use hambo_task::image::{Adversaries, AlignedBytes, encode_image_with, encode_policy};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

/// An image with a controller that is never asked.
///
/// # Errors
/// If task and model do not fit together.
pub fn image_without_controller(
    task: &TaskFile,
    model_part: &[u8],
    effort: Effort,
) -> Result<AlignedBytes, Error> {
    let idle = HostPolicy::zero(task.state_names.len(), task.action_names.len());
    image_with_controller(task, model_part, &idle, effort)
}

/// An image with the controller that made a log.
///
/// # Errors
/// If task, model and controller do not fit together.
pub fn image_with_controller(
    task: &TaskFile,
    model_part: &[u8],
    controller: &HostPolicy,
    effort: Effort,
) -> Result<AlignedBytes, Error> {
    // A start for a task that takes its starts from a log; rows have their own.
    let start = vec![0.0; task.state_names.len()];
    let bytes = encode_image_with(
        model_part,
        task,
        effort,
        &start,
        &encode_policy(controller)?,
        &Adversaries::default(),
    )?;
    Ok(AlignedBytes::new(&bytes))
}
