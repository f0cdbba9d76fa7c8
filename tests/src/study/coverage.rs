//! Coverage: random systems, logs and controllers whose true return is known. How often does
//! a bound lie above the truth, how far below it does it lie, how often is a good controller
//! deployed?
//!
//! The controller that is checked is another one than those that logged, near them. The
//! threshold lies a fifth of the spread below the truth: every verdict should be `deploy`.
//! The spread is the truth less the return of doing nothing.

use hambo_base::Error;
use hambo_core::task::Allocation;
use hambo_data::Log;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, GaussianProcessOptions, Keep, ModelOptions};
use hambo_learn::gaussian_process::SearchOptions;
use hambo_task::task::TaskFile;

use super::coverage_kind::Kind;
use super::focused_summary::Beside;
use super::judge::{Judgement, Samples, judge, model};
use super::kept::kept;
use super::plant::{DELTA, MARGIN, Plant};
use super::simulate::{Controller, Felt, Logging, Quantity, TRUE_EPISODES, Truth, log, truth};
use super::{coverage_summary, families};
use crate::fixture::Draw;
use hambo_base::study::rows::{Table, yes_or_no};
use hambo_base::study::{Row, Study, Summary, digits};

/// Cells whose logs have exploration.
pub const EXPLORED: usize = 520;
/// Cells whose logs have none; every one with a Gaussian process.
pub const UNEXPLORED: usize = 40;
/// Of a check on networks.
pub const SAMPLES: Samples = Samples {
    trajectories: Some(2000),
    searched: Some(8),
    allocation: Some(Allocation::Even),
};
/// Of a check on a Gaussian process, whose steps cost several times as much.
const PROCESS_SAMPLES: Samples = Samples {
    trajectories: Some(500),
    searched: Some(8),
    allocation: Some(Allocation::Even),
};
/// Points of a Gaussian process.
const POINTS: usize = 100;

/// The study.
pub struct Coverage {
    /// How the search spends the steps of the model.
    allocation: Allocation,
}

impl Coverage {
    /// With the default of a check.
    pub const EVEN: Self = Self {
        allocation: Allocation::Even,
    };
    /// The same systems, logs and networks with a focused search; no Gaussian processes.
    pub const FOCUSED: Self = Self {
        allocation: Allocation::Focused,
    };

    /// Whether a cell has a Gaussian process beside its networks.
    fn has_process(&self, cell: usize) -> bool {
        self.allocation == Allocation::Even && (cell.is_multiple_of(4) || cell >= EXPLORED)
    }
}

/// A system with a log and a controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The system.
    pub plant: Plant,
    /// T.
    pub horizon: usize,
    /// How the log is made.
    pub logging: Logging,
    /// The controller that is checked.
    pub checked: Controller,
    /// What a constraint is about, and the most that its mean may be.
    pub constraint: Option<(Quantity, f32)>,
    /// What the controller truly does.
    pub truth: Truth,
    /// The truth less the return of doing nothing.
    pub spread: f64,
}

impl Setting {
    /// That of a cell: drawn again until the system is one to judge controllers on.
    ///
    /// # Errors
    /// If none is found.
    pub fn of(cell: usize) -> Result<Self, Error> {
        Self::of_kind(cell, Kind::Usual)
    }

    /// That of a cell of some kind.
    ///
    /// # Errors
    /// If none is found.
    pub fn of_kind(cell: usize, kind: Kind) -> Result<Self, Error> {
        for attempt in 0..1000 {
            let seed = (cell as u64) << 10 | attempt;
            if let Some(setting) = Self::draw(cell, seed, kind) {
                return Ok(setting);
            }
        }
        Err(Error::Usage(format!("cell {cell}: no system is fit")))
    }

