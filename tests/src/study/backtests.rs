//! The backtest: how often does it fail a model that is right, and how often does it find
//! one that is wrong?
//!
//! A cell is a system and a number. A model is fitted to a log in which nothing is broken, as
//! `hambo fit` does it. Then come logs of 30 and of 100 episodes, each under five
//! [`Condition`]s, and every log is asked twice:
//!
//! - **later:** it is held against that first model, as `hambo backtest` holds another log
//!   against one. Nothing in the model knows of the condition.
//! - **own:** a model is fitted to this very log, and its withheld fifth judges, as in
//!   `hambo fit`. Training and calibration have seen the condition: they may take it for
//!   noise, widen the set or refuse the model before the backtest sees it. So the
//!   calibration's verdict and scale are kept beside the backtest's. Only the first
//!   [`OWN_LOGS`] logs are asked this, for it takes as long again.

use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_data::LogPart;
use hambo_learn::backtest::{Backtest, BacktestOptions, LengthResult, Verdict, backtest};
use hambo_learn::calibration::{CalibrationStatus, ModelCalibration};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_learn::model_file::ModelFile;
use hambo_task::task::TaskFile;

use super::backtest_summary;
use super::condition::{CONDITIONS, Condition, EPISODES, LENGTHS, STEPS, SYSTEMS, System};
use super::simulate::log;
use crate::fixture::Draw;
use hambo_base::study::rows::Table;
use hambo_base::study::{Row, Study, Summary, digits};

/// Logs of every system, length and condition.
pub const LOGS: usize = 100;
/// Those of them that a model of their own is fitted to.
pub const OWN_LOGS: usize = 20;
/// Windows that are replayed: those of `hambo fit`.
const WINDOWS: usize = 200;

/// The study.
pub struct Backtests;

/// A system and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemCell {
    /// What is logged.
    pub system: System,
    /// Which of its logs.
    pub number: usize,
    seed: u64,
}

/// A log of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// How long it is.
    pub episodes: usize,
    /// What it does not tell.
    pub condition: Condition,
    seed: u64,
}

impl SystemCell {
    /// That of a cell's number: all systems in turn, so that a part of the study is a part of
    /// every row.
    #[must_use]
    pub fn of(cell: usize) -> Self {
        Self {
            system: SYSTEMS[cell % SYSTEMS.len()],
            number: cell / SYSTEMS.len(),
            seed: 0xBAC7 ^ (cell as u64) << 20,
        }
    }

    /// Its logs, one for each row.
    pub fn settings(self) -> impl Iterator<Item = Setting> {
        let pairs = EPISODES
            .into_iter()
            .flat_map(|episodes| CONDITIONS.map(|condition| (episodes, condition)));
        (1..)
            .zip(pairs)
            .map(move |(row, (episodes, condition))| Setting {
                episodes,
                condition,
                seed: self.seed ^ row << 8,
            })
    }

    /// The task of all its logs.
    fn task(self) -> Result<TaskFile, Error> {
        let text = self.system.plant().task_text(STEPS, -1e30, "");
        Ok(TaskFile::parse(&text, "backtest.toml")?)
    }

    /// A model of a log in which nothing is broken.
    fn first_model(self, task: &TaskFile) -> Result<(ModelFile, ModelCalibration), Error> {
        let [_, episodes] = EPISODES;
        let mut draw = Draw::new(self.seed);
        let (plant, logging) = Condition::Right.fitted(self.system, episodes, &mut draw);
        let log = log(&plant, &logging, self.seed ^ 1)?;
        fit(task, &log, &options(self.seed, 0)?, &mut Unobserved)
    }

    /// The first model held against a later log.
    fn later(self, task: &TaskFile, model: &ModelFile, of: Setting) -> Result<Backtest, Error> {
        let mut draw = Draw::new(of.seed);
        let (plant, logging) = of.condition.met(self.system, of.episodes, &mut draw);
        let rows = LogPart::whole(&log(&plant, &logging, of.seed ^ 1)?);
        let options = BacktestOptions {
            delta: task.delta,
            windows: WINDOWS,
            seed: of.seed,
        };
        backtest(task, model.model_part(), &rows, &options, &mut Unobserved)
    }

    /// A model of a log and its withheld part.
    fn own(
        self,
        task: &TaskFile,
        of: Setting,
    ) -> Result<(ModelCalibration, Option<Backtest>), Error> {
        let mut draw = Draw::new(of.seed ^ 2);
        let (plant, logging) = of.condition.fitted(self.system, of.episodes, &mut draw);
        let log = log(&plant, &logging, of.seed ^ 3)?;
        let options = options(of.seed, WINDOWS)?;
        let (model, calibration) = fit(task, &log, &options, &mut Unobserved)?;
        Ok((calibration, model.metadata().backtest.clone()))
    }
}

