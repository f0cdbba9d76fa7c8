//! Broken assumptions: how often is a controller deployed that misses its threshold, and how
//! often one that clears it, where the method's assumptions do not hold?
//!
//! Ten logs of every assumption, ten controllers on each. A bound does not depend on the
//! threshold, so one check serves two questions: is the controller deployed at a threshold
//! that its truth misses by 2 to 20 % of the spread (a wrong deploy), and at one that it
//! clears by 20 %? The spread is what a reasonable controller returns more than doing nothing
//! on the system without what is broken: where it is broken, doing nothing may be arbitrarily
//! bad, and everything else look small.

use hambo_base::Error;
use hambo_core::task::Allocation;
use hambo_data::Log;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions};
use hambo_task::task::{Initial, TaskFile};

use super::assumption::{ASSUMPTIONS, Assumption, Case, SHARE};
use super::broken_summary;
use super::judge::{Judgement, Samples, judge, model};
use super::plant::{MARGIN, Plant};
use super::simulate::{Controller, Mean, Quantity, TRUE_EPISODES, log, truth};
use crate::fixture::Draw;
use hambo_base::study::rows::{Table, yes_or_no};
use hambo_base::study::{Row, Study, Summary, digits};

/// Logs of every assumption.
pub const LOGS: usize = 10;
/// Controllers that are checked on every log.
pub const CONTROLLERS: usize = 10;
/// Controllers that are drawn until enough of them are better than doing nothing.
const MOST_DRAWN: usize = 40;
/// Of a check.
const SAMPLES: Samples = Samples {
    trajectories: 1000,
    searched: 8,
    allocation: Allocation::Even,
};

/// The study.
pub struct Broken;

/// The log of a cell, and what belongs to it.
pub struct LogCell {
    /// What is broken.
    pub assumption: Assumption,
    /// Which of its logs.
    pub number: usize,
    /// What is simulated.
    pub case: Case,
    seed: u64,
    draw: Draw,
}

/// A controller that is checked, with its truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checked {
    pub controller: Controller,
    /// Its true return.
    pub truth: Mean,
    /// The unit of gaps.
    pub spread: f64,
    /// By how much of the spread it misses the threshold that it must not reach.
    pub miss: f64,
}

impl LogCell {
    /// That of a number: all assumptions in turn, so that a part of the study is a part of
    /// every row.
    #[must_use]
    pub fn of(cell: usize) -> Self {
        let assumption = ASSUMPTIONS[cell % ASSUMPTIONS.len()];
        let seed = 0xB40C ^ (cell as u64) << 20;
        let mut draw = Draw::new(seed);
        Self {
            assumption,
            number: cell / ASSUMPTIONS.len(),
            case: assumption.case(&mut draw),
            seed,
            draw,
        }
    }

    /// The controllers, drawn again while they are worse than doing nothing.
    #[must_use]
    pub fn controllers(&mut self) -> Vec<Checked> {
        let (case, seed) = (&self.case, self.seed);
        let of = |plant: &Plant, controller: &Controller, episodes| {
            let quantity = Quantity::Action;
            truth(plant, controller, case.horizon, quantity, episodes, !seed).value
        };
        let value = |controller: &Controller, episodes| of(&case.real, controller, episodes);
        let idle = value(&Controller::IDLE, 500).mean;
        let sound = |controller| of(&case.sound, controller, TRUE_EPISODES);
        let spread = sound(&case.controller).mean - sound(&Controller::IDLE).mean;
        let mut checked = Vec::new();
        for _ in 0..MOST_DRAWN {
            let controller = case.checked.near(SHARE, &mut self.draw);
            let miss = f64::from(self.draw.between(0.02, 0.2));
            if checked.len() == CONTROLLERS || value(&controller, 500).mean < idle {
                continue;
            }
            checked.push(Checked {
                controller,
                truth: value(&controller, TRUE_EPISODES),
                spread,
                miss,
            });
        }
        checked
    }