    fn draw(cell: usize, seed: u64, kind: Kind) -> Option<Self> {
        let draw = &mut Draw::new(seed);
        // Every family among every fourth cell, too.
        let mut plant = families::random(cell + cell / 8, draw);
        kind.change(&mut plant, draw);
        let horizon = 20 + draw.below(41);
        let tuned = families::tuned(&plant, horizon, draw);
        let controllers = (0..1 + draw.below(3)).map(|_| tuned.near(0.2, draw));
        let logging = Logging {
            controllers: controllers.collect(),
            exploration: draw.between(0.05, 0.5) * f32::from(u8::from(cell < EXPLORED)),
            episodes: 30 + draw.below(121),
            steps: kind.steps(horizon, 20 + draw.below(41)),
            hole: None,
            calm: None,
            felt: Felt::AtOnce,
        };
        let checked = tuned.near(0.2, draw);
        let quantity = match draw.below(2) {
            0 => Quantity::Action,
            _ => Quantity::State(draw.below(plant.states)),
        };
        let constrained = draw.below(3) == 0;
        let value =
            |controller, episodes| truth(&plant, controller, horizon, quantity, episodes, !seed);
        let quick = value(&checked, 200);
        let idle = value(&Controller::IDLE, 2000).value.mean;
        // No controller to deploy, or nothing to lose without one.
        if quick.farthest > 8.0 || quick.value.mean - idle < 0.25 * idle.abs() {
            return None;
        }
        let truth = value(&checked, TRUE_EPISODES);
        // The limit that a person would write: half more than the controller needs.
        let level = (150.0 * truth.quantity.mean).round() / 100.0;
        let constraint = constrained.then_some((quantity, level as f32));
        Some(Self {
            horizon,
            logging,
            checked,
            constraint: constraint.filter(|(_, level)| *level > 0.0),
            truth,
            spread: truth.value.mean - idle,
            plant,
        })
    }

    /// The same with another controller, and its truth.
    #[must_use]
    pub fn with_controller(self, checked: Controller, seed: u64) -> Self {
        let idle = self.truth.value.mean - self.spread;
        let (plant, horizon) = (&self.plant, self.horizon);
        let quantity = self
            .constraint
            .map_or(Quantity::Action, |(quantity, _)| quantity);
        let truth = truth(plant, &checked, horizon, quantity, TRUE_EPISODES, seed);
        Self {
            checked,
            spread: truth.value.mean - idle,
            truth,
            ..self
        }
    }

    /// What the bound must reach.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.truth.value.mean - MARGIN * self.spread
    }

    /// The task.
    ///
    /// # Errors
    /// If the text is wrong, which would be a bug of this study.
    pub fn task(&self) -> Result<TaskFile, Error> {
        let constraint = match self.constraint {
            Some((quantity, level)) => format!(
                "[[constraint]]\nname = \"moderate\"\nexpr = \"{level} - {}\"\n",
                quantity.text()
            ),
            None => String::new(),
        };
        let threshold = self.threshold() as f32;
        let text = self.plant.task_text(self.horizon, threshold, &constraint);
        Ok(TaskFile::parse(&text, "coverage.toml")?)
    }

    /// The log.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn log(&self, cell: usize) -> Result<Log, Error> {
        log(&self.plant, &self.logging, 0x10C0 ^ (cell as u64) << 20)
    }

    /// The constraint's true mean, and its standard error.
    #[must_use]
    pub fn constraint_truth(&self) -> Option<[f64; 2]> {
        let quantity = self.truth.quantity;
        let (_, level) = self.constraint?;
        Some([f64::from(level) - quantity.mean, quantity.error])
    }

    /// The fields that no program changes.
    #[must_use]
    pub fn fields(&self, cell: usize) -> Row {
        let termination = match (self.plant.end, self.plant.cost.shape) {
            (None, _) => "none",
            (Some(end), _) if end.penalty > 0.0 => "limit",
            _ => "alive bonus",
        };
        let noise = self.plant.noise[0] / self.plant.start[1][0];
        let constraint = self.constraint.map(|(quantity, _)| quantity.text());
        let [constraint_truth, constraint_error] = match self.constraint_truth() {
            Some(truth) => truth.map(digits),
            None => [String::new(), String::new()],
        };
        let value = self.truth.value;
        vec![
            cell.to_string(),
            self.plant.name.to_owned(),
            self.plant.states.to_string(),
            digits(f64::from(noise)),
            termination.to_owned(),
            constraint.unwrap_or_else(|| "none".to_owned()),
            digits(f64::from(self.logging.exploration)),
            self.logging.episodes.to_string(),
            self.logging.steps.to_string(),
            self.horizon.to_string(),
            DELTA.to_string(),
            digits(value.mean),
            digits(value.error),
            digits(self.spread),
            constraint_truth,
            constraint_error,
        ]
    }

    /// The fields of one model's judgement.
    pub(super) fn judged(&self, judgement: &Judgement) -> Row {
        let truth = self.truth.value;
        let gap = (truth.mean - judgement.bound) / self.spread;
        let above = self.constraint_truth().zip(judgement.constraint);
        let above = above.map(|([truth, error], lower)| lower > truth + 3.0 * error);
        vec![
            digits(judgement.neutral),
            judgement.bound_text(),
            digits(gap),
            judgement.verdict.to_owned(),
            yes_or_no(judgement.violates(truth.mean, truth.error)),
            judgement.constraint.map(digits).unwrap_or_default(),
            above.map(yes_or_no).unwrap_or_default(),
            judgement.reasons.clone(),
        ]
    }
}

