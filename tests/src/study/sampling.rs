//! Sampling alone: the core's check fed with values whose distribution is known, instead of
//! trajectories. In a share of the trajectories something goes wrong that takes the whole
//! range, and one start of the adversary finds it, or the search alone. How often does a bound
//! lie above the truth?
//!
//! Every run has a return whose task states that it lies between −1 and 0, and a requirement that
//! a share of the trajectories must keep: each with its default bound, on as many searched
//! trajectories as the host chooses, and beside it with the bound of a task that asks for none
//! that holds for any distribution, on 16.

use hambo_base::Error;
use hambo_base::study::rows::Table;
use hambo_base::study::{Row, Study, Summary, digits};
use hambo_check::amounts::{Usual, Wanted};
use hambo_check::demand::Demand;
use hambo_check::names::allocation_name;
use hambo_core::adversary::{Candidate, Level, SearchResult};
use hambo_core::check::{Assessment, Estimate, Outcome, Stage};
use hambo_core::estimate::Margin;
use hambo_core::image::Image;
use hambo_core::numeric::random::Stream;
use hambo_core::task::{
    Allocation, Constraint, ConstraintKind, DistributionFree, Effort, Method, Objective, Task,
    Variant,
};
use hambo_task::task::TaskFile;
use rayon::prelude::*;

use super::plant::DELTA;
use super::sampling_finder::Finder;
use super::sampling_summary;
use super::statistics::median;

/// Checks of a cell.
pub const RUNS: u64 = 2000;
/// Sampled trajectories.
pub const TRAJECTORIES: [u32; 2] = [200, 4000];
/// What a check takes by itself, and what may be asked for.
pub const ALLOCATIONS: [Allocation; 2] = [Allocation::Tried, Allocation::Focused];
/// How many of the trajectories go wrong.
pub const PROBABILITIES: [f64; 5] = [0.002, 0.005, 0.01, 0.02, 0.05];
/// Searched trajectories where Student's t bounds what the search finds.
const SEARCHED_FOR_STUDENT: u32 = 16;
/// What the requirement asks for.
const ASKED: f32 = 0.9;
/// Sweeps; each costs nothing here.
const SWEEPS: u32 = 8;
/// The start that finds what goes wrong: the last of the example's five.
const FINDER: usize = 4;
/// What the first two starts take from every return, so that a pilot keeps them.
const TAKEN: f32 = 1e-3;
/// The largest return that is lost where nothing goes wrong; uniform from 0 to this.
const ORDINARY: f32 = 0.05;

/// What a cell's runs have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplingCell {
    /// Sampled trajectories.
    pub trajectories: u32,
    /// How many of them go wrong.
    pub probability: f64,
    /// What finds that.
    pub finder: Finder,
    /// Who has the steps.
    pub allocation: Allocation,
}

/// Lower bounds of one run: of the return and of the requirement's share, by default and where
/// the task asks for no bound that holds for any distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The default ones.
    pub default: [f32; 2],
    /// With `distribution_free = false`.
    pub students: [f32; 2],
    /// Whether the return's margin is then Student's t.
    pub student: bool,
}

impl SamplingCell {
    /// The cell with a number.
    #[must_use]
    pub fn of(cell: usize) -> Self {
        let (rest, probability) = (cell / PROBABILITIES.len(), cell % PROBABILITIES.len());
        Self {
            trajectories: TRAJECTORIES[rest % 2],
            probability: PROBABILITIES[probability],
            finder: [Finder::Start, Finder::Search][rest / 2 % 2],
            allocation: ALLOCATIONS[rest / 4 % 2],
        }
    }

    /// True means: of the return under the worst adversary, and of the share that keeps the
    /// requirement.
    #[must_use]
    pub fn truth(&self) -> [f64; 2] {
        let usual = f64::from(-0.5 * ORDINARY - TAKEN);
        let p = self.probability;
        [(1.0 - p) * usual - p, 1.0 - p]
    }

    /// What a check takes of a task like this one: the trajectories and the allocation are given,
    /// the number of searches is left to the host.
    ///
    /// # Errors
    /// If the text is wrong, which would be a bug of this file.
    pub fn effort(&self) -> Result<Effort, Error> {
        let text = format!(
            "name = 'sampling'\nhorizon = 1\ndelta = {DELTA}\n[state]\nnames = ['x']\n\
             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
             [reward]\nexpr = 'x'\nreturn_low = -1\nreturn_high = 0\n\
             [initial]\nkind = 'point'\nvalue = [0]\n\
             [[constraint]]\nname = 'kept'\nexpr = 'x >= 0'\nkind = 'always'\n\
             probability = {ASKED}\n"
        );
        let task = TaskFile::parse(&text, "sampling.toml")?;
        let wanted = Wanted {
            trajectories: Some(self.trajectories),
            searched: None,
            allocation: Some(self.allocation),
        };
        let method = Method::default();
        Ok(Effort {
            iterations: SWEEPS,
            ..Demand::of(&task, &method, &[]).effort(wanted, Usual::HOST)
        })
    }

    /// The bounds of one run, with [`SamplingCell::effort`].
    ///
    /// # Errors
    /// If the check has no place for its parts, which would be a bug of this file.
    pub fn bounds(&self, effort: Effort, run: u64) -> Result<Bounds, Error> {
        let stated = Effort {
            seed: run,
            ..effort
        };
        let few = Effort {
            searched: SEARCHED_FOR_STUDENT,
            ..stated
        };
        let [value, share] = self.estimates(stated, DistributionFree::SharesAndReturn)?;
        let students = self.estimates(few, DistributionFree::Nothing)?;
        Ok(Bounds {
            default: [value.lower, share.lower],
            students: students.map(|one| one.lower),
            student: students[0].margin == Margin::StudentT,
        })
    }

