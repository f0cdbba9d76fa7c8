//! Table 1: controllers that are learned from a log alone, on D4RL's scale.
//!
//! A model is fitted to the log, controller and adversary learn in turns on short rollouts of
//! it, and the controller with the best bound among those judged on the way is driven on the
//! true system once, in the end. The true system decides nothing.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hambo_core::task::Variant;
use hambo_core::task::{Allocation, Effort};

use super::offline_effort::{Imitation, OfflineEffort};
use super::offline_log::{LoggedBy, SYSTEM, agents, d4rl_score};
use super::offline_summary;
use crate::environment;
use crate::environment::random::MeanReturn;
use crate::environment::rollout::rollout_for;
use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_base::study::rows::{Table, yes_or_no};
use hambo_base::study::{Row, Study, Summary, digits};
use hambo_base::thread_time::thread_seconds;
use hambo_check::assumption::SetOrigin;
use hambo_check::case::{Case, first_states};
use hambo_check::fitness::Standing;
use hambo_check::improve::{ImproveOptions, Improved, improve};
use hambo_data::{Log, with_return_so_far};
use hambo_learn::calibration::CalibrationStatus;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_learn::model_file::ModelFile;
use hambo_task::plan::CheckPlan;
use hambo_task::policy::{HostPolicy, for_task};
use hambo_task::task::TaskFile;

/// The seed of the true returns, which no log shares.
const TRUTH_SEED: u64 = 1 << 48;
/// Candidates are averages over about ten rounds.
const AVERAGING: f32 = 0.9;
/// Searched trajectories and sweeps of the checks that judge.
const SEARCH: (u32, u32) = (6, 1);
/// Whom the judged controllers have to stand up to, whoever taught them: CA's bound is below the
/// return of random actions, and ranks nothing.
const JUDGED_AGAINST: Variant = Variant::DiscreteAdversary1;

/// One cell of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfflineCell {
    /// Who logged.
    pub log: LoggedBy,
    /// Whom the controller has to stand up to.
    pub variant: Variant,
    /// As the rows call that.
    pub opponent: &'static str,
    /// The paper's score.
    pub paper: f64,
}

const fn cell(log: LoggedBy, variant: Variant, opponent: &'static str, paper: f64) -> OfflineCell {
    OfflineCell {
        log,
        variant,
        opponent,
        paper,
    }
}

/// The cells in the order of their numbers.
pub const CELLS: [OfflineCell; 4] = [
    cell(LoggedBy::Medium, Variant::ContinuousAdversary, "ca", 66.9),
    cell(LoggedBy::Medium, Variant::DiscreteAdversary1, "da1", 67.9),
    cell(LoggedBy::Random, Variant::ContinuousAdversary, "ca", 37.1),
    cell(LoggedBy::Random, Variant::DiscreteAdversary1, "da1", 35.1),
];

/// Table 1 as a study.
pub struct Offline {
    effort: OfflineEffort,
    /// What both cells of a log begin with: whoever comes first makes it.
    begun: [Mutex<Option<Begun>>; 2],
}

/// A log and its model.
#[derive(Clone)]
struct Begun {
    log: Log,
    /// The mean return of its episodes.
    logged: MeanReturn,
    model: ModelFile,
    calibrated: bool,
    /// What that took.
    seconds: Seconds,
}

/// What something took.
#[derive(Clone, Copy)]
struct Seconds {
    cpu: f64,
    wall: f64,
}

/// Measures it, on this thread.
struct Stopwatch {
    began: Instant,
    cpu: Option<f64>,
}

impl Stopwatch {
    fn start() -> Self {
        Self {
            began: Instant::now(),
            cpu: thread_seconds(),
        }
    }

    fn read(&self) -> Seconds {
        let cpu = self.cpu.zip(thread_seconds());
        Seconds {
            cpu: cpu.map_or(f64::NAN, |(from, to)| to - from),
            wall: self.began.elapsed().as_secs_f64(),
        }
    }
}

impl Offline {
    /// With nothing begun.
    #[must_use]
    pub fn new(effort: OfflineEffort) -> Self {
        Self {
            effort,
            begun: [Mutex::new(None), Mutex::new(None)],
        }
    }

    /// The log and its model, made or found.
    fn begun(&self, by: LoggedBy) -> Result<Begun, Error> {
        let [random, medium] = &self.begun;
        let place = match by {
            LoggedBy::Random => random,
            LoggedBy::Medium => medium,
        };
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(begun) = &*place {
            return Ok(begun.clone());
        }
        let watch = Stopwatch::start();
        let effort = &self.effort;
        let system = environment::named(SYSTEM)?;
        let size = (effort.episodes, effort.steps);
        let run = by.run(system.as_ref(), size, effort.seed << 32)?;
        let log = with_return_so_far(&run.log)?;
        let (model, calibrated) = self.model(&agents()?.task()?, &log)?;
        let begun = Begun {
            logged: run.mean_return(),
            log,
            model,
            calibrated,
            seconds: watch.read(),
        };
        *place = Some(begun.clone());
        Ok(begun)
    }

