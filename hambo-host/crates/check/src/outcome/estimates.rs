//! Estimates in names and numbers: by variant, by adversary and by constraint.

use hambo_core::adversary::{course_sweep, searches};
use hambo_core::check::{Estimate, Outcome};
use hambo_core::estimate::LevelEstimate;
use hambo_core::task::Effort;
use hambo_core::task::Objective;
use serde::{Deserialize, Serialize};

use super::margin_shares::MarginShares;
use crate::adversary::AdversaryCost;
use crate::case::Case;
use crate::names::{VARIANTS, adversary_name, margin_name, objective_name, variant_name};
use crate::number::Number;
use crate::search::logged_starts::NoiseShare;
use hambo_task::task::{NamedConstraint, TaskFile, kind_name};

/// One objective under one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimateResult {
    /// As `--variant` takes it.
    pub variant: String,
    /// Which adversary found it.
    pub adversary: String,
    /// The mean: of the sampled trajectories, plus the correction.
    pub mean: Number,
    pub std_error: Number,
    /// Where the sampling margin comes from.
    pub margin: String,
    /// The lower bound.
    pub lower: Number,
    /// The lower bound that holds for any distribution of the trajectories' values, where the
    /// objective has finite bounds.
    pub distribution_free: Option<Number>,
    /// The first level: trajectories at the least of all adversaries that need no search
    /// of their own.
    pub sampled: LevelResult,
    /// The second level: what the search finds beyond that, at most 0.
    pub correction: Option<LevelResult>,
    /// What the margins take for the logged first states and what for the noise, where
    /// trajectories start from a log's first states.
    #[serde(default)]
    pub shares: Option<MarginShares>,
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
    pub mean: Number,
    /// Its lower bound.
    pub lower: Number,
    /// Where its margin comes from.
    pub margin: String,
}

/// A point of a search's course.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoursePoint {
    /// Sweeps done.
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstraintResult {
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

impl EstimateResult {
    fn of(estimate: &Estimate, sweeps: u32, noise_shares: &[NoiseShare]) -> Self {
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
            shares: MarginShares::of(estimate, noise_shares),
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
            distribution_free: estimate.distribution_free().map(Into::into),
        }
    }
}

impl LevelResult {
    fn of(level: &LevelEstimate) -> Self {
        Self {
            count: level.count,
            mean: level.mean.into(),
            lower: level.lower.into(),
            margin: margin_name(level.margin).to_owned(),
        }
    }
}

/// An objective under every variant, mean propagation first.
pub(super) fn estimates_of(
    outcome: &Outcome,
    objective: Objective,
    effort: Effort,
    noise_shares: &[NoiseShare],
) -> Vec<EstimateResult> {
    let all = outcome.estimates.iter();
    let own = all.filter(|estimate| estimate.objective == objective);
    own.map(|estimate| EstimateResult::of(estimate, effort.search_sweeps(), noise_shares))
        .collect()
}

/// Every constraint that was estimated.
pub(super) fn constraints_of(
    case: &Case,
    outcome: &Outcome,
    effort: Effort,
    noise_shares: &[NoiseShare],
) -> Vec<ConstraintResult> {
    let constraints = (0..)
        .zip(&case.task.constraints)
        .filter_map(|(place, one)| {
            let NamedConstraint { name, constraint } = one;
            let objective = Objective::Constraint(place);
            let deciding = outcome.estimates.iter().filter(|estimate| {
                estimate.objective == objective
                    && estimate.variant.has_adversary()
                    && case.plan.method.variants.contains(&estimate.variant)
            });
            let lower = deciding.map(|one| one.lower).reduce(f32::min)?;
            Some(ConstraintResult {
                name: name.clone(),
                kind: kind_name(constraint.kind).to_owned(),
                probability: constraint.probability.map(Into::into),
                lower: lower.into(),
                ok: lower >= constraint.threshold(),
                estimates: estimates_of(outcome, objective, effort, noise_shares),
            })
        });
    constraints.collect()
}

impl AdversaryResult {
    pub(super) fn of(task: &TaskFile, one: &AdversaryCost) -> Self {
        Self {
            objective: objective_name(task, one.objective).to_owned(),
            variant: variant_name(one.variant).to_owned(),
            name: one.name.to_owned(),
            mean: one.mean.into(),
            model_steps: one.model_steps,
            gradient_steps: one.gradient_steps,
            seconds: one.time.map(|time| time.as_secs_f64().into()),
        }
    }
}
