//! From a log to a calibrated model: withhold, train, calibrate.

use hambo_core::image::container::Container;
use hambo_core::image::{Part, parse_model};
use hambo_core::model::Calibration as CoreCalibration;
use sha2::{Digest, Sha256};

use crate::Error;
use crate::calibration::{
    Beta, Calibration, CalibrationMode, CalibrationOptions, CalibrationStatus, Intervals,
    WithheldDimension, calibrate,
};
use crate::data::{Log, Split};
use crate::image_file::{AlignedBytes, Uncertainty, encode_ensemble};
use crate::model_file::{ModelFile, Provenance};
use crate::prediction::{Predictions, predict};
use crate::training::{EnsembleOptions, TrainingSet, train_ensemble};

/// How a model is made from a log.
#[derive(Clone, Debug, PartialEq)]
pub struct FitOptions {
    /// The ensemble and its training.
    pub ensemble: EnsembleOptions,
    /// The share of rows, in whole episodes, that calibration gets.
    pub withheld_share: f64,
    /// What calibration may do.
    pub calibration: CalibrationMode,
    /// How far beyond the data the support box reaches, in units of the
    /// data's range.
    pub support_margin: f32,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            ensemble: EnsembleOptions::default(),
            withheld_share: 0.2,
            calibration: CalibrationMode::Widen,
            support_margin: 0.5,
        }
    }
}

/// Trains an ensemble and calibrates it.
///
/// # Errors
/// If the log is too small, training diverges or the model does not fit the
/// format.
pub fn fit(log: &Log, options: &FitOptions) -> Result<(ModelFile, Calibration), Error> {
    let seed = options.ensemble.seed;
    let Split { kept, withheld, .. } = Split::new(log, options.withheld_share, seed);
    let inputs = inputs(&kept);
    let targets: Vec<f32> = kept
        .rows()
        .flat_map(|row| {
            let differences = row.next_state.iter().zip(row.state);
            differences.map(|(next, state)| next - state)
        })
        .collect();
    let set = TrainingSet {
        inputs: &inputs,
        input_columns: log.state_dimension() + log.action_dimension(),
        targets: &targets,
        target_columns: log.state_dimension(),
    };
    let ensemble = train_ensemble(&set, &options.ensemble)?;

    // Calibration sees what the core predicts, from the very bytes that go
    // into the file.
    let (support_low, support_high) = support(log, options.support_margin);
    let mut uncertainty = Uncertainty {
        beta: 1.0,
        calibration_scale: vec![1.0; log.state_dimension()],
        calibration: CoreCalibration::TooFewRows,
        support_low,
        support_high,
    };
    let bytes = AlignedBytes::new(&encode_ensemble(&ensemble, &uncertainty)?);
    let part = Container::take(&mut bytes.as_bytes(), Part::Model)?;
    let model = parse_model(&part)?;
    let calibration = calibrate_on(&predict(&model, &withheld), &withheld, options)?;

    uncertainty.beta = calibration.beta;
    uncertainty.calibration_scale = calibration.scales();
    uncertainty.calibration = match calibration.status {
        CalibrationStatus::Calibrated => CoreCalibration::Passed,
        CalibrationStatus::TooFewRows { .. } => CoreCalibration::TooFewRows,
        CalibrationStatus::Failed { .. } => CoreCalibration::Failed,
    };
    let column = |get: fn(&crate::calibration::DimensionCalibration) -> f32| {
        calibration.dimensions.iter().map(get).collect()
    };
    let provenance = Provenance {
        hambo_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        data_hash: Sha256::digest(log.bytes()).into(),
        training_rows: kept.len() as u32,
        withheld_rows: withheld.len() as u32,
        losses: ensemble.losses.clone(),
        best_scale: column(|dimension| dimension.best_scale),
        error_before: column(|dimension| dimension.error_before),
        error_after: column(|dimension| dimension.error_after),
        coverage: calibration.joint_epistemic_coverage,
    };
    let file = ModelFile::new(provenance, &encode_ensemble(&ensemble, &uncertainty)?)?;
    Ok((file, calibration))
}

fn inputs(log: &Log) -> Vec<f32> {
    let rows = log.rows();
    rows.flat_map(|row| row.state.iter().chain(row.action).copied())
        .collect()
}

/// The box around all states and actions, widened on every side.
fn support(log: &Log, margin: f32) -> (Vec<f32>, Vec<f32>) {
    let columns = log.state_dimension() + log.action_dimension();
    let mut low = vec![f32::INFINITY; columns];
    let mut high = vec![f32::NEG_INFINITY; columns];
    for row in inputs(log).chunks_exact(columns) {
        for ((low, high), x) in low.iter_mut().zip(&mut high).zip(row) {
            *low = low.min(*x);
            *high = high.max(*x);
        }
    }
    for (low, high) in low.iter_mut().zip(&mut high) {
        let room = (*high - *low) * margin;
        *low -= room;
        *high += room;
    }
    (low, high)
}

fn calibrate_on(
    predictions: &Predictions,
    withheld: &Log,
    options: &FitOptions,
) -> Result<Calibration, Error> {
    let dimension = withheld.state_dimension();
    let column = |numbers: &[f32], j: usize| -> Vec<f32> {
        numbers.iter().skip(j).step_by(dimension).copied().collect()
    };
    let next_states: Vec<f32> = withheld
        .rows()
        .flat_map(|row| row.next_state.iter().copied())
        .collect();
    let columns: Vec<[Vec<f32>; 4]> = (0..dimension)
        .map(|j| {
            [
                column(&predictions.mean, j),
                column(&predictions.epistemic_std, j),
                column(&predictions.aleatoric_std, j),
                column(&next_states, j),
            ]
        })
        .collect();
    let withheld: Vec<WithheldDimension<'_>> = columns
        .iter()
        .map(
            |[mean, epistemic_std, aleatoric_std, observed]| WithheldDimension {
                mean,
                epistemic_std,
                aleatoric_std,
                observed,
            },
        )
        .collect();
    Ok(calibrate(
        &withheld,
        &CalibrationOptions {
            mode: options.calibration,
            intervals: Intervals::OneSided,
            beta: Beta::Nested {
                members: options.ensemble.members,
            },
        },
    )?)
}
