//! Calibration of a trained model, with a larger width where a few rows in one place ask for it.

use super::Rows;
use super::evidence::Evidence;
use super::trained::Trained;
use crate::calibration::calibrate::calibrate_shown;
use crate::calibration::local_width::find;
use crate::calibration::outcome::{
    CalibrationMode, CalibrationOptions, CalibrationStatus, ModelCalibration,
};
use crate::calibration::pools::KeptRows;
use hambo_base::Error;
use hambo_data::LogPart;
use hambo_task::image::Uncertainty;
use hambo_task::task::ModelView;

/// The factor by which regions must make the scale of some state smaller to be kept.
const GAIN: f32 = 2.0;

/// What the withheld rows say of a model.
pub(super) struct Calibrated {
    pub(super) calibration: ModelCalibration,
    /// The rows that judged, as predicted and observed.
    pub(super) judging: Evidence,
    /// The same without what is drawn.
    pub(super) ordinary: Option<KeptRows>,
}

/// Calibrates with the deviations that the model says, and again with regions where they are
/// larger if the rows that choose find any. The second is kept if the rows that judge pass it and
/// it makes the set of some state half as wide elsewhere; `uncertainty` then has the regions.
pub(super) fn calibrate(
    (trained, rows): (&Trained, &Rows),
    view: &ModelView,
    options: &CalibrationOptions,
    uncertainty: &mut Uncertainty,
) -> Result<Calibrated, Error> {
    let (plain, [shown, choosing]) = once((trained, rows), view, options, uncertainty)?;
    let may_be_local = options.mode == CalibrationMode::Widen
        && plain.calibration.noise_pools == Default::default();
    if !may_be_local {
        return Ok(plain);
    }
    let regions = find(&shown.shown(), &choosing.shown(), &plain.calibration);
    if regions.is_empty() {
        return Ok(plain);
    }
    uncertainty.width_regions = regions.iter().map(|one| one.region.clone()).collect();
    let (mut local, _) = once((trained, rows), view, options, uncertainty)?;
    if is_better(&local.calibration, &plain.calibration) {
        local.calibration.regions = regions;
        return Ok(local);
    }
    uncertainty.width_regions.clear();
    Ok(plain)
}

/// Calibration sees what the core predicts, from the very bytes that go into the file.
fn once(
    (trained, rows): (&Trained, &Rows),
    view: &ModelView,
    options: &CalibrationOptions,
    uncertainty: &Uncertainty,
) -> Result<(Calibrated, [Evidence; 2]), Error> {
    let part = (trained.encode)(uncertainty)?;
    let of = |rows: &LogPart| Evidence::new(&part, rows, view);
    let (shown, choosing, judging) = (of(&rows.shown)?, of(&rows.choosing)?, of(&rows.judging)?);
    let (calibration, ordinary) = calibrate_shown(
        &shown.shown(),
        &choosing.withheld(),
        &judging.withheld(),
        options,
    )?;
    let calibrated = Calibrated {
        calibration,
        judging,
        ordinary,
    };
    Ok((calibrated, [shown, choosing]))
}

/// Whether regions are worth what they cost where they lie: by the scales that the rows that
/// choose have chosen. The rows that judge only say whether they may be kept.
fn is_better(local: &ModelCalibration, plain: &ModelCalibration) -> bool {
    if local.status != CalibrationStatus::Calibrated {
        return false;
    }
    let chosen = |calibration: &ModelCalibration| -> Vec<f32> {
        let scales = calibration.scales().into_iter();
        scales
            .map(|scale| scale / calibration.gate.widening)
            .collect()
    };
    let pairs = chosen(local).into_iter().zip(chosen(plain));
    plain.status != CalibrationStatus::Calibrated
        || pairs
            .into_iter()
            .any(|(local, plain)| GAIN * local <= plain)
}