    /// The estimates of the return and of the share under CA.
    fn estimates(&self, effort: Effort, free: DistributionFree) -> Result<[Estimate; 2], Error> {
        let problem = |problem: &str| Error::Usage(problem.to_owned());
        let image = hambo_core::example::image_with(|task| ask(task, effort, free));
        let outcome = self.outcome(&image.map_err(problem)?)?;
        let of = |objective: Objective| -> Option<Estimate> {
            let mut all = outcome.estimates.iter();
            all.find(|one| one.objective == objective && one.variant.has_adversary())
                .copied()
        };
        let both = of(Objective::Return).zip(of(Objective::Constraint(0)));
        let (value, share) = both.ok_or_else(|| problem("an estimate is missing"))?;
        Ok([value, share])
    }

    /// The check, with the values of this file in the place of trajectories.
    fn outcome(&self, image: &Image<'_>) -> Result<Outcome, Error> {
        let (model, task, policy) = (image.model(), image.task(), image.policy());
        let mut assessment = Assessment::new(model, task, policy)?;
        while let Some(stage) = assessment.current() {
            let numbers = 0..stage.candidates();
            let results: Vec<SearchResult> = numbers
                .map(|number| self.result(&stage, assessment.candidate(&stage, number)))
                .collect();
            assessment.add_results(results);
        }
        Ok(assessment.outcome())
    }

    /// What comes of a candidate.
    fn result<P>(&self, stage: &Stage<'_, P>, candidate: Candidate) -> SearchResult {
        let Candidate { trajectory, start } = candidate;
        let rollout = &stage.rollout;
        let mut stream = stage.level.stream(rollout.task, trajectory);
        let usual = -ORDINARY * stream.uniform();
        let adversarial = rollout.variant == Variant::ContinuousAdversary;
        let goes_wrong = adversarial && wrong(&mut stream, self.probability);
        let taken = if adversarial && start < 2 { TAKEN } else { 0.0 };
        let of_return = rollout.objective == Objective::Return;
        let ordinary = if of_return {
            usual - taken
        } else {
            1.0 - taken
        };
        let start_value = match self.finder {
            Finder::Start if goes_wrong && start == FINDER => -1.0,
            _ => ordinary,
        };
        let least = match self.finder {
            Finder::Search if goes_wrong && stage.level == Level::Searched => -1.0,
            _ => start_value,
        };
        SearchResult {
            start,
            start_value,
            least,
            course: [start_value, least, least, least, least, least],
            finite: true,
            outside: 0,
            watched: 0,
            far_outside: false,
            within_bounds: true,
            width: true,
            failed: false,
        }
    }
}

/// The task of a run.
fn ask(task: &mut Task<'_>, effort: Effort, free: DistributionFree) {
    task.delta = DELTA as f32;
    task.return_bounds = Some([-1.0, 0.0]);
    task.distribution_free = free;
    task.constraints.clear();
    let requirement = Constraint {
        slot: task.reward,
        kind: ConstraintKind::Always,
        probability: Some(ASKED),
    };
    // One place is there.
    let _ = task.constraints.push(requirement);
    task.plan.effort = effort;
}

fn wrong(stream: &mut Stream, probability: f64) -> bool {
    f64::from(stream.uniform()) < probability
}

/// The study.
pub struct Sampling;

impl Study for Sampling {
    fn name(&self) -> &'static str {
        "sampling"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell",
            "trajectories",
            "probability",
            "found_by",
            "allocation",
            "runs",
            "searched",
            "student",
            "return_above",
            "return_gap",
            "return_students_above",
            "return_students_gap",
            "share_above",
            "share_gap",
            "share_students_above",
            "share_students_gap",
        ]
    }

    fn cells(&self) -> usize {
        TRAJECTORIES.len() * PROBABILITIES.len() * 2 * 2
    }

    fn rows_per_cell(&self) -> usize {
        1
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        Ok(vec![row(cell, RUNS)?])
    }

    fn summary(&self, table: &Table) -> Summary {
        sampling_summary::summary(table)
    }
}

/// The row of a cell from its first runs.
///
/// # Errors
/// As [`SamplingCell::bounds`].
pub fn row(cell: usize, runs: u64) -> Result<Row, Error> {
    let this = SamplingCell::of(cell);
    let effort = this.effort()?;
    let seed = |run: u64| ((cell as u64) << 32) + run;
    let runs: Result<Vec<Bounds>, Error> = (0..runs)
        .into_par_iter()
        .map(|run| this.bounds(effort, seed(run)))
        .collect();
    let runs = runs?;
    let truth = this.truth();
    let counted = |bound: &dyn Fn(&Bounds) -> f32, truth: f64| {
        let above = runs.iter().filter(|run| f64::from(bound(run)) > truth);
        let gaps = runs.iter().map(|run| truth - f64::from(bound(run)));
        [above.count().to_string(), digits(median(gaps))]
    };
    let mut row = vec![
        cell.to_string(),
        this.trajectories.to_string(),
        digits(this.probability),
        this.finder.name().to_owned(),
        allocation_name(this.allocation).to_owned(),
        runs.len().to_string(),
        effort.searched.to_string(),
        runs.iter().filter(|run| run.student).count().to_string(),
    ];
    for (place, truth) in truth.into_iter().enumerate() {
        row.extend(counted(&|run| run.default[place], truth));
        row.extend(counted(&|run| run.students[place], truth));
    }
    Ok(row)
}
