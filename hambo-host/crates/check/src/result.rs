//! Estimates, bound and verdict in names and numbers: the object of `hambo check --json`,
//! the middle of a saved run, and what the text and the report show.

use hambo_core::adversary::{course_sweep, searches};
use hambo_core::check::{Adversary, Estimate};
use hambo_core::estimate::LevelEstimate;
use hambo_core::estimate::Margin;
use hambo_core::gate::Verdict;
use hambo_core::task::Allocation;
use hambo_core::task::Objective;
use hambo_core::task::Variant;
use serde::{Deserialize, Serialize};

use super::adversary::{Contest, EffortLevel};
use super::assumption::assumption;
use super::case::Case;
use super::exact::ExactValue;
use super::log_next::LogNext;
use super::logged_return::LoggedReturn;
use super::loss::Loss;
use super::names::{VARIANTS, adversary_name, margin_name, objective_name, reasons, variant_name};
use super::number::Number;
use super::restarts::Restarts;
use super::support::SupportUse;
use hambo_task::task::{KnownLine, NamedConstraint, kind_name};

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The task's name.
    pub task: String,
    /// T.
    pub horizon: u32,
    /// How many different first states trajectories start from; none where they are drawn
    /// from a distribution.
    #[serde(default)]
    pub distinct_starts: Option<u32>,
    /// What the log's own controllers returned, if there is a log.
    #[serde(default)]
    pub logged_return: Option<LoggedReturn>,
    /// The bound may fail with this probability.
    pub delta: Number,
    /// Discount per step.
    pub discount: Number,
    /// Sampled trajectories.
    pub trajectories: u32,
    /// Searched trajectories.
    pub searched: u32,
    /// Sweeps of the core's search.
    pub sweeps: u32,
    /// Whether most of them went to the adversary's promising starts.
    #[serde(default)]
    pub focused: bool,
    /// Steps of the model that search and check took, a step back counting as two; learners
    /// not counted.
    #[serde(default)]
    pub model_steps: u64,
    /// How hard the worst case was looked for.
    pub effort: EffortLevel,
    /// The seed of the trajectories and of the learners.
    pub seed: u64,
    /// The variants that decide.
    pub variants: Vec<String>,
    /// The return under every variant, mean propagation first.
    pub estimates: Vec<EstimateResult>,
    /// What each adversary found.
    pub adversaries: Vec<AdversaryResult>,
    /// Where the adversary takes the return away; none if the check broke off.
    pub loss: Option<Loss>,
    /// How far the trajectories leave the log, likewise.
    pub support: Option<SupportUse>,
    /// Where more data would take most from the adversary, the best places first; none where
    /// members decide.
    pub log_next: Vec<LogNext>,
    /// The worst case of the return on a grid, if it was solved.
    pub exact: Option<ExactValue>,
    /// Whether one more search would find less, if that was tried.
    #[serde(default)]
    pub restarts: Option<Restarts>,
    /// Every constraint that was estimated.
    pub constraints: Vec<ConstraintResult>,
    /// The lower bound of the return: the lowest of the variants that decide.
    pub bound: Number,
    /// Its bits as an f32.
    pub bound_bits: String,
    /// The variant that it comes from.
    pub bound_variant: Option<String>,
    /// Mean propagation of the return.
    pub neutral: Number,
    /// What the bound had to reach.
    pub threshold: Option<Number>,
    /// What to do; without a threshold none, unless the evidence is unfit or a constraint
    /// is violated.
    pub verdict: Option<Decision>,
    /// What looks odd about the controller, as questions.
    #[serde(default)]
    pub questions: Vec<String>,
    /// Why it is not `deploy`, in sentences.
    pub reasons: Vec<String>,
    /// What the bound assumes, for this kind of model and these margins.
    pub assumes: String,
    /// What the task computes instead of learning it.
    #[serde(default)]
    pub known: Vec<KnownLine>,
    /// Pairs of states that stay on the unit circle.
    #[serde(default)]
    pub circles: Vec<[String; 2]>,
    /// What the model sees of the state.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// One number for all estimates, bit for bit.
    pub digest: String,
}

/// What to do with the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Every lower bound reaches its threshold.
    Deploy,
    /// A lower bound lies below its threshold.
    Reject,
    /// The evidence is unfit for either.
    Abstain,
}

/// One objective under one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimateResult {
    /// As `--variant` takes it.
    pub variant: String,
    /// Which adversary found it.
    pub adversary: String,
    /// The mean: of the sampled trajectories, plus the correction.
    pub mean: Number,
    /// Its standard error.
    pub std_error: Number,
    /// Where the sampling margin comes from.
    pub margin: String,
    /// The lower bound.
    pub lower: Number,
    /// The first level: trajectories at the least of all adversaries that need no search
    /// of their own.
    pub sampled: LevelResult,
    /// The second level: what the search finds beyond that, at most 0. Its margin is
    /// Student's t.
    pub correction: Option<LevelResult>,
    /// The least mean of a constant adversary, on the searched trajectories like those
    /// below.
    pub constant: Option<Number>,
    /// The least mean of a single member.
    pub member: Option<Number>,
    /// The least mean of a sequence that was found on other trajectories.
    pub found_elsewhere: Option<Number>,
    /// What the core's search reached from them.
    pub search: Number,
    /// What a trained network reaches by itself.
    pub network: Option<Number>,
    /// How the least of all fell as the search went on.
    pub course: Vec<CoursePoint>,
}

