//! Hopper and HalfCheetah of figures 3 and 4. Their large networks are trained once for all
//! horizons and both sets.

use super::agents::{AGENTS, Agents};
use super::control::{COLUMNS, CheckedSetting, TRUTH_SEED};
use super::control_summary::{self, Axis, points};
use super::effort::{MUJOCO, ReproductionEffort};
use super::setting::{CheckSizes, checked, logged};
use crate::environment;
use crate::environment::random::{MeanReturn, random_returns};
use crate::environment::rollout::rollout_for;
use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_base::study::rows::Table;
use hambo_base::study::{Row, Study, Summary};
use hambo_check::names::VARIANTS;
use hambo_learn::calibration::CalibrationStatus;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit_sets};
use hambo_task::task::TaskFile;

/// What the adversary may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rules {
    /// beta = 1 and no noise: the setting of the authors' published numbers.
    Authors,
    /// The set holds every network, and noise is sampled: hambo's default.
    Nested,
}

impl Rules {
    const BOTH: [Self; 2] = [Self::Authors, Self::Nested];

    fn name(self) -> &'static str {
        match self {
            Self::Authors => "authors",
            Self::Nested => "nested",
        }
    }

    fn beta(self) -> Option<f32> {
        match self {
            Self::Authors => Some(1.0),
            Self::Nested => None,
        }
    }
}

/// A log, the networks that are trained on it, and the horizons under which they are checked.
#[derive(Clone, Debug, PartialEq)]
pub struct LocomotionCell {
    /// The system with its controllers.
    pub agents: &'static Agents,
    /// Transitions of the log.
    pub rows: u32,
    /// Steps of an episode under the checks.
    pub horizons: Vec<u32>,
    /// The seed of log, model and trajectories.
    pub seed: u64,
}

/// The study of the systems that need MuJoCo.
#[derive(Clone, Debug, PartialEq)]
pub struct Locomotion(pub ReproductionEffort);

impl Locomotion {
    /// Seed by seed, the largest log first, so that a part of them is a coarser figure. All
    /// horizons belong to the largest log.
    #[must_use]
    pub fn all(&self) -> Vec<LocomotionCell> {
        let effort = &self.0;
        let mut cells = Vec::new();
        if !effort.mujoco {
            return cells;
        }
        let most = effort.control_rows.last().copied();
        let sizes = most.into_iter().chain(
            effort
                .control_rows
                .iter()
                .copied()
                .filter(|rows| Some(*rows) != most),
        );
        for seed in 0..effort.seeds {
            for rows in sizes.clone() {
                for agents in AGENTS.iter().filter(|agents| agents.needs_mujoco()) {
                    cells.push(LocomotionCell {
                        agents,
                        rows,
                        horizons: if Some(rows) == most {
                            agents.horizons.to_vec()
                        } else {
                            vec![agents.horizon]
                        },
                        seed,
                    });
                }
            }
        }
        cells
    }
}

impl LocomotionCell {
    fn rows(&self, number: usize) -> Result<Vec<Row>, Error> {
        let agents = self.agents;
        let system = environment::named(agents.system)?;
        let system = system.as_ref();
        let log = logged(system, agents, self.rows, self.seed)?;
        let longest = self.horizons.iter().copied().max();
        let task = TaskFile {
            horizon: longest.unwrap_or(agents.horizon),
            ..agents.task()?
        };
        let networks = EnsembleOptions {
            hidden: MUJOCO.hidden.to_vec(),
            steps: MUJOCO.updates,
            noise_cap: MUJOCO.noise_cap,
            seed: self.seed,
            ..EnsembleOptions::paper()
        };
        let options = FitOptions::new(ModelOptions::Networks(networks));
        let betas = Rules::BOTH.map(Rules::beta);
        let sets = fit_sets(&task, &log, &options, &betas, &mut Unobserved)?;
        let policy = agents.evaluated(&task)?;
        let mut rows = Vec::new();
        for horizon in &self.horizons {
            let episodes = MUJOCO.truth_episodes;
            let truth = rollout_for(*horizon, system, &policy, episodes, 0.0, TRUTH_SEED)?;
            let truth = truth.mean_return();
            let random = random_returns(*horizon, system, episodes, TRUTH_SEED);
            let random = MeanReturn::of(&random);
            for (rules, (model, calibration)) in Rules::BOTH.into_iter().zip(&sets) {
                let task = TaskFile {
                    horizon: *horizon,
                    ..task.clone()
                };
                let sizes = CheckSizes {
                    noise: rules == Rules::Nested,
                    ..MUJOCO.check
                };
                let variants = VARIANTS.map(|(variant, _)| variant);
                let parts = (&log, model, &policy);
                let result = checked(&task, parts, &variants, sizes, self.seed)?;
                let calibrated = calibration.status == CalibrationStatus::Calibrated;
                let one = CheckedSetting {
                    cell: number,
                    system: agents.system,
                    rows: self.rows,
                    horizon: *horizon,
                    seed: self.seed,
                    beta: rules.name(),
                    returns: [truth, random],
                    calibrated,
                };
                rows.extend(one.rows(&result));
            }
        }
        Ok(rows)
    }
}

impl Study for Locomotion {
    fn name(&self) -> &'static str {
        "locomotion"
    }

    fn columns(&self) -> &'static [&'static str] {
        COLUMNS
    }

    fn cells(&self) -> usize {
        self.all().len()
    }

    fn rows_of(&self, cell: usize) -> usize {
        let horizons = self.all().get(cell).map_or(0, |cell| cell.horizons.len());
        horizons * Rules::BOTH.len() * VARIANTS.len()
    }

    fn can_run(&self, cell: usize) -> bool {
        let cells = self.all();
        let cell = cells.get(cell);
        cell.is_some_and(|cell| environment::named(cell.agents.system).is_ok())
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        match self.all().get(cell) {
            Some(one) => one.rows(cell),
            None => Ok(Vec::new()),
        }
    }

    fn summary(&self, now: &Table) -> Summary {
        control_summary::summary(&points(now), Axis::Rows, &self.0)
    }
}