    fn rows(&self, number: usize, cell: OfflineCell) -> Result<Vec<Row>, Error> {
        let effort = &self.effort;
        let system = environment::named(SYSTEM)?;
        let system = system.as_ref();
        let begun = self.begun(cell.log)?;
        let watch = Stopwatch::start();
        let improved = self.improved(cell, &begun)?;
        let learning = watch.read();
        let policy = HostPolicy::Perceptron(improved.policy.clone());
        let policy = for_task(policy, system.task());
        let scored = (effort.scored, effort.steps);
        let truth = rollout_for(scored.1, system, &policy, scored.0, 0.0, TRUTH_SEED)?;
        let truth = d4rl_score(truth.mean_return(), effort.steps);
        let own = cell.log.own_return(system, scored, TRUTH_SEED)?;
        let candidate = &improved.candidate;
        Ok(vec![vec![
            number.to_string(),
            cell.log.name().to_owned(),
            begun.log.len().to_string(),
            digits(d4rl_score(begun.logged, effort.steps).mean),
            digits(d4rl_score(own, effort.steps).mean),
            cell.opponent.to_owned(),
            effort.seed.to_string(),
            digits(truth.mean),
            digits(truth.std_error),
            digits(cell.paper),
            candidate.round.to_string(),
            digits(f64::from(candidate.bound)),
            yes_or_no(candidate.standing == Standing::Sound),
            yes_or_no(begun.calibrated),
            digits(begun.seconds.cpu),
            digits(learning.cpu),
            digits(begun.seconds.wall),
            digits(learning.wall),
        ]])
    }

    /// The paper's networks and its calibration, with the authors' beta of 1.
    fn model(&self, task: &TaskFile, log: &Log) -> Result<(ModelFile, bool), Error> {
        let networks = EnsembleOptions {
            hidden: self.effort.model.clone(),
            steps: self.effort.model_steps,
            seed: self.effort.seed,
            ..EnsembleOptions::paper()
        };
        let options = FitOptions {
            beta: Some(self.effort.beta),
            calibration: self.effort.calibration,
            ..FitOptions::new(ModelOptions::Networks(networks))
        };
        let (model, calibration) = fit(task, log, &options, &mut Unobserved)?;
        let calibrated = calibration.status == CalibrationStatus::Calibrated;
        Ok((model, calibrated))
    }

    /// The controller of a medium log is worth imitating; random actions are not.
    fn improved(&self, cell: OfflineCell, begun: &Begun) -> Result<Improved, Error> {
        let OfflineCell {
            log: by, variant, ..
        } = cell;
        let imitation = match by {
            LoggedBy::Random => Imitation::none(),
            LoggedBy::Medium => self.effort.imitation,
        };
        let Begun { log, model, .. } = begun;
        let effort = &self.effort;
        let mut task = agents()?.task()?;
        let (searched, iterations) = SEARCH;
        task.horizon = effort.judged_steps;
        let rows = log.rows();
        task.fit_smoothing(rows.map(|row| (row.state, row.action, row.next_state)));
        let case = Case {
            model_part: model.model_part().to_vec(),
            plan: CheckPlan::from(Effort {
                trajectories: effort.judged_trajectories,
                searched,
                iterations,
                seed: effort.seed,
                allocation: Allocation::Focused,
            })
            .with_variants([JUDGED_AGAINST]),
            initial: first_states(log),
            policy_part: Vec::new(),
            set: SetOrigin::of(model.metadata()),
            may_grow: false,
            judging_rows: hambo_learn::near_path::JudgingRows::default(),
            near_path: None,
            task,
        };
        let options = ImproveOptions {
            variant,
            horizon: effort.rollout,
            rounds: effort.rounds,
            rollouts: effort.rollouts,
            controller_steps: effort.controller_steps,
            adversary_steps: effort.adversary_steps,
            hidden: effort.learners.clone(),
            learning_rate: effort.learning_rate,
            logged_share: effort.logged_share,
            imitation_steps: imitation.steps,
            imitation: imitation.weight,
            critic_rounds: imitation.critic_rounds,
            actor_rate: imitation.actor_rate,
            anneal: true,
            averaging: AVERAGING,
            judge_every: effort.judge_every,
            seed: effort.seed,
            ..ImproveOptions::default()
        };
        improve(&case, log, &options, &mut Unobserved)
    }
}

impl Study for Offline {
    fn name(&self) -> &'static str {
        "table1"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell",
            "log",
            "rows",
            "log_score",
            "own_score",
            "variant",
            "seed",
            "score",
            "score_error",
            "paper",
            "round",
            "bound",
            "sound",
            "calibrated",
            "fit_cpu_seconds",
            "learn_cpu_seconds",
            "fit_seconds",
            "learn_seconds",
        ]
    }

    fn cells(&self) -> usize {
        CELLS.len()
    }

    fn can_run(&self, _cell: usize) -> bool {
        environment::named(SYSTEM).is_ok()
    }

    fn run(&self, number: usize) -> Result<Vec<Row>, Error> {
        match CELLS.get(number) {
            Some(cell) => self.rows(number, *cell),
            None => Ok(Vec::new()),
        }
    }

    fn summary(&self, now: &Table) -> Summary {
        Summary {
            text: offline_summary::text(now),
            svg: String::new(),
        }
    }
}
