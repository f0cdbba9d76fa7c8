//! Figures 3 and 4: every variant against the number of transitions, and against the horizon.

use super::agents::{AGENTS, Agents};
use super::control_summary;
use super::effort::ReproductionEffort;
use super::setting::{checked, logged};
use crate::Error;
use crate::check::names::VARIANTS;
use crate::environment::{self, MeanReturn, random_returns, rollout_for};
use crate::formats::task::TaskFile;
use crate::foundation::observer::Unobserved;
use crate::foundation::study::rows::{Table, yes_or_no};
use crate::foundation::study::{Row, Study, Summary, digits};
use crate::learn::calibration::CalibrationStatus;
use crate::learn::ensemble::EnsembleOptions;
use crate::learn::fit::{FitOptions, ModelOptions, fit};

/// The seed of the true returns, which no log shares.
const TRUTH_SEED: u64 = 1 << 48;

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

/// Figures 3 and 4 as one study: they share the settings of the largest log and the usual
/// horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct Control(pub ReproductionEffort);

impl Control {
    /// The settings in the order of their cells.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let effort = &self.0;
        let mut settings = Vec::new();
        for agents in &AGENTS {
            if environment::needs_mujoco(agents.system) && !effort.mujoco {
                continue;
            }
            let most = effort.control_rows.last().copied().unwrap_or(0);
            let sizes = effort.control_rows.iter().map(|n| (*n, agents.horizon));
            let horizons = agents.horizons.iter().filter(|t| **t != agents.horizon);
            let pairs = sizes.chain(horizons.map(|t| (most, *t)));
            for (rows, horizon) in pairs {
                for seed in 0..effort.seeds {
                    for width in [SetWidth::One, SetWidth::Nested] {
                        settings.push(Setting {
                            agents,
                            rows,
                            horizon: horizon / effort.shorter,
                            seed,
                            width,
                        });
                    }
                }
            }
        }
        settings
    }

    fn rows(&self, cell: usize, setting: Setting) -> Result<Vec<Row>, Error> {
        let effort = &self.0;
        let Setting {
            agents,
            rows,
            horizon,
            seed,
            width,
        } = setting;
        let system = environment::named(agents.system)?;
        // Logs have the system's own episodes, whatever the check's horizon.
        let log = logged(system.as_ref(), agents, rows, seed)?;
        let task = TaskFile {
            horizon,
            ..agents.task(system.as_ref())?
        };
        let policy = agents.evaluated(&task)?;
        let (system, episodes) = (system.as_ref(), effort.truth_episodes);
        let truth = rollout_for(horizon, system, &policy, episodes, 0.0, TRUTH_SEED)?;
        let truth = truth.mean_return();
        let random = random_returns(horizon, system, episodes, TRUTH_SEED);
        let random = MeanReturn::of(&random);
        let networks = EnsembleOptions {
            hidden: effort.hidden.to_vec(),
            steps: effort.steps,
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
        let result = checked(&task, (&log, &model, &policy), &variants, effort, seed)?;
        let row = |one: &crate::check::result::EstimateResult| {
            vec![
                cell.to_string(),
                agents.system.to_owned(),
                rows.to_string(),
                horizon.to_string(),
                seed.to_string(),
                width.name().to_owned(),
                one.variant.clone(),
                digits(one.mean.0),
                digits(one.std_error.0),
                digits(one.lower.0),
                digits(truth.mean),
                digits(truth.std_error),
                digits(random.mean),
                yes_or_no(calibrated),
            ]
        };
        Ok(result.estimates.iter().map(row).collect())
    }
}

impl Study for Control {
    fn name(&self) -> &'static str {
        "control"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
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
        ]
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

    fn summary(&self, now: &Table, _before: Option<&Table>) -> Summary {
        control_summary::by_rows(now, &self.0)
    }
}
