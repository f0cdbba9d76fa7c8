//! Figure 2: the bound of Gaussian processes against the number of transitions.
//!
//! States and actions of the log are uniform, as in the paper. The check starts from the very
//! states from which the true return is measured, so that their choice is no part of the gap.

use std::f64::consts::PI;

use hambo_core::numeric::random::Stream;
use hambo_core::task::Variant;

use super::agents::AGENTS;
use super::convergence_summary::{picture, points, text};
use super::effort::ReproductionEffort;
use super::setting::{CheckSizes, checked};
use crate::environment::pendulum::Pendulum;
use crate::environment::point_env::PointEnv;
use crate::environment::random::uniform_log;
use crate::environment::rollout::rollout_for;
use crate::environment::system::Environment;
use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_base::study::rows::{Table, yes_or_no};
use hambo_base::study::{Row, Study, Summary, digits};
use hambo_learn::calibration::CalibrationStatus;
use hambo_learn::fit::{FitOptions, GaussianProcessOptions, ModelOptions, fit};
use hambo_learn::gaussian_process::SearchOptions;
use hambo_task::policy::HostPolicy;
use hambo_task::task::{Initial, TaskFile};

/// Half the width of the paper's square of states.
const POINT_STATES: f64 = 40.0;
/// The pendulum's largest speed.
const PENDULUM_SPEED: f64 = 8.0;

/// Trajectories draw their first states at random; with this number for each start, hardly
/// one is left out (e⁻⁸).
const TRAJECTORIES_PER_START: u32 = 8;

/// Figure 2 as a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence(pub ReproductionEffort);

/// One log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    name: &'static str,
    rows: u32,
    seed: u64,
}

impl Convergence {
    fn cell(&self, number: usize) -> Option<Cell> {
        let of = |name, sizes: &'static [u32]| {
            let seeds = self.0.seeds;
            let cells = move |rows: &'static u32| {
                (0..seeds).map(move |seed| Cell {
                    name,
                    rows: *rows,
                    seed,
                })
            };
            sizes.iter().flat_map(cells)
        };
        let point = of("point_env", self.0.point_rows);
        point
            .chain(of("pendulum", self.0.pendulum_rows))
            .nth(number)
    }
}

/// Draws a state of the log.
type Draw = fn(&mut Stream) -> Vec<f64>;

fn between(stream: &mut Stream, limit: f64) -> f64 {
    limit * (2.0 * f64::from(stream.uniform()) - 1.0)
}

/// A system, what is checked of it, and how the log's states are drawn.
struct Case {
    system: Box<dyn Environment>,
    task: TaskFile,
    policy: HostPolicy,
    draw: Draw,
}

fn case(name: &str) -> Result<Case, Error> {
    if name == "point_env" {
        let system = PointEnv::new()?;
        let policy = system.proportional()?;
        let draw: Draw =
            |stream| vec![between(stream, POINT_STATES), between(stream, POINT_STATES)];
        return Ok(Case {
            task: system.task().clone(),
            system: Box::new(system),
            policy,
            draw,
        });
    }
    let system = Pendulum::new()?;
    let agents = AGENTS.iter().find(|agents| agents.system == name);
    let agents = agents.ok_or_else(|| Error::Usage(format!("no controllers for `{name}`")))?;
    let policy = agents.evaluated(system.task())?;
    let draw: Draw = |stream| vec![between(stream, PI), between(stream, PENDULUM_SPEED)];
    Ok(Case {
        task: agents.task()?,
        system: Box::new(system),
        policy,
        draw,
    })
}

impl Study for Convergence {
    fn name(&self) -> &'static str {
        "fig2"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell",
            "system",
            "rows",
            "horizon",
            "seed",
            "mean",
            "lower",
            "neutral",
            "truth",
            "truth_error",
            "calibrated",
        ]
    }

    fn cells(&self) -> usize {
        let sizes = self.0.point_rows.len() + self.0.pendulum_rows.len();
        sizes * self.0.seeds as usize
    }

    fn run(&self, number: usize) -> Result<Vec<Row>, Error> {
        let Some(Cell { name, rows, seed }) = self.cell(number) else {
            return Ok(Vec::new());
        };
        let case = case(name)?;
        let horizon = case.task.horizon / self.0.shorter;
        let system = case.system.as_ref();
        let policy = case.policy;
        // The same first states for every size of the log.
        let truth = rollout_for(horizon, system, &policy, self.0.starts, 0.0, seed)?;
        let task = TaskFile {
            horizon,
            initial: Initial::Data { always: false },
            ..case.task
        };
        let log = uniform_log(system, &case.draw, rows, seed + 1000)?;
        let process = GaussianProcessOptions {
            search: SearchOptions {
                seed,
                ..SearchOptions::default()
            },
            delta: f64::from(task.delta),
            ..GaussianProcessOptions::default()
        };
        let options = FitOptions::new(ModelOptions::GaussianProcess(process));
        let (model, calibration) = fit(&task, &log, &options, &mut Unobserved)?;
        let sizes = CheckSizes {
            trajectories: TRAJECTORIES_PER_START * self.0.starts,
            ..self.0.pendulum.check
        };
        let parts = (&truth.log, &model, &policy);
        let ca = [Variant::ContinuousAdversary];
        let result = checked(&task, parts, &ca, sizes, seed)?;
        let mean = result
            .evidence
            .estimates
            .iter()
            .find(|one| one.variant == "ca");
        Ok(vec![vec![
            number.to_string(),
            name.to_owned(),
            rows.to_string(),
            horizon.to_string(),
            seed.to_string(),
            digits(mean.map_or(f64::NAN, |one| one.mean.0)),
            digits(result.decision.bound.0),
            digits(result.decision.neutral.0),
            digits(truth.mean_return().mean),
            digits(truth.mean_return().std_error),
            yes_or_no(calibration.status == CalibrationStatus::Calibrated),
        ]])
    }

    fn summary(&self, now: &Table) -> Summary {
        let points = points(now);
        Summary {
            text: text(&points),
            svg: picture(&points).to_svg().unwrap_or_default(),
        }
    }
}