impl EstimateResult {
    /// The lower bound, where there is an adversary: a neutral estimate bounds nothing.
    #[must_use]
    pub fn guarantee(&self) -> Option<Number> {
        let named = VARIANTS.iter().find(|(_, name)| *name == self.variant);
        let bounds = named.is_some_and(|(variant, _)| variant.has_adversary());
        bounds.then_some(self.lower)
    }
}

/// One level of an estimate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelResult {
    /// Independent values: trajectories, or logged first states.
    pub count: u32,
    /// Their mean.
    pub mean: Number,
    /// Its lower bound.
    pub lower: Number,
}

/// A point of a search's course.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoursePoint {
    /// After so many sweeps.
    pub sweeps: u32,
    /// The mean of the least found on each searched trajectory.
    pub mean: Number,
}

/// One adversary against one objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdversaryResult {
    /// `return`, or the constraint's name.
    pub objective: String,
    /// As `--variant` takes it.
    pub variant: String,
    /// Which adversary.
    pub name: String,
    /// The mean it reached on the searched trajectories.
    pub mean: Number,
    /// Steps of the model.
    pub model_steps: u64,
    /// Gradient steps of a learner.
    pub gradient_steps: u64,
    /// Time, of a learner.
    pub seconds: Option<Number>,
}

/// One constraint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstraintResult {
    /// Its name.
    pub name: String,
    /// When in time it must hold: `mean`, `always`, `finally` or `eventually`.
    pub kind: String,
    /// The share of trajectories that must keep it, if the task asks for one.
    pub probability: Option<Number>,
    /// The lowest of the bounds that decide: on the margin, or on that share.
    pub lower: Number,
    /// Whether that is at least 0, or at least the share.
    pub ok: bool,
    /// It under every variant, mean propagation first.
    pub estimates: Vec<EstimateResult>,
}

impl ConstraintResult {
    /// What must hold, as a sentence without its full stop.
    #[must_use]
    pub fn requirement(&self) -> String {
        let when = match self.kind.as_str() {
            "always" => "at every step",
            "finally" => "at the last step",
            "eventually" => "at one step or more",
            _ => "on average over the steps",
        };
        match self.probability {
            Some(share) => format!("{when}, with probability {share} or more"),
            None => format!("{when}; the mean over trajectories must be at least 0"),
        }
    }
}

impl CheckResult {
    /// Of a finished contest; losses and support come with the trajectories.
    pub(super) fn new(case: &Case, effort: EffortLevel, contest: &Contest) -> Self {
        let (task, outcome) = (&case.task, &contest.outcome);
        let decides = |estimate: &&Estimate| {
            estimate.variant.has_adversary() && task.method.variants.contains(&estimate.variant)
        };
        let estimate =
            |estimate: &Estimate| EstimateResult::of(estimate, case.effort.search_sweeps());
        let of = |objective: Objective| {
            let estimates = outcome.estimates.iter();
            estimates.filter(move |estimate| estimate.objective == objective)
        };
        let constraints = (0..).zip(&task.constraints).filter_map(|(place, one)| {
            let NamedConstraint { name, constraint } = one;
            let estimates = of(Objective::Constraint(place));
            let lowers = estimates.clone().filter(decides).map(|one| one.lower);
            let lower = lowers.reduce(f32::min)?;
            Some(ConstraintResult {
                name: name.clone(),
                kind: kind_name(constraint.kind).to_owned(),
                probability: constraint.probability.map(Into::into),
                lower: lower.into(),
                ok: lower >= constraint.threshold(),
                estimates: estimates.map(estimate).collect(),
            })
        });
        let adversaries = contest.contenders.iter().map(|one| AdversaryResult {
            objective: objective_name(task, one.objective).to_owned(),
            variant: variant_name(one.variant).to_owned(),
            name: one.name.to_owned(),
            mean: one.mean.into(),
            model_steps: one.model_steps,
            gradient_steps: one.gradient_steps,
            seconds: one.time.map(|time| time.as_secs_f64().into()),
        });
        let name = |variant: Variant| variant_name(variant).to_owned();
        Self {
            task: task.name.clone(),
            horizon: task.horizon,
            distinct_starts: case.distinct_starts(),
            logged_return: None,
            delta: task.delta.into(),
            discount: task.discount.into(),
            trajectories: contest.effort.trajectories,
            searched: contest.effort.searched,
            sweeps: case.effort.iterations,
            focused: case.effort.allocation == Allocation::Focused,
            model_steps: contest.model_steps,
            effort,
            seed: case.effort.seed,
            variants: task.method.variants.iter().copied().map(name).collect(),
            estimates: of(Objective::Return).map(estimate).collect(),
            adversaries: adversaries.collect(),
            loss: None,
            support: None,
            log_next: Vec::new(),
            exact: None,
            restarts: None,
            constraints: constraints.collect(),
            bound: outcome.bound.into(),
            bound_bits: format!("{:08x}", outcome.bound.to_bits()),
            bound_variant: deciding(case, contest).map(|one| name(one.variant)),
            neutral: outcome.neutral.into(),
            threshold: outcome.threshold.map(Into::into),
            verdict: outcome.threshold.map(|_| Decision::of(outcome.verdict)),
            questions: Vec::new(),
            reasons: reasons(task, outcome),
            assumes: assumption(case.set, &outcome.estimates, task),
            known: task.known.clone(),
            circles: task.circle_names(),
            inputs: task.features.clone(),
            digest: format!("{:08x}", outcome.digest()),
        }
    }