/// Five networks of 16 units and short training: there are thousands of them.
fn options(seed: u64, backtest_windows: usize) -> Result<FitOptions, Error> {
    let networks = EnsembleOptions {
        hidden: vec![16],
        steps: 1500,
        batch: 64,
        seed,
        ..EnsembleOptions::for_board("stm32f405")?
    };
    Ok(FitOptions {
        backtest_windows,
        ..FitOptions::new(ModelOptions::Networks(networks))
    })
}

impl Study for Backtests {
    fn name(&self) -> &'static str {
        "backtest"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell",
            "system",
            "log",
            "episodes",
            "condition",
            "calibration",
            "verdict",
            "length",
            "question",
            "path_1",
            "path_2",
            "path_5",
            "path_10",
            "path_20",
            "return_1",
            "return_2",
            "return_5",
            "return_10",
            "return_20",
            "own_calibration",
            "own_scale",
            "own_verdict",
            "own_length",
            "own_question",
            "own_path_1",
            "own_path_2",
            "own_path_5",
            "own_path_10",
            "own_path_20",
            "own_return_1",
            "own_return_2",
            "own_return_5",
            "own_return_10",
            "own_return_20",
        ]
    }

    fn cells(&self) -> usize {
        SYSTEMS.len() * LOGS
    }

    fn rows_per_cell(&self) -> usize {
        EPISODES.len() * CONDITIONS.len()
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        first_rows(cell, self.rows_per_cell())
    }

    fn summary(&self, table: &Table) -> Summary {
        backtest_summary::summary(table)
    }
}

/// The first rows of a cell; the first model is that of all of them.
///
/// # Errors
/// As [`Study::run`].
pub fn first_rows(cell: usize, count: usize) -> Result<Vec<Row>, Error> {
    let this = SystemCell::of(cell);
    let task = this.task()?;
    let (model, calibration) = this.first_model(&task)?;
    let row = |of: Setting| {
        let mut row = vec![
            cell.to_string(),
            this.system.plant().name.to_owned(),
            this.number.to_string(),
            of.episodes.to_string(),
            of.condition.name().to_owned(),
            calibration_word(calibration.status).to_owned(),
        ];
        row.extend(outcome(Some(&this.later(&task, &model, of)?)));
        if this.number < OWN_LOGS {
            let (calibration, backtest) = this.own(&task, of)?;
            let largest = calibration.scales().into_iter().fold(0.0, f32::max);
            row.push(calibration_word(calibration.status).to_owned());
            row.push(digits(f64::from(largest)));
            row.extend(outcome(backtest.as_ref()));
        }
        row.resize(Backtests.columns().len(), String::new());
        Ok(row)
    };
    this.settings().take(count).map(row).collect()
}

/// The files' word for a calibration's verdict.
fn calibration_word(status: CalibrationStatus) -> &'static str {
    match status {
        CalibrationStatus::Calibrated => "passed",
        CalibrationStatus::TooFewRecordings { .. }
        | CalibrationStatus::TooFewRows { .. }
        | CalibrationStatus::TooFewEpisodes { .. } => "too few",
        CalibrationStatus::Failed { .. } => "failed",
        CalibrationStatus::ErrorsStay { .. } => "errors stay",
    }
}

/// Verdict, shortest length and questions that fail, and all shares.
fn outcome(found: Option<&Backtest>) -> Row {
    let (verdict, length) = match found.map(|found| found.verdict) {
        None => ("none", None),
        Some(Verdict::Passed) => ("passed", None),
        Some(Verdict::TooFewEpisodes { .. }) => ("too few", None),
        Some(Verdict::Failed { length }) => ("failed", Some(length)),
    };
    let of = |length: usize| {
        let mut lengths = found.into_iter().flat_map(|found| &found.lengths);
        lengths.find(|of| of.length == length)
    };
    let question = match length.and_then(of) {
        None => "",
        Some(of) if of.path.failed && of.returns.failed => "both",
        Some(of) if of.path.failed => "path",
        Some(_) => "return",
    };
    let mut row = vec![
        verdict.to_owned(),
        length.map(|length| length.to_string()).unwrap_or_default(),
        question.to_owned(),
    ];
    let shares: [fn(&LengthResult) -> f32; 2] = [|of| of.path.share, |of| of.returns.share];
    for share in shares {
        let text = |length| of(length).map(|of| digits(f64::from(share(of))));
        row.extend(LENGTHS.map(|length| text(length).unwrap_or_default()));
    }
    row
}
