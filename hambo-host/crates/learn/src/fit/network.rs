//! Networks: trained until their validation rows no longer gain.

use std::fmt::Write as _;

use super::Trained;
use super::evidence::{Evidence, uncalibrated};
use super::tables::Tables;
use crate::calibration::calibrate::error_before;
pub use crate::calibration::outcome::Beta;
use crate::ensemble::encode::encode_ensemble;
use crate::ensemble::options::EnsembleOptions;
use crate::ensemble::state::TrainerState;
use crate::ensemble::trainer::Trainer;
pub use crate::model_file::metadata::{NetworkSummary, TrainingSummary};
use hambo_base::Error;
use hambo_base::observer::{Observer, Progress};
use hambo_data::{Log, LogPart, Split};
use hambo_task::task::ModelView;

pub(super) fn train(
    log: &Log,
    view: &ModelView,
    validation_share: f64,
    options: &EnsembleOptions,
    observer: &mut dyn Observer,
) -> Result<Trained, Error> {
    // Another seed than the withheld part's, lest the same episodes come first.
    let seed = options.seed ^ 0x5641_4C49;
    let split = Split::new(log, validation_share, seed);
    let (set, validation) = (
        Tables::new(&split.kept.log, view),
        Tables::new(&split.withheld.log, view),
    );
    let set = set.training_set();
    let validation_set = validation.training_set();
    let validation_set = (validation_share > 0.0).then_some(&validation_set);

    let mut trainer = match observer.resumed::<TrainerState>()? {
        Some(state) => Trainer::resume(&set, validation_set, options, state)?,
        None => Trainer::new(&set, validation_set, options)?,
    };
    observer.report(Progress {
        done: trainer.step(),
        planned: options.steps,
        message: "training".to_owned(),
    })?;
    let mut last = None;
    while let Some(progress) = trainer.advance()? {
        last = Some(progress);
        let mut message = format!("loss {:.4}", progress.training_loss);
        if let Some(loss) = progress.validation_loss {
            let _ = write!(message, ", validation {loss:.4}");
        }
        // It takes a few milliseconds.
        if observer.reads() && !split.withheld.log.is_empty() {
            let error = calibration_error(&trainer, view, &split.withheld)?;
            let _ = write!(message, ", calibration error {error:.1e}");
        }
        let told = Progress {
            done: progress.step,
            planned: progress.steps,
            message,
        };
        observer.report_with_state(told, || trainer.state())?;
    }
    let best_step = last.map_or(0, |progress| progress.best_step);
    let ensemble = trainer.finish()?;
    Ok(Trained {
        summary: TrainingSummary::Networks(NetworkSummary {
            options: options.clone(),
            losses: ensemble.losses.clone(),
            validation_loss: last.and_then(|progress| progress.validation_loss),
            best_step,
        }),
        beta: Beta::Nested {
            members: options.members,
        },
        validation: Some(split.withheld).filter(|part| !part.log.is_empty()),
        encode: Box::new(move |uncertainty| Ok(encode_ensemble(&ensemble, uncertainty)?)),
    })
}

/// The mean over the states, as the core would predict with the weights of
/// now.
fn calibration_error(
    trainer: &Trainer,
    view: &ModelView,
    validation: &LogPart,
) -> Result<f32, Error> {
    let part = encode_ensemble(&trainer.ensemble(), &uncalibrated(view))?;
    let evidence = Evidence::new(&part, validation, view)?;
    let errors: Vec<f32> = evidence.dimensions().iter().map(error_before).collect();
    Ok(errors.iter().sum::<f32>() / errors.len().max(1) as f32)
}
