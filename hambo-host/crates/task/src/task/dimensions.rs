//! Whether a log has as many states and actions as the task names.

use hambo_base::error::Explained;

use super::task_file::TaskFile;

/// A log of another system than the task's.
#[derive(Debug, thiserror::Error)]
#[error(
    "the log's rows have {found} {part} numbers, the task names {expected}; choose the task of this log"
)]
pub struct OtherDimensions {
    part: &'static str,
    found: usize,
    expected: usize,
}

impl Explained for OtherDimensions {}

impl TaskFile {
    /// Compares the lengths of a log's states and actions with the task's.
    pub fn check_dimensions(&self, states: usize, actions: usize) -> Result<(), OtherDimensions> {
        for (part, found, expected) in [
            ("state", states, self.state_names.len()),
            ("action", actions, self.action_names.len()),
        ] {
            if found != expected {
                return Err(OtherDimensions {
                    part,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }
}
