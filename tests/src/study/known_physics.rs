//! Known physics: the same log, the same controller, and a task that says what is known of the
//! robot or leaves it to the model. How much closer to the truth is the bound?
//!
//! The threshold lies a fifth of the spread below the truth; the spread is the truth less the
//! return of doing nothing.

use hambo_base::Error;
use hambo_core::task::Allocation;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions};

use super::judge::{Judgement, Samples, judge_policy, model};
use super::known_summary;
use super::plant::MARGIN;
use super::robots::{ROBOTS, Robot};
use crate::fixture::Draw;
use hambo_base::study::rows::{Table, yes_or_no};
use hambo_base::study::{Row, Study, Summary, digits};

/// Logs of each robot.
pub const SEEDS: usize = 100;
/// Episodes of a log.
const EPISODES: u32 = 60;
/// Of a true return.
const TRUE_EPISODES: usize = 20_000;
const SAMPLES: Samples = Samples {
    trajectories: Some(4000),
    searched: Some(8),
    allocation: Some(Allocation::Even),
};

/// The study.
pub struct KnownPhysics;

/// The robot of a cell: they take turns.
#[must_use]
pub fn robot(cell: usize) -> &'static Robot {
    &ROBOTS[cell % ROBOTS.len()]
}

impl Study for KnownPhysics {
    fn name(&self) -> &'static str {
        "known"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell",
            "system",
            "known",
            "truth",
            "truth_error",
            "spread",
            "neutral",
            "bound",
            "gap_share",
            "verdict",
            "violated",
            "reasons",
        ]
    }

    fn cells(&self) -> usize {
        ROBOTS.len() * SEEDS
    }

    fn rows_per_cell(&self) -> usize {
        2
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        let (robot, seed) = (robot(cell), cell as u64);
        let draw = &mut Draw::new(0x4B4E_0000 + seed);
        let log = robot.log(EPISODES, draw)?;
        let checked = robot.gains(0.15, draw);
        let [truth, error] = robot.truth(&checked, TRUE_EPISODES, !seed);
        let [idle, _] = robot.truth(&robot.idle(), 2000, !seed);
        let spread = truth - idle;
        let rows = [false, true].map(|known| -> Result<Row, Error> {
            let task = robot.task(known, truth - MARGIN * spread)?;
            let options = EnsembleOptions {
                seed,
                ..EnsembleOptions::for_board("stm32f405")?
            };
            let options = FitOptions::new(ModelOptions::Networks(options));
            let judgement = match model(&task, &log, &options) {
                Err(error) => Judgement::failed("no model", &error),
                Ok(model) => {
                    let policy = robot.policy(&checked, &task)?;
                    judge_policy(&task, &log, &model, &policy, SAMPLES, seed)
                        .unwrap_or_else(|error| Judgement::failed("no check", &error))
                }
            };
            Ok(vec![
                cell.to_string(),
                robot.name.to_owned(),
                yes_or_no(known),
                digits(truth),
                digits(error),
                digits(spread),
                digits(judgement.neutral),
                judgement.bound_text(),
                digits((truth - judgement.bound) / spread),
                judgement.verdict.to_owned(),
                yes_or_no(judgement.violates(truth, error)),
                judgement.reasons,
            ])
        });
        rows.into_iter().collect()
    }

    fn summary(&self, table: &Table) -> Summary {
        known_summary::summary(table)
    }
}
