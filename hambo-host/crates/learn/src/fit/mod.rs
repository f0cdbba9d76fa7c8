//! From a log to a calibrated model: withhold, train, calibrate.

#[cfg(test)]
mod calibrated_tests;
mod constant;
mod error;
mod evidence;
mod gaps;
mod gaussian_process;
mod known;
mod local;
mod network;
mod outlier;
mod region;
mod tables;
mod tested;
mod trained;
mod unusual;

use hambo_core::model::Calibration;
use sha2::{Digest, Sha256};

use super::backtest::run::backtest;
use super::backtest::verdict::Verdict;
use super::calibration::JUDGING_EPISODES;
use super::calibration::outcome::{
    Beta, CalibrationMode, CalibrationOptions, CalibrationStatus, Intervals, ModelCalibration,
};
use super::ensemble::error::TrainingError;
use super::ensemble::options::{EnsembleOptions, MINIMUM_ROWS};
use super::model_file::metadata::{DataSummary, Metadata};
use super::model_file::sample::LogSample;
use crate::backtest::{Backtest, BacktestOptions};
use crate::model_file::ModelFile;
use crate::near_path::JudgingRows;
use constant::constant_column;
pub use evidence::uncalibrated;
use hambo_base::Error;
use hambo_base::observer::Observer;
use hambo_data::{Log, LogPart, MINIMUM_RECORDINGS, Split, explorations, next_to_states};
use hambo_task::image::{LoggedRegion, Uncertainty};
use hambo_task::task::TaskFile;
use local::{Calibrated, calibrate};
use tested::tested_steps;
use trained::Trained;

pub use error::FitError;
pub use gaussian_process::{GaussianProcessOptions, Keep};
pub use known::ensure_corrections_agree;
pub use tables::Tables;
use tables::inputs;

/// What is trained.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelOptions {
    /// Networks: a Bayesian one by SVGD, or a deep ensemble.
    Networks(EnsembleOptions),
    GaussianProcess(GaussianProcessOptions),
}

impl ModelOptions {
    fn seed(&self) -> u64 {
        match self {
            Self::Networks(options) => options.seed,
            Self::GaussianProcess(options) => options.search.seed,
        }
    }
}

/// How a model is made from a log.
#[derive(Clone, Debug, PartialEq)]
pub struct FitOptions {
    /// The model and its training.
    pub model: ModelOptions,
    /// The share of rows, in whole episodes, that calibration gets.
    pub withheld_share: f64,
    /// The share of the other rows that decides when networks stop training, and chooses
    /// the scales; 0 trains to the last step, and a third of the withheld rows choose.
    pub validation_share: f64,
    /// What calibration may do.
    pub calibration: CalibrationMode,
    /// Half the width of the set, in scaled standard deviations; without one
    /// it holds every network, or follows theory for Gaussian processes.
    pub beta: Option<f32>,
    /// The most windows of withheld rows that the backtest replays; 0, the default, leaves it
    /// out. `hambo fit` takes 200.
    pub backtest_windows: usize,
}

impl FitOptions {
    /// The usual split for a model.
    #[must_use]
    pub fn new(model: ModelOptions) -> Self {
        Self {
            model,
            withheld_share: 0.2,
            validation_share: 0.1,
            calibration: CalibrationMode::Widen,
            beta: None,
            backtest_windows: 0,
        }
    }

    /// Episodes of a log of this number of recordings that calibration gets at the least.
    fn least_withheld(&self, recordings: usize) -> usize {
        if recordings < CALIBRATING_RECORDINGS {
            return if recordings >= 3 * FEW_JUDGING {
                FEW_JUDGING
            } else {
                0
            };
        }
        if self.validation_share > 0.0 {
            return JUDGING_EPISODES;
        }
        let choosing = CHOOSING_SHARE * self.withheld_share * recordings as f64;
        JUDGING_EPISODES + choosing.ceil() as usize
    }

    /// The total probability of failure that the set is made for, if it depends on one.
    fn set_delta(&self) -> Option<f64> {
        match &self.model {
            ModelOptions::GaussianProcess(options) if self.beta.is_none() => Some(options.delta),
            _ => None,
        }
    }

