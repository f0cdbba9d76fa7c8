//! The pendulum of figures 3 and 4: every variant against the number of transitions, and against
//! the horizon.

use super::agents::{AGENTS, Agents};
use super::control_summary::{self, Axis, points};
use super::effort::ReproductionEffort;
use super::setting::{checked, logged};
use crate::environment;
use crate::environment::random::{MeanReturn, random_returns};
use crate::environment::rollout::rollout_for;
use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_base::study::rows::{Table, yes_or_no};
use hambo_base::study::{Row, Study, Summary, digits};
use hambo_check::CheckResult;
use hambo_check::estimates::EstimateResult;
use hambo_check::names::VARIANTS;
use hambo_learn::calibration::CalibrationStatus;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_task::task::TaskFile;

/// The seed of the true returns, which no log shares.
pub(super) const TRUTH_SEED: u64 = 1 << 48;

/// The columns of the rows of figures 3 and 4.
pub(super) const COLUMNS: &[&str] = &[
    "cell",
    "system",
    "rows",
    "horizon",
    "seed",
    "beta",
    "variant",
    "mean",
    "std_error",
    "lower",
    "truth",
    "truth_error",
    "random",
    "calibrated",
];

/// Half the width of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetWidth {
    /// beta = 1, the authors' choice.
    One,
    /// Wide enough for every network, hambo's default.
    Nested,
}

impl SetWidth {
    /// As the rows call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Nested => "nested",
        }
    }
}

/// One check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// The system with its controllers.
    pub agents: &'static Agents,
    /// Transitions of the log.
    pub rows: u32,
    /// Steps of an episode under the check.
    pub horizon: u32,
    /// The seed of log, model and trajectories.
    pub seed: u64,
    /// The width of the set.
    pub width: SetWidth,
}

/// Both figures as one study: they share the settings of the largest log and the usual
/// horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct Control(pub ReproductionEffort);

impl Control {
    /// The settings in the order of their cells.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for agents in AGENTS.iter().filter(|agents| !agents.needs_mujoco()) {
            for (rows, horizon) in self.sizes(agents).chain(self.horizons(agents)) {
                for seed in 0..self.0.seeds {
                    settings.extend(self.widths(agents, rows, horizon, seed));
                }
            }
        }
        settings
    }

    /// Figure 3: sizes of logs, at the usual horizon.
    fn sizes(&self, agents: &Agents) -> impl Iterator<Item = (u32, u32)> + use<> {
        let horizon = agents.horizon;
        self.0.control_rows.iter().map(move |n| (*n, horizon))
    }

    /// What figure 4 adds: the other horizons, at the largest log.
    fn horizons(&self, agents: &Agents) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (usual, most) = (agents.horizon, self.0.control_rows.last().copied());
        let others = agents.horizons.iter().filter(move |t| **t != usual);
        others.map(move |t| (most.unwrap_or(0), *t))
    }

    fn widths(&self, agents: &'static Agents, rows: u32, horizon: u32, seed: u64) -> [Setting; 2] {
        [SetWidth::One, SetWidth::Nested].map(|width| Setting {
            agents,
            rows,
            horizon: horizon / self.0.shorter,
            seed,
            width,
        })
    }

    fn rows(&self, cell: usize, setting: Setting) -> Result<Vec<Row>, Error> {
        let Setting {
            agents,
            rows,
            horizon,
            seed,
            width,
        } = setting;
        let effort = self.0.of(agents.system);
        let system = environment::named(agents.system)?;
        let log = logged(system.as_ref(), agents, rows, seed)?;
        let task = TaskFile {
            horizon,
            ..agents.task()?
        };
        let policy = agents.evaluated(&task)?;
        let (system, episodes) = (system.as_ref(), effort.truth_episodes);
        let truth = rollout_for(horizon, system, &policy, episodes, 0.0, TRUTH_SEED)?;
        let truth = truth.mean_return();
        let random = random_returns(horizon, system, episodes, TRUTH_SEED);
        let random = MeanReturn::of(&random);
        let networks = EnsembleOptions {
            hidden: effort.hidden.to_vec(),
            steps: effort.updates,
            noise_cap: effort.noise_cap,
            seed,
            ..EnsembleOptions::paper()
        };
        let options = FitOptions {
            beta: match width {
                SetWidth::One => Some(1.0),
                SetWidth::Nested => None,
            },
            ..FitOptions::new(ModelOptions::Networks(networks))
        };
        let (model, calibration) = fit(&task, &log, &options, &mut Unobserved)?;
        let calibrated = calibration.status == CalibrationStatus::Calibrated;
        let variants = VARIANTS.map(|(variant, _)| variant);
        let result = checked(
            &task,
            (&log, &model, &policy),
            &variants,
            effort.check,
            seed,
        )?;
        let one = CheckedSetting {
            cell,
            system: agents.system,
            rows,
            horizon,
            seed,
            beta: width.name(),
            returns: [truth, random],
            calibrated,
        };
        Ok(one.rows(&result))
    }
}

/// What stands beside the estimates of a check in its rows.
pub(super) struct CheckedSetting {
    pub cell: usize,
    pub system: &'static str,
    pub rows: u32,
    pub horizon: u32,
    pub seed: u64,
    pub beta: &'static str,
    /// The truth, and of random actions.
    pub returns: [MeanReturn; 2],
    pub calibrated: bool,
}

impl CheckedSetting {
    /// A row for each estimate, in the order of [`COLUMNS`].
    pub fn rows(&self, result: &CheckResult) -> Vec<Row> {
        let [truth, random] = &self.returns;
        let row = |one: &EstimateResult| {
            vec![
                self.cell.to_string(),
                self.system.to_owned(),
                self.rows.to_string(),
                self.horizon.to_string(),
                self.seed.to_string(),
                self.beta.to_owned(),
                one.variant.clone(),
                digits(one.mean.0),
                digits(one.std_error.0),
                digits(one.lower.0),
                digits(truth.mean),
                digits(truth.std_error),
                digits(random.mean),
                yes_or_no(self.calibrated),
            ]
        };
        result.evidence.estimates.iter().map(row).collect()
    }
}

impl Study for Control {
    fn name(&self) -> &'static str {
        "control"
    }

    fn columns(&self) -> &'static [&'static str] {
        COLUMNS
    }

    fn cells(&self) -> usize {
        self.settings().len()
    }

    fn rows_per_cell(&self) -> usize {
        VARIANTS.len()
    }

    fn can_run(&self, cell: usize) -> bool {
        let settings = self.settings();
        let setting = settings.get(cell);
        setting.is_some_and(|setting| environment::named(setting.agents.system).is_ok())
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        match self.settings().get(cell) {
            Some(setting) => self.rows(cell, *setting),
            None => Ok(Vec::new()),
        }
    }

    fn summary(&self, now: &Table) -> Summary {
        control_summary::summary(&points(now), Axis::Rows, &self.0)
    }
}
