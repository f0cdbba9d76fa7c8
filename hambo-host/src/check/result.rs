//! Estimates, bound and verdict in names and numbers: the object of `hambo check --json`,
//! the middle of a saved run, and what the text and the report show.

use hambo_core::adversary::searches;
use hambo_core::check::{Adversary, Estimate};
use hambo_core::rollout::Objective;
use hambo_core::variant::Variant;
use hambo_core::verdict::Verdict;
use serde::{Deserialize, Serialize};

use super::adversary::{Contest, EffortLevel};
use super::case::Case;
use super::loss::Loss;
use super::names::{adversary_name, margin_name, reasons, variant_name};
use super::number::Number;
use super::support::SupportUse;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The task's name.
    pub task: String,
    /// T.
    pub horizon: u32,
    /// The bound may fail with this probability.
    pub delta: Number,
    /// Discount per step.
    pub discount: Number,
    /// L.
    pub trajectories: u32,
    /// Sweeps of the core's search.
    pub sweeps: u32,
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
    /// What to do; none without a threshold.
    pub verdict: Option<Decision>,
    /// Why it is not `deploy`, in sentences.
    pub reasons: Vec<String>,
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
    /// The least mean of the constant adversaries.
    pub constant: Number,
    /// What the core's search reached from them.
    pub search: Number,
    /// What a trained network reaches by itself.
    pub network: Option<Number>,
    /// The mean.
    pub mean: Number,
    /// Its standard error.
    pub std_error: Number,
    /// Where the sampling margin comes from.
    pub margin: String,
    /// The lower bound.
    pub lower: Number,
}

/// One adversary against the return.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdversaryResult {
    /// As `--variant` takes it.
    pub variant: String,
    /// Which adversary.
    pub name: String,
    /// The mean return it reached.
    pub mean: Number,
    /// Steps of the model.
    pub model_steps: u64,
    /// Gradient steps of a learner.
    pub gradient_steps: u64,
    /// Time.
    pub seconds: Number,
}

/// One constraint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstraintResult {
    /// Its name.
    pub name: String,
    /// The lowest of the bounds that decide.
    pub lower: Number,
    /// Whether that is at least 0.
    pub ok: bool,
    /// It under every variant, mean propagation first.
    pub estimates: Vec<EstimateResult>,
}

impl CheckResult {
    /// Of a finished contest; losses and support come with the trajectories.
    pub(super) fn new(case: &Case, effort: EffortLevel, contest: &Contest) -> Self {
        let (task, outcome) = (&case.task, &contest.outcome);
        let decides = |estimate: &&Estimate| task.method.variants.contains(&estimate.variant);
        let of = |objective: Objective| {
            let estimates = outcome.estimates.iter();
            estimates.filter(move |estimate| estimate.objective == objective)
        };
        let constraints = task.constraints.iter().filter_map(|(name, slot)| {
            let estimates = of(Objective::Constraint(*slot));
            let lowers = estimates.clone().filter(decides).map(|one| one.lower);
            let lower = lowers.reduce(f32::min)?;
            Some(ConstraintResult {
                name: name.clone(),
                lower: lower.into(),
                ok: lower >= 0.0,
                estimates: estimates.map(EstimateResult::of).collect(),
            })
        });
        let adversaries = contest.contenders.iter().map(|one| AdversaryResult {
            variant: variant_name(one.variant).to_owned(),
            name: one.name.to_owned(),
            mean: one.mean.into(),
            model_steps: one.model_steps,
            gradient_steps: one.gradient_steps,
            seconds: one.time.as_secs_f64().into(),
        });
        let name = |variant: Variant| variant_name(variant).to_owned();
        Self {
            task: task.name.clone(),
            horizon: task.horizon,
            delta: task.delta.into(),
            discount: task.discount.into(),
            trajectories: case.effort.trajectories,
            sweeps: case.effort.iterations,
            effort,
            seed: case.effort.seed,
            variants: task.method.variants.iter().copied().map(name).collect(),
            estimates: of(Objective::Return).map(EstimateResult::of).collect(),
            adversaries: adversaries.collect(),
            loss: None,
            support: None,
            constraints: constraints.collect(),
            bound: outcome.bound.into(),
            bound_bits: format!("{:08x}", outcome.bound.to_bits()),
            bound_variant: deciding(case, contest).map(|one| name(one.variant)),
            neutral: outcome.neutral.into(),
            threshold: outcome.threshold.map(Into::into),
            verdict: outcome.threshold.map(|_| Decision::of(&outcome.verdict)),
            reasons: reasons(task, outcome),
            digest: format!("{:08x}", outcome.digest()),
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
    fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Deploy(_) => Self::Deploy,
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
    fn of(estimate: &Estimate) -> Self {
        Self {
            variant: variant_name(estimate.variant).to_owned(),
            adversary: adversary_name(estimate.adversary),
            constant: estimate.start_mean.into(),
            search: estimate.search_mean.into(),
            network: estimate.network_mean.map(Into::into),
            mean: estimate.mean.into(),
            std_error: estimate.standard_error.into(),
            margin: margin_name(estimate.margin).to_owned(),
            lower: estimate.lower.into(),
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
