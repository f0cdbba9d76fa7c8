//! What a drive is told beside the image.

use crate::monitor::MonitorSettings;

/// What a drive is told beside the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveSettings {
    /// When the monitor trips.
    pub monitor: MonitorSettings,
    /// The first so many states are measured; those after them, such as what a
    /// controller remembers, are computed by the task's known physics.
    pub measured: usize,
    /// The seed of the chance in a controller that has some.
    pub seed: u64,
}
