//! What a model says about rows that it was not trained on: by the core, from
//! the very bytes that go into a file.

use hambo_core::image::container::Container;
use hambo_core::image::{Part, parse_model};
use hambo_core::model::Calibration;

use crate::Error;
use crate::formats::image::{AlignedBytes, Uncertainty};
use crate::formats::log::Log;
use crate::formats::task::Wrap;
use crate::learn::calibration::WithheldDimension;
use crate::learn::prediction::predict;

/// Predictions and observations, state by state.
pub(super) struct Evidence {
    columns: Vec<[Vec<f32>; 4]>,
}

impl Evidence {
    /// Of a model part on the rows of a log. What wraps was observed on the prediction's
    /// own turn.
    ///
    /// # Errors
    /// If the core refuses the part.
    pub(super) fn new(model_part: &[u8], log: &Log, wraps: &[Option<Wrap>]) -> Result<Self, Error> {
        let bytes = AlignedBytes::new(model_part);
        let part = Container::take(&mut bytes.as_bytes(), Part::Model)?;
        let predictions = predict(&parse_model(&part)?, log);
        let dimension = log.state_dimension();
        let column = |numbers: &[f32], j: usize| -> Vec<f32> {
            numbers.iter().skip(j).step_by(dimension).copied().collect()
        };
        let next_states: Vec<f32> = log
            .rows()
            .flat_map(|row| row.next_state.iter().copied())
            .collect();
        let columns = (0..dimension).map(|j| {
            let mean = column(&predictions.mean, j);
            let mut observed = column(&next_states, j);
            if let Some(Some(wrap)) = wraps.get(j) {
                for (observed, mean) in observed.iter_mut().zip(&mean) {
                    *observed = wrap.next_to(*observed, *mean);
                }
            }
            [
                mean,
                column(&predictions.epistemic_std, j),
                column(&predictions.aleatoric_std, j),
                observed,
            ]
        });
        Ok(Self {
            columns: columns.collect(),
        })
    }

    /// As calibration takes them.
    pub(super) fn dimensions(&self) -> Vec<WithheldDimension<'_>> {
        let columns = self.columns.iter();
        columns
            .map(
                |[mean, epistemic_std, aleatoric_std, observed]| WithheldDimension {
                    mean,
                    epistemic_std,
                    aleatoric_std,
                    observed,
                },
            )
            .collect()
    }
}

/// The set before calibration: one standard deviation, and no limits.
pub(super) fn uncalibrated(log: &Log) -> Uncertainty {
    let columns = log.state_dimension() + log.action_dimension();
    Uncertainty {
        beta: 1.0,
        calibration_scale: vec![1.0; log.state_dimension()],
        calibration: Calibration::TooFewRows,
        support_low: vec![f32::MIN; columns],
        support_high: vec![f32::MAX; columns],
    }
}