    /// The demo's: a small ensemble on a few hundred rows, none of which decides when to
    /// stop; more are withheld, so that enough episodes judge.
    #[must_use]
    pub fn demo() -> Self {
        Self {
            withheld_share: 0.3,
            validation_share: 0.0,
            ..Self::new(ModelOptions::Networks(EnsembleOptions::demo()))
        }
    }
}

/// Recordings from which on as many are withheld as must judge. They are at most half of the
/// log, and what chooses where no validation rows do.
pub const CALIBRATING_RECORDINGS: usize = 2 * JUDGING_EPISODES;
/// Of fewer recordings this number is withheld: what rows and backtest say is shown then, although
/// whole episodes cannot be judged.
const FEW_JUDGING: usize = 4;
/// The share of the withheld rows that chooses the scales where no others can.
const CHOOSING_SHARE: f64 = 1.0 / 3.0;

/// Trains a model on a log of a task and calibrates it. `observer` is told how
/// it goes. Where the reward is learned, the log is one
/// [`with_return_so_far`](hambo_data::with_return_so_far), as
/// [`read_task_logs`](hambo_data::read_task_logs) gives it.
///
/// # Errors
/// If the log is too small or a part of it empty, training diverges or is
/// interrupted, or the model does not fit the format.
pub fn fit(
    task: &TaskFile,
    log: &Log,
    options: &FitOptions,
    observer: &mut dyn Observer,
) -> Result<(ModelFile, ModelCalibration), Error> {
    let (trained, evidence) = train(task, log, options, observer)?;
    calibrated(task, log, options, (&trained, &evidence), observer)
}

/// The same for several widths of the set around one model, which is trained once: `betas` take
/// the place of the options'.
///
/// # Errors
/// As [`fit`].
pub fn fit_sets(
    task: &TaskFile,
    log: &Log,
    options: &FitOptions,
    betas: &[Option<f32>],
    observer: &mut dyn Observer,
) -> Result<Vec<(ModelFile, ModelCalibration)>, Error> {
    let (trained, evidence) = train(task, log, options, observer)?;
    let mut sets = Vec::new();
    for beta in betas {
        let options = FitOptions {
            beta: *beta,
            ..options.clone()
        };
        let set = calibrated(task, log, &options, (&trained, &evidence), observer)?;
        sets.push(set);
    }
    Ok(sets)
}

/// What a model is calibrated by, and counts of the log's rows.
struct Rows {
    choosing: LogPart,
    judging: LogPart,
    /// Rows that judge nothing: for networks those that were trained on among them.
    shown: LogPart,
    support: LoggedRegion,
    data: DataSummary,
}

