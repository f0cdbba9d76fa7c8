//! Broken assumptions: how often is a controller deployed that misses its threshold, and how
//! often one that clears it, where the method's assumptions do not hold?
//!
//! Fifty logs of every assumption, two controllers on each: what goes wrong goes wrong log by
//! log, and ten logs would see a failure of 20 % in one case of three. A bound does not depend
//! on the threshold, so one check serves two questions: is the controller deployed at a
//! threshold that its truth misses by 2 to 20 % of the spread (a wrong deploy), and at one
//! that it clears by 20 %? The spread is what a reasonable controller returns more than doing
//! nothing on the system without what is broken: where it is broken, doing nothing may be
//! arbitrarily bad, and everything else look small. Where a requirement is asked for and no
//! return, the truth is the probability with which it is kept, and the spread is 1.

use hambo_base::Error;
use hambo_data::Log;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions};
use hambo_task::task::{Initial, TaskFile};

use super::assumption::{ASSUMPTIONS, Assumption, Case, SHARE};
use super::broken_summary;
use super::judge::{Judgement, Samples, judge, model};
use super::plant::{MARGIN, Plant};
use super::simulate::{Controller, Mean, Quantity, TRUE_EPISODES, largest_sums, log, truth};
use crate::fixture::Draw;
use hambo_base::study::rows::{Table, yes_or_no};
use hambo_base::study::{Row, Study, Summary, digits};

/// Logs of every assumption.
pub const LOGS: usize = 50;
/// Controllers that are checked on every log.
pub const CONTROLLERS: usize = 2;
/// Controllers that are drawn until enough of them are better than doing nothing.
const MOST_DRAWN: usize = 40;
/// By how much of the spread a truth may miss its threshold and still be near it.
const MISS: [f32; 2] = [0.02, 0.2];
/// The share of a reasonable controller's episodes that keep a requirement.
const KEPT: f64 = 0.92;

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
    /// What the sum of the first two states is to stay below, where that is asked.
    pub limit: Option<f32>,
    seed: u64,
    draw: Draw,
}

/// What makes a controller one to check, and its truth.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    /// It returns more than doing nothing does.
    Return { idle: f64, spread: f64 },
    /// It keeps the sum of two states below the limit less often than asked, but nearly.
    Kept { asked: f64, limit: f32 },
}

