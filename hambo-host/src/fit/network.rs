//! Networks: trained until their validation rows no longer gain.

use super::tables::Tables;
use super::{FitProgress, Trained, Watch};
use crate::Error;
use crate::calibration::{Beta, WithheldDimension, error_before};
use crate::data::{Log, Split};
use crate::image_file::encode_ensemble;
use crate::model_file::{NetworkSummary, TrainingSummary};
use crate::training::{EnsembleOptions, Moments, Trainer};

pub(super) fn train(
    log: &Log,
    validation_share: f64,
    options: &EnsembleOptions,
    watch: &mut dyn Watch,
) -> Result<Trained, Error> {
    // Another seed than the withheld part's, lest the same episodes come first.
    let seed = options.seed ^ 0x5641_4C49;
    let split = Split::new(log, validation_share, seed);
    let (set, validation) = (Tables::new(&split.kept), Tables::new(&split.withheld));
    let set = set.training_set();
    let validation_set = validation.training_set();
    let validation_set = (validation_share > 0.0).then_some(&validation_set);

    let mut trainer = match watch.resume()? {
        Some(state) => Trainer::resume(&set, validation_set, options, state)?,
        None => Trainer::new(&set, validation_set, options)?,
    };
    let mut last = None;
    while let Some(progress) = trainer.advance()? {
        last = Some(progress);
        let stop = watch.progress(FitProgress::Networks {
            training: progress,
            calibration_error: calibration_error(&trainer.validation_moments()),
        });
        let stop = stop.is_break();
        watch.keep(&|| trainer.state(), stop)?;
        if stop {
            return Err(Error::Interrupted);
        }
    }
    let best_step = last.map_or(0, |progress| progress.best_step);
    let ensemble = trainer.finish()?;
    Ok(Trained {
        summary: TrainingSummary::Networks(NetworkSummary {
            options: Some(options.clone()),
            losses: ensemble.losses.clone(),
            validation_loss: last.and_then(|progress| progress.validation_loss),
            best_step,
        }),
        beta: Beta::Nested {
            members: options.members,
        },
        validation_rows: split.withheld.len(),
        encode: Box::new(move |uncertainty| Ok(encode_ensemble(&ensemble, uncertainty)?)),
    })
}

/// The mean over the targets.
fn calibration_error(targets: &[Moments]) -> Option<f32> {
    let errors = targets.iter().map(|moments| {
        error_before(&WithheldDimension {
            mean: &moments.mean,
            epistemic_std: &moments.epistemic_std,
            aleatoric_std: &moments.aleatoric_std,
            observed: &moments.observed,
        })
    });
    (!targets.is_empty()).then(|| errors.sum::<f32>() / targets.len() as f32)
}