    /// What CA's search reaches of the return, where it can be held against the grid.
    #[must_use]
    pub fn searched_return(&self) -> Option<f64> {
        let name = variant_name(Variant::ContinuousAdversary);
        let estimate = self.estimates.iter().find(|one| one.variant == name)?;
        Some(estimate.mean.0)
    }

    /// Where the margins of the bounds that decide come from: betting, unless one of them
    /// had to take Student's t.
    #[must_use]
    pub fn margin(&self) -> &str {
        let deciding = self.all_estimates().map(|(_, estimate)| estimate);
        let mut deciding = deciding.filter(|one| self.variants.contains(&one.variant));
        let student = margin_name(Margin::StudentT);
        match deciding.all(|one| one.margin != student) {
            true => margin_name(Margin::Betting),
            false => student,
        }
    }

    /// Every objective under every variant: its name, and the estimate.
    pub fn all_estimates(&self) -> impl Iterator<Item = (String, &EstimateResult)> {
        let of_return = self.estimates.iter().map(|one| ("return".to_owned(), one));
        let others = self.constraints.iter().flat_map(|constraint| {
            let estimates = constraint.estimates.iter();
            estimates.map(|one| (format!("constraint {}", constraint.name), one))
        });
        of_return.chain(others)
    }
}

impl Decision {
    fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Deploy => Self::Deploy,
            Verdict::Reject => Self::Reject,
            Verdict::Abstain => Self::Abstain,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Reject => "reject",
            Self::Abstain => "abstain",
        }
    }
}

impl EstimateResult {
    fn of(estimate: &Estimate, sweeps: u32) -> Self {
        let found = &estimate.found;
        let course = (0..).zip(found.course).map(|(point, mean)| CoursePoint {
            sweeps: course_sweep(point, sweeps),
            mean: mean.into(),
        });
        let course = course.filter(|_| searches(estimate.variant));
        Self {
            variant: variant_name(estimate.variant).to_owned(),
            adversary: adversary_name(estimate.adversary),
            sampled: LevelResult::of(&estimate.sampled),
            correction: estimate.correction.as_ref().map(LevelResult::of),
            constant: found.constant.map(Into::into),
            member: found.member.map(Into::into),
            found_elsewhere: found.elsewhere.map(Into::into),
            search: found.search.into(),
            network: found.network.map(Into::into),
            course: course.collect(),
            mean: estimate.mean.into(),
            std_error: estimate.standard_error.into(),
            margin: margin_name(estimate.margin).to_owned(),
            lower: estimate.lower.into(),
        }
    }
}

impl LevelResult {
    fn of(level: &LevelEstimate) -> Self {
        Self {
            count: level.count,
            mean: level.mean.into(),
            lower: level.lower.into(),
        }
    }
}

/// The estimate of the return that the bound comes from.
fn deciding<'a>(case: &Case, contest: &'a Contest) -> Option<&'a Estimate> {
    let outcome = &contest.outcome;
    outcome.estimates.iter().find(|estimate| {
        estimate.objective == Objective::Return
            && case.task.method.variants.contains(&estimate.variant)
            && estimate.lower == outcome.bound
    })
}

/// The variant whose search found what decides: CA may owe its minimum to a member that
/// DA1 or DAinf followed. A bound that is not a number decides nothing; then the first
/// adversary is as good as any. None if nothing was estimated.
pub(super) fn deciding_search(case: &Case, contest: &Contest) -> Option<Variant> {
    let mut all = contest.outcome.estimates.iter();
    let first = all.find(|estimate| searches(estimate.variant));
    let estimate = deciding(case, contest).or(first)?;
    let ran = |variant| case.task.method.variants.contains(&variant);
    Some(match (estimate.variant, estimate.adversary) {
        (Variant::ContinuousAdversary, Adversary::Member(_))
            if ran(Variant::DiscreteAdversaryInf) =>
        {
            Variant::DiscreteAdversaryInf
        }
        (Variant::ContinuousAdversary, Adversary::Member(_) | Adversary::Sequence)
            if ran(Variant::DiscreteAdversary1) =>
        {
            Variant::DiscreteAdversary1
        }
        (own, _) => own,
    })
}
