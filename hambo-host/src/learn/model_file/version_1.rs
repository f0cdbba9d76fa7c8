//! Model files of version 1, which are read for ever.

use serde::{Deserialize, Serialize};

use super::{DataSummary, Metadata, NetworkSummary, TrainingSummary};
use crate::learn::calibration::CalibrationMode;

/// What version 1 said about a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Provenance {
    hambo_version: String,
    seed: u64,
    data_hash: [u8; 32],
    training_rows: u32,
    withheld_rows: u32,
    losses: Vec<f32>,
    best_scale: Vec<f32>,
    error_before: Vec<f32>,
    error_after: Vec<f32>,
    coverage: f32,
}

impl From<Provenance> for Metadata {
    fn from(old: Provenance) -> Self {
        let (training_rows, withheld_rows) =
            (old.training_rows as usize, old.withheld_rows as usize);
        Self {
            hambo_version: old.hambo_version,
            seed: old.seed,
            data: DataSummary {
                hash: old.data_hash,
                rows: training_rows + withheld_rows,
                training_rows,
                validation_rows: 0,
                withheld_rows,
                split_by_episodes: true,
            },
            state_names: Vec::new(),
            action_names: Vec::new(),
            training: TrainingSummary::Networks(NetworkSummary {
                options: None,
                losses: old.losses,
                validation_loss: None,
                best_step: 0,
            }),
            calibration_mode: CalibrationMode::Widen,
            calibration: None,
        }
    }
}