    /// The task, with a threshold that every bound reaches.
    ///
    /// # Errors
    /// If the text is wrong, which would be a bug of this study.
    pub fn task(&self) -> Result<TaskFile, Error> {
        let text = self.case.real.task_text(self.case.horizon, -1e30, "");
        let mut task = TaskFile::parse(&text, "broken.toml")?;
        if self.case.starts_from_data {
            task.initial = Initial::Data { always: false };
        }
        Ok(task)
    }

    /// The log.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn log(&self) -> Result<Log, Error> {
        log(&self.case.logged, &self.case.logging, self.seed ^ 1)
    }

    /// Small networks, and short training: there are a hundred of them. But where exploration
    /// is missing the preset, because it takes training until members agree on what the data
    /// do not say.
    fn networks(&self) -> Result<EnsembleOptions, Error> {
        let preset = EnsembleOptions {
            seed: self.seed,
            ..EnsembleOptions::for_board("stm32f405")?
        };
        Ok(match self.assumption {
            Assumption::NoExploration => preset,
            _ => EnsembleOptions {
                hidden: vec![32; 2],
                steps: 3000,
                batch: 128,
                ..preset
            },
        })
    }

    /// The fields that no program changes.
    #[must_use]
    pub fn fields(&self, cell: usize, number: usize, checked: &Checked) -> Row {
        vec![
            cell.to_string(),
            self.assumption.name().to_owned(),
            self.number.to_string(),
            number.to_string(),
            digits(checked.truth.mean),
            digits(checked.truth.error),
            digits(checked.spread),
            digits(checked.miss),
        ]
    }
}

/// The columns that [`LogCell::fields`] fills.
pub const SETTING_COLUMNS: usize = 8;

impl Study for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell",
            "assumption",
            "log",
            "controller",
            "truth",
            "truth_error",
            "spread",
            "miss",
            "neutral",
            "bound",
            "fit",
            "wrong_deploy",
            "good_deploy",
            "reasons",
        ]
    }

    fn cells(&self) -> usize {
        ASSUMPTIONS.len() * LOGS
    }

    fn rows_per_cell(&self) -> usize {
        CONTROLLERS
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        first_rows(cell, CONTROLLERS)
    }

    fn summary(&self, table: &Table) -> Summary {
        broken_summary::summary(table)
    }
}

/// The first rows of a cell; the log and the model are those of all of them.
///
/// # Errors
/// As [`Study::run`].
pub fn first_rows(cell: usize, count: usize) -> Result<Vec<Row>, Error> {
    let mut this = LogCell::of(cell);
    let checked = this.controllers();
    let task = this.task()?;
    let log = this.log()?;
    let options = FitOptions::new(ModelOptions::Networks(this.networks()?));
    let model = model(&task, &log, &options);
    let rows = (0..)
        .zip(checked.iter().take(count))
        .map(|(number, checked)| {
            let judgement = match &model {
                Err(error) => Judgement::failed("no model", error),
                Ok(model) => {
                    let controller = &checked.controller;
                    let seed = this.seed + number as u64;
                    judge(&task, &log, model, controller, SAMPLES, seed)
                        .unwrap_or_else(|error| Judgement::failed("no check", &error))
                }
            };
            let mut row = this.fields(cell, number, checked);
            row.extend(outcome(checked, &judgement));
            row
        });
    Ok(rows.collect())
}

/// What would be done at either threshold. At the one of the task every bound is high enough,
/// so that all but `deploy` means that the evidence is unfit.
fn outcome(checked: &Checked, judgement: &Judgement) -> Row {
    let fit = judgement.verdict == "deploy";
    let reaches = |share: f64| judgement.bound >= checked.truth.mean + share * checked.spread;
    vec![
        digits(judgement.neutral),
        judgement.bound_text(),
        yes_or_no(fit),
        yes_or_no(fit && reaches(checked.miss)),
        yes_or_no(fit && reaches(-MARGIN)),
        judgement.reasons.clone(),
    ]
}