/// The networks of a cell.
///
/// # Errors
/// If there is no such board, which would be a bug of this study.
pub fn networks(cell: usize) -> Result<ModelOptions, Error> {
    Ok(ModelOptions::Networks(EnsembleOptions {
        seed: cell as u64,
        ..EnsembleOptions::for_board("stm32f405")?
    }))
}

/// All columns; those of a Gaussian process come last.
pub const COLUMNS: [&str; 32] = [
    "cell",
    "system",
    "states",
    "noise",
    "termination",
    "constraint",
    "exploration",
    "episodes",
    "steps",
    "horizon",
    "delta",
    "truth",
    "truth_error",
    "spread",
    "constraint_truth",
    "constraint_error",
    "neutral",
    "bound",
    "gap_share",
    "verdict",
    "violated",
    "constraint_lower",
    "constraint_violated",
    "reasons",
    "gp_neutral",
    "gp_bound",
    "gp_gap_share",
    "gp_verdict",
    "gp_violated",
    "gp_constraint_lower",
    "gp_constraint_violated",
    "gp_reasons",
];

/// The columns of a setting and its networks.
pub const NETWORK_COLUMNS: usize = 24;

/// The columns that [`Setting::fields`] fills.
pub const SETTING_COLUMNS: usize = 16;

impl Study for Coverage {
    fn name(&self) -> &'static str {
        if self.allocation == Allocation::Focused {
            "focused"
        } else {
            "coverage"
        }
    }

    fn columns(&self) -> &'static [&'static str] {
        &COLUMNS
    }

    fn cells(&self) -> usize {
        EXPLORED + UNEXPLORED
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        let setting = Setting::of(cell)?;
        let task = setting.task()?;
        let log = setting.log(cell)?;
        let seed = cell as u64;
        let judged = |options: ModelOptions, samples: Samples| -> Row {
            let options = FitOptions::new(options);
            let judgement = match model(&task, &log, &options) {
                Err(error) => Judgement::failed("no model", &error),
                Ok(model) => judge(&task, &log, &model, &setting.checked, samples, seed)
                    .unwrap_or_else(|error| Judgement::failed("no check", &error)),
            };
            setting.judged(&judgement)
        };
        let mut row = setting.fields(cell);
        let samples = Samples {
            allocation: Some(self.allocation),
            ..SAMPLES
        };
        row.extend(judged(networks(cell)?, samples));
        if self.has_process(cell) {
            let process = GaussianProcessOptions {
                search: SearchOptions {
                    starts: 2,
                    search_rows: 200,
                    seed,
                    ..SearchOptions::default()
                },
                most_rows: 600,
                keep: Keep::Points(POINTS),
                delta: DELTA,
                ..GaussianProcessOptions::default()
            };
            let process = ModelOptions::GaussianProcess(process);
            row.extend(judged(process, PROCESS_SAMPLES));
        }
        row.resize(self.columns().len(), String::new());
        Ok(vec![row])
    }

    fn summary(&self, table: &Table) -> Summary {
        let mut summary = coverage_summary::summary(table, self.allocation);
        if self.allocation == Allocation::Focused {
            summary.text += &match kept(&Self::EVEN) {
                Ok(even) => Beside::of(table, &even).text(),
                Err(why) => format!("not beside the even search: {why}\n"),
            };
        }
        summary
    }
}