/// Trains the model, and divides the rows that it has not seen.
fn train(
    task: &TaskFile,
    log: &Log,
    options: &FitOptions,
    observer: &mut dyn Observer,
) -> Result<(Trained, Rows), Error> {
    task.check_dimensions(log.state_dimension(), log.action_dimension())?;
    outlier::refuse_outliers(task, log)?;
    let view = task.model_view();
    known::ensure_known_agrees(task, &view, log)?;
    let seed = options.model.seed();
    // Differences of what wraps are taken the short way round.
    let beside = next_to_states(log, &task.wraps);
    let least = |recordings: usize| options.least_withheld(recordings);
    let split = Split::with_episodes(&beside, options.withheld_share, least, seed)
        .counting_stretches(task.stationary);
    let (kept, withheld) = (&split.kept.log, &split.withheld.log);
    if kept.len() < MINIMUM_ROWS {
        return Err(FitError::TooFewRows {
            rows: log.len(),
            left: kept.len(),
            needed: MINIMUM_ROWS,
        }
        .into());
    }
    known::ensure_told(task, &view, kept)?;
    let span = tracing::info_span!("train", rows = kept.len(), seed).entered();
    let trained = match &options.model {
        ModelOptions::Networks(model) => {
            let share = options.validation_share;
            network::train(kept, &view, share, model, observer).and_then(|trained| {
                // Again, without rare events and what stays for an episode: they are drawn, and
                // not learnt.
                let mut train = |ordinary: &Log| {
                    let mut observer = unusual::Again(&mut *observer);
                    network::train(ordinary, &view, share, model, &mut observer)
                };
                let Some(again) = unusual::again(&trained, &split.kept, &view, &mut train)? else {
                    return Ok(trained);
                };
                let validation = again.validation.as_ref();
                let validation = validation.map(|part| split.kept.of_same_groups(part));
                Ok(Trained {
                    validation,
                    ..again
                })
            })
        }
        ModelOptions::GaussianProcess(model) => {
            let share = options.validation_share;
            gaussian_process::train(kept, withheld, &view, share, model, observer)
        }
    };
    let trained = trained.map_err(|error| in_the_tasks_words(error, task, kept))?;
    drop(span);
    let mut trained = trained;
    let validation_rows = trained.validation.as_ref().map_or(0, |part| part.log.len());
    // Rows that decided when to stop may choose the scales as well; they judge nothing.
    let (judging, choosing) = match trained.validation.take() {
        Some(validation) => (split.withheld.clone(), validation),
        None => {
            let judging = if split.recordings >= CALIBRATING_RECORDINGS {
                JUDGING_EPISODES
            } else {
                0
            };
            (split.withheld).divide_leaving(judging, CHOOSING_SHARE, seed)
        }
    };
    let shown = match &options.model {
        ModelOptions::Networks(_) => split.kept.clone(),
        ModelOptions::GaussianProcess(_) => choosing.clone(),
    };
    let data = DataSummary {
        hash: Sha256::digest(log.bytes()).into(),
        rows: log.len(),
        training_rows: kept.len() - validation_rows,
        validation_rows,
        withheld_rows: withheld.len(),
        split_by_episodes: split.by_episodes,
        recordings: split.recordings,
        stationary: task.stationary
            && (!split.by_episodes || judging.group_numbers().len() < JUDGING_EPISODES),
        judging: judging.group_numbers(),
        exploration: explorations(log)
            .into_iter()
            .map(|found| found.map(|found| found.share_of_range))
            .collect(),
    };
    let rows = Rows {
        support: region::region(kept, &split.withheld, &view, (task.horizon as usize, seed)),
        choosing,
        judging,
        shown,
        data,
    };
    Ok((trained, rows))
}

/// Calibrates a model that is trained, and judges it.
fn calibrated(
    task: &TaskFile,
    log: &Log,
    options: &FitOptions,
    (trained, rows): (&Trained, &Rows),
    observer: &mut dyn Observer,
) -> Result<(ModelFile, ModelCalibration), Error> {
    let _span = tracing::info_span!("calibrate", rows = rows.data.withheld_rows).entered();
    let (view, seed) = (task.model_view(), options.model.seed());
    let mut uncertainty = Uncertainty {
        support: rows.support.clone(),
        ..evidence::uncalibrated(&view)
    };
    let calibration_options = CalibrationOptions {
        mode: options.calibration,
        intervals: Intervals::OneSided,
        beta: options.beta.map_or(trained.beta.clone(), Beta::Fixed),
        longest_window: task.horizon as usize,
        stationary: rows.data.stationary,
    };
    let Calibrated {
        mut calibration,
        judging,
        ordinary,
    } = calibrate(
        (trained, rows),
        &view,
        &calibration_options,
        &mut uncertainty,
    )?;
    if let Some(few) = too_few_recordings(&rows.data) {
        calibration.status = few;
    }
    let (inputs, scales) = (inputs(&rows.judging.log, &view), calibration.noise_scales());
    let judging_rows = match &ordinary {
        None => JudgingRows::of(&judging.withheld(), &inputs, &scales),
        Some(ordinary) => {
            let columns = inputs.len() / rows.judging.log.len().max(1);
            let own = |row: &usize| inputs.iter().skip(row * columns).take(columns).copied();
            let inputs: Vec<f32> = ordinary.places().iter().flat_map(own).collect();
            JudgingRows::of(&ordinary.withheld(), &inputs, &scales)
        }
    };

    uncertainty.beta = calibration.beta;
    uncertainty.calibration_scale = calibration.core_scales();
    uncertainty.noise_scale = calibration.noise_scales();
    uncertainty
        .noise_factor
        .clone_from(&calibration.noise_factor);
    uncertainty.noise_pools.clone_from(&calibration.noise_pools);
    uncertainty.calibration = match calibration.status {
        CalibrationStatus::Calibrated => Calibration::Passed,
        CalibrationStatus::TooFewRecordings { .. }
        | CalibrationStatus::TooFewRows { .. }
        | CalibrationStatus::TooFewEpisodes { .. } => Calibration::TooFewRows,
        CalibrationStatus::Failed { .. } | CalibrationStatus::ErrorsStay { .. } => {
            Calibration::Failed
        }
    };
    uncertainty.tested_steps = tested_steps(&calibration, None);
    let mut part = (trained.encode)(&uncertainty)?;
    let backtest = match options.backtest_windows {
        0 => None,
        windows => {
            let options = BacktestOptions {
                delta: task.delta,
                windows,
                seed,
            };
            Some(backtest(task, &part, &rows.judging, &options, observer)?)
        }
    };
    let judged = after_backtest(uncertainty.calibration, backtest.as_ref());
    let tested = tested_steps(&calibration, backtest.as_ref());
    if (judged, tested) != (uncertainty.calibration, uncertainty.tested_steps) {
        uncertainty.calibration = judged;
        uncertainty.tested_steps = tested;
        part = (trained.encode)(&uncertainty)?;
    }
    let metadata = Metadata {
        hambo_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        data: rows.data.clone(),
        sample: LogSample::of(log),
        judging_rows,
        state_names: task.state_names.clone(),
        action_names: task.action_names.clone(),
        view,
        learned_reward: task.learns_reward(),
        training: trained.summary.clone(),
        delta: options.set_delta(),
        calibration_mode: options.calibration,
        calibration: calibration.clone(),
        backtest,
    };
    let file = ModelFile::new(metadata, &part)?;
    Ok((file, calibration))
}