/// What a reasonable controller keeps the sum below in most of its episodes; by other episodes
/// than those of the truth.
fn limit(case: &Case, seed: u64) -> f32 {
    let Case {
        real,
        controller,
        horizon,
        ..
    } = case;
    let sums = largest_sums(
        real,
        controller,
        *horizon,
        TRUE_EPISODES,
        seed.rotate_left(7),
    );
    let place = (KEPT * sums.len() as f64) as usize;
    sums.get(place).copied().unwrap_or(f32::NAN)
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
        let number = cell / ASSUMPTIONS.len();
        // Those that share logs share all that is drawn.
        let own = ASSUMPTIONS.iter().position(|one| *one == assumption.logs());
        let place = own.unwrap_or_default() as u64;
        let seed = 0xB40C ^ (place << 40 | (number as u64) << 20);
        let mut draw = Draw::new(seed);
        let case = assumption.case(&mut draw);
        let limit = case.requirement.map(|_| limit(&case, !seed));
        Self {
            assumption,
            number,
            limit,
            case,
            seed,
            draw,
        }
    }

    /// The controllers, drawn again while they are worse than doing nothing, or where a
    /// requirement is not near to what is asked.
    #[must_use]
    pub fn controllers(&mut self) -> Vec<Checked> {
        let measure = match self.case.requirement.zip(self.limit) {
            Some((asked, limit)) => Measure::Kept { asked, limit },
            None => self.against_idleness(),
        };
        let mut checked = Vec::new();
        for _ in 0..MOST_DRAWN {
            let controller = self.case.checked.near(SHARE, &mut self.draw);
            let [least, most] = MISS;
            let miss = f64::from(self.draw.between(least, most));
            if checked.len() < CONTROLLERS {
                checked.extend(self.truth(controller, miss, measure));
            }
        }
        checked
    }

    /// What the returns of controllers are held against.
    fn against_idleness(&self) -> Measure {
        let sound = |controller| self.value(&self.case.sound, controller, TRUE_EPISODES).mean;
        Measure::Return {
            idle: self.value(&self.case.real, &Controller::IDLE, 500).mean,
            spread: sound(&self.case.controller) - sound(&Controller::IDLE),
        }
    }

    fn value(&self, plant: &Plant, controller: &Controller, episodes: usize) -> Mean {
        let (horizon, quantity) = (self.case.horizon, Quantity::Action);
        truth(plant, controller, horizon, quantity, episodes, !self.seed).value
    }

    /// A controller with its truth, if it is one to check.
    fn truth(&self, controller: Controller, miss: f64, measure: Measure) -> Option<Checked> {
        match measure {
            Measure::Return { idle, spread } => {
                let of = |episodes| self.value(&self.case.real, &controller, episodes);
                (of(500).mean >= idle).then(|| Checked {
                    controller,
                    truth: of(TRUE_EPISODES),
                    spread,
                    miss,
                })
            }
            Measure::Kept { asked, limit } => {
                let Case { real, horizon, .. } = &self.case;
                let sums = largest_sums(real, &controller, *horizon, TRUE_EPISODES, !self.seed);
                let kept = sums.iter().map(|sum| f64::from(u8::from(*sum <= limit)));
                let truth = Mean::of(&kept.collect::<Vec<_>>());
                let miss = asked - truth.mean;
                let near = MISS.map(f64::from);
                (miss >= near[0] && miss <= near[1]).then_some(Checked {
                    controller,
                    truth,
                    spread: 1.0,
                    miss,
                })
            }
        }
    }

    /// The task, with a threshold that every bound reaches, and a requirement that every
    /// controller keeps.
    ///
    /// # Errors
    /// If the text is wrong, which would be a bug of this study.
    pub fn task(&self) -> Result<TaskFile, Error> {
        let requirement = match self.limit {
            Some(limit) => format!(
                "[[constraint]]\nname = \"together\"\nexpr = \"{limit} - (x0 + x1)\"\n\
                 kind = \"always\"\nprobability = 0.001\n"
            ),
            None => String::new(),
        };
        let text = self
            .case
            .real
            .task_text(self.case.horizon, -1e30, &requirement);
        let mut task = TaskFile::parse(&text, "broken.toml")?;
        if self.case.starts_from_data {
            task.initial = Initial::Data { always: false };
        }
        Ok(task)
    }

    /// How a controller is checked: as the command does it, but where a row is about the search.
    fn samples(&self) -> Samples {
        Samples {
            allocation: self.case.allocation,
            ..Samples::default()
        }
    }

    /// The bound that is held against the truth: of the requirement, if there is one.
    fn bound(&self, judgement: &Judgement) -> f64 {
        match (self.limit, judgement.constraint) {
            (None, _) => judgement.bound,
            (Some(_), constraint) => constraint.unwrap_or(f64::NAN),
        }
    }

    /// The log.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn log(&self) -> Result<Log, Error> {
        log(&self.case.logged, &self.case.logging, self.seed ^ 1)
    }

    /// Small networks, and short training: there are hundreds of them. But where exploration
    /// is missing the preset, because it takes training until members agree on what the data
    /// do not say, and at a dead zone nearly that, because they must see it.
    fn networks(&self) -> Result<EnsembleOptions, Error> {
        let preset = EnsembleOptions {
            seed: self.seed,
            ..EnsembleOptions::for_board("stm32f405")?
        };
        let (hidden, steps) = match self.assumption {
            Assumption::NoExploration => return Ok(preset),
            Assumption::DeadZone => (preset.hidden.clone(), 8000),
            _ => (vec![32; 2], 3000),
        };
        Ok(EnsembleOptions {
            hidden,
            steps,
            batch: 128,
            ..preset
        })
    }

    /// What would be done at either threshold. At the one of the task every bound is high
    /// enough, so that all but `deploy` means that the evidence is unfit.
    fn outcome(&self, checked: &Checked, judgement: &Judgement) -> Row {
        let fit = judgement.verdict == "deploy";
        let bound = self.bound(judgement);
        let reaches = |share: f64| bound >= checked.truth.mean + share * checked.spread;
        vec![
            digits(judgement.neutral),
            digits(bound),
            yes_or_no(fit),
            yes_or_no(fit && reaches(checked.miss)),
            yes_or_no(fit && reaches(-MARGIN)),
            judgement.reasons.clone(),
        ]
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
                    judge(&task, &log, model, controller, this.samples(), seed)
                        .unwrap_or_else(|error| Judgement::failed("no check", &error))
                }
            };
            let mut row = this.fields(cell, number, checked);
            row.extend(this.outcome(checked, &judgement));
            row
        });
    Ok(rows.collect())
}
