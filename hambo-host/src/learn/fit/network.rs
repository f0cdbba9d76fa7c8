//! Networks: trained until their validation rows no longer gain.

use std::fmt::Write as _;

use super::Trained;
use super::evidence::{Evidence, uncalibrated};
use super::tables::Tables;
use crate::Error;
use crate::formats::log::{Log, LogPart, Split};
use crate::formats::task::Wrap;
use crate::foundation::observer::{Observer, Progress};
use crate::learn::calibration::{Beta, error_before};
use crate::learn::ensemble::{
    EnsembleOptions, TrainedEnsemble, Trainer, TrainerState, encode_ensemble,
};
use crate::learn::learned_reward::UnseenInput;
use crate::learn::model_file::{NetworkSummary, TrainingSummary};

pub(super) fn train(
    log: &Log,
    unseen: Option<UnseenInput>,
    wraps: &[Option<Wrap>],
    validation_share: f64,
    options: &EnsembleOptions,
    observer: &mut dyn Observer,
) -> Result<Trained, Error> {
    // Another seed than the withheld part's, lest the same episodes come first.
    let seed = options.seed ^ 0x5641_4C49;
    let split = Split::new(log, validation_share, seed);
    let (set, validation) = (
        Tables::new(&split.kept.log, unseen),
        Tables::new(&split.withheld.log, unseen),
    );
    let set = set.training_set();
    let validation_set = validation.training_set();
    let validation_set = (validation_share > 0.0).then_some(&validation_set);

    let mut trainer = match observer.resumed::<TrainerState>()? {
        Some(state) => Trainer::resume(&set, validation_set, options, state)?,
        None => Trainer::new(&set, validation_set, options)?,
    };
    let mut last = None;
    while let Some(progress) = trainer.advance()? {
        last = Some(progress);
        let mut message = format!("loss {:.4}", progress.training_loss);
        if let Some(loss) = progress.validation_loss {
            let _ = write!(message, ", validation {loss:.4}");
        }
        // It takes a few milliseconds.
        if observer.reads() && !split.withheld.log.is_empty() {
            let error = calibration_error(&trainer, unseen, &split.withheld, wraps)?;
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
    let ensemble = whole(trainer.finish()?, unseen);
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

/// With all inputs of (s, a).
fn whole(ensemble: TrainedEnsemble, unseen: Option<UnseenInput>) -> TrainedEnsemble {
    match unseen {
        Some(unseen) => unseen.in_ensemble(ensemble),
        None => ensemble,
    }
}

/// The mean over the states, as the core would predict with the weights of
/// now.
fn calibration_error(
    trainer: &Trainer,
    unseen: Option<UnseenInput>,
    validation: &LogPart,
    wraps: &[Option<Wrap>],
) -> Result<f32, Error> {
    let part = encode_ensemble(
        &whole(trainer.ensemble(), unseen),
        &uncalibrated(&validation.log),
    )?;
    let evidence = Evidence::new(&part, validation, wraps)?;
    let errors: Vec<f32> = evidence.dimensions().iter().map(error_before).collect();
    Ok(errors.iter().sum::<f32>() / errors.len().max(1) as f32)
}