/// Rows of a few recordings say nothing of what changes from one recording to the next, however
/// many they are; only the task can say that nothing does.
fn too_few_recordings(data: &DataSummary) -> Option<CalibrationStatus> {
    let few = data.recordings < MINIMUM_RECORDINGS && !data.stationary;
    few.then_some(CalibrationStatus::TooFewRecordings {
        recordings: data.recordings,
        needed: CALIBRATING_RECORDINGS,
    })
}

/// A model whose single rows agree with its set, and whose withheld paths leave it, may not
/// decide anything.
fn after_backtest(calibration: Calibration, backtest: Option<&Backtest>) -> Calibration {
    match (calibration, backtest.map(|backtest| backtest.verdict)) {
        (Calibration::Passed, Some(Verdict::Failed { length })) => {
            Calibration::Blind(u16::try_from(length).unwrap_or(u16::MAX))
        }
        _ => calibration,
    }
}

/// Training knows columns by number, people by name.
fn in_the_tasks_words(error: Error, task: &TaskFile, log: &Log) -> Error {
    match error.of() {
        Some(TrainingError::Constant {
            table,
            column,
            value,
        }) => constant_column(task, log, (*table == "targets", *column, *value)).into(),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_backtest_takes_the_calibration_back() {
        let with = |calibration, verdict| {
            let backtest = Backtest {
                delta: 0.05,
                episodes: 20,
                lengths: Vec::new(),
                verdict,
            };
            after_backtest(calibration, Some(&backtest))
        };
        let failed = Verdict::Failed { length: 20 };
        assert_eq!(with(Calibration::Passed, failed), Calibration::Blind(20));
        let long = Verdict::Failed { length: 70_000 };
        assert_eq!(
            with(Calibration::Passed, long),
            Calibration::Blind(u16::MAX)
        );
        // What failed before stays what it was, and what passes does not mend it.
        assert_eq!(with(Calibration::Failed, failed), Calibration::Failed);
        assert_eq!(
            with(Calibration::Failed, Verdict::Passed),
            Calibration::Failed
        );
        let few = Verdict::TooFewEpisodes { needed: 30 };
        assert_eq!(with(Calibration::Passed, few), Calibration::Passed);
        assert_eq!(
            after_backtest(Calibration::Passed, None),
            Calibration::Passed
        );
    }
}
