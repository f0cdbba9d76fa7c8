//! Coverage on cells that are harder than usual: see [`Kind`]. Sixty logs of each, networks only.

use std::fmt::Write as _;

use hambo_base::Error;
use hambo_base::study::rows::{Record, Table};
use hambo_base::study::{Row, Study, Summary};
use hambo_core::task::Allocation;
use hambo_data::Log;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions};
use hambo_learn::model_file::ModelFile;
use hambo_task::task::TaskFile;

use super::coverage::{COLUMNS as COVERAGE_COLUMNS, NETWORK_COLUMNS, Setting};
use super::coverage_kind::{HARD, Kind};
use super::coverage_summary::{Counts, strips};
use super::judge::{Judgement, Samples, judge, model};
use super::simulate::Controller;
use crate::fixture::Draw;

/// Logs of each kind.
pub const LOGS: usize = 60;
/// Models among which the one that promises least is taken.
const MODELS: u64 = 3;
/// Controllers that are tried on the way to a better one.
const STEPS: usize = 16;
/// How far the next one may lie, as a share of each gain.
const STEP: f32 = 0.25;
/// Of the checks on the way; they count for nothing else.
const ON_THE_WAY: Samples = Samples {
    trajectories: Some(200),
    searched: Some(2),
    allocation: Some(Allocation::Even),
};
/// Of the check that counts: what the command takes unless bounds of the reward ask for more.
const SAMPLES: Samples = Samples {
    trajectories: Some(4000),
    searched: Some(16),
    allocation: Some(Allocation::Even),
};

/// Those of the usual cells without Gaussian processes, and the kind.
const COLUMNS: [&str; NETWORK_COLUMNS + 1] = {
    let mut columns = ["kind"; NETWORK_COLUMNS + 1];
    let mut place = 0;
    while place < NETWORK_COLUMNS {
        columns[place] = COVERAGE_COLUMNS[place];
        place += 1;
    }
    columns
};

/// The study.
pub struct HardCoverage;

fn kind_of(cell: usize) -> Kind {
    HARD[cell % HARD.len()]
}

fn fitted(task: &TaskFile, log: &Log, seed: u64) -> Result<ModelFile, Error> {
    let options = ModelOptions::Networks(EnsembleOptions {
        seed,
        ..EnsembleOptions::for_board("stm32f405")?
    });
    model(task, log, &FitOptions::new(options))
}

/// The model of a cell.
fn chosen(setting: &Setting, kind: Kind, cell: usize, log: &Log) -> Result<ModelFile, Error> {
    let (task, seed) = (setting.task()?, cell as u64);
    if kind != Kind::Pessimistic {
        return fitted(&task, log, seed);
    }
    let logged = setting
        .logging
        .controllers
        .first()
        .unwrap_or(&Controller::IDLE);
    let mut least: Option<(f64, ModelFile)> = None;
    for number in 0..MODELS {
        let model = fitted(&task, log, seed + 1000 * number)?;
        let promised = judge(&task, log, &model, logged, ON_THE_WAY, seed)?.neutral;
        if least.as_ref().is_none_or(|(lowest, _)| promised < *lowest) {
            least = Some((promised, model));
        }
    }
    let least = least.map(|(_, model)| model);
    least.ok_or_else(|| Error::Usage("no model was tried".to_owned()))
}

/// A controller that this model's bound likes better than the cell's own.
fn improved(
    setting: &Setting,
    cell: usize,
    log: &Log,
    model: &ModelFile,
) -> Result<Controller, Error> {
    let task = setting.task()?;
    let draw = &mut Draw::new(0x1417 ^ (cell as u64) << 16);
    let bound = |controller: &Controller| -> Result<f64, Error> {
        let seed = !(cell as u64);
        Ok(judge(&task, log, model, controller, ON_THE_WAY, seed)?.bound)
    };
    let mut best = (bound(&setting.checked)?, setting.checked);
    for _ in 0..STEPS {
        let next = best.1.near(STEP, draw);
        let value = bound(&next)?;
        if value > best.0 {
            best = (value, next);
        }
    }
    Ok(best.1)
}

/// The setting with the controller that is checked in the end, and what is said of it.
fn judged(cell: usize, kind: Kind, setting: &mut Setting) -> Result<Judgement, Error> {
    let log = setting.log(cell)?;
    let model = match chosen(setting, kind, cell, &log) {
        Ok(model) => model,
        Err(error) => return Ok(Judgement::failed("no model", &error)),
    };
    if kind == Kind::Improved {
        let controller = improved(setting, cell, &log, &model)?;
        *setting = setting.clone().with_controller(controller, !(cell as u64));
    }
    let task = setting.task()?;
    let judgement = judge(&task, &log, &model, &setting.checked, SAMPLES, cell as u64);
    Ok(judgement.unwrap_or_else(|error| Judgement::failed("no check", &error)))
}

impl Study for HardCoverage {
    fn name(&self) -> &'static str {
        "hard_coverage"
    }

    fn columns(&self) -> &'static [&'static str] {
        &COLUMNS
    }

    fn cells(&self) -> usize {
        LOGS * HARD.len()
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        let kind = kind_of(cell);
        let mut setting = Setting::of_kind(cell, kind)?;
        let judgement = judged(cell, kind, &mut setting)?;
        let mut row = setting.fields(cell);
        row.extend(setting.judged(&judgement));
        row.push(kind.name().to_owned());
        Ok(vec![row])
    }

    fn summary(&self, table: &Table) -> Summary {
        let mut text = String::new();
        for kind in HARD {
            let rows = table.rows().filter(|row| row.text("kind") == kind.name());
            let rows: Vec<Record<'_>> = rows.collect();
            if !rows.is_empty() {
                let head = format!("{}, {} cells:", kind.name(), rows.len());
                let _ = writeln!(text, "{}", Counts::of(&rows, "").text(&head));
            }
        }
        Summary {
            text,
            svg: strips(
                &table.rows().collect::<Vec<_>>(),
                "kind",
                ", cells that are hard",
            ),
        }
    }
}
