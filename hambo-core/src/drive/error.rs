//! Why nothing drives.

use super::monitor::MonitorError;
use crate::numeric::{CapacityError, ParameterError};

/// Why nothing drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum DriveError {
    /// A setting is out of its range.
    Parameter(ParameterError),
    /// Too few rows were lent.
    Capacity(CapacityError),
    /// The permit names another bundle, controller or fallback.
    NotPermitted,
    /// The bundle does not say when the monitor trips.
    NoMonitor,
    /// The fallback has other sizes than the task.
    Fallback,
    /// Nobody measures this state, and the task does not say how it moves.
    NotMeasured(u16),
}

impl From<MonitorError> for DriveError {
    fn from(error: MonitorError) -> Self {
        match error {
            MonitorError::Parameter(error) => Self::Parameter(error),
            MonitorError::Capacity(error) => Self::Capacity(error),
        }
    }
}
