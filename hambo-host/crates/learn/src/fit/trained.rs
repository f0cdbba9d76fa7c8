//! A model between training and calibration.

use hambo_base::Error;
use hambo_data::LogPart;
use hambo_task::image::Uncertainty;

pub use crate::calibration::outcome::Beta;

/// A model that is trained but not calibrated.
pub(super) struct Trained {
    pub(super) summary: crate::model_file::TrainingSummary,
    pub(super) beta: Beta,
    /// Rows that decided when to stop.
    pub(super) validation: Option<LogPart>,
    pub(super) encode: Encode,
}

/// Writes a model part with an uncertainty.
pub(super) type Encode = Box<dyn Fn(&Uncertainty) -> Result<Vec<u8>, Error>>;
