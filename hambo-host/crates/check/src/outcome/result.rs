//! Setting, evidence and decision of a check: the object of `hambo check --json`, the middle
//! of a saved run, and what the text and the report show.

use hambo_core::adversary::searches;
use hambo_core::check::{Adversary, Estimate, Outcome};
use hambo_core::estimate::Margin;
use hambo_core::gate::Verdict;
use hambo_core::model::MOST_BEYOND_TESTED;
use hambo_core::task::Method;
use hambo_core::task::Objective;
use hambo_core::task::Variant;
use hambo_core::task::{DistributionFree, Effort};
use serde::{Deserialize, Serialize};

use super::estimates::{AdversaryResult, ConstraintResult, EstimateResult};
use super::margin_shares::MarginShares;
use super::reasons::reasons_at;
use crate::case::Case;
use crate::case::assumption::assumption;
use crate::case::effort::EffortLevel;
use crate::case::near_path::NearPathUse;
use crate::case::options::CheckOptions;
use crate::case::parsed_case::ParsedCase;
use crate::evidence::first_order::FirstOrder;
use crate::evidence::fitness::Standing;
use crate::evidence::log_next::LogNext;
use crate::evidence::logged_return::LoggedReturn;
use crate::evidence::loss::Loss;
use crate::evidence::support::{Farthest, SupportUse};
use crate::exact::ExactValue;
use crate::names::{allocation_name, margin_name, variant_name};
use crate::number::Number;
use crate::search::restarts::Restarts;
use hambo_task::task::KnownLine;

/// A finished check. In JSON its three parts are one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// What was asked.
    #[serde(flatten)]
    pub setting: Setting,
    /// What was found.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// What follows.
    #[serde(flatten)]
    pub decision: Decision,
}

/// What was asked, of whom, and with how much effort.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The task's name.
    pub task: String,
    /// T.
    pub horizon: u32,
    /// How many different first states trajectories start from; none where they are drawn
    /// from a distribution.
    #[serde(default)]
    pub distinct_starts: Option<u32>,
    /// The bound may fail with this probability; of several controllers that are judged
    /// together, any of them.
    pub delta: Number,
    /// How many share it.
    #[serde(default = "alone")]
    pub controllers: usize,
    /// Whether the bound of the return must hold for any distribution of the trajectories'
    /// values.
    #[serde(default)]
    pub distribution_free: bool,
    /// Discount per step.
    pub discount: Number,
    /// Sampled trajectories.
    pub trajectories: u32,
    /// Searched trajectories.
    pub searched: u32,
    /// Sweeps of the core's search.
    pub sweeps: u32,
    /// The largest share of its range that a bound for any distribution loses if nothing is
    /// found on the searched trajectories; none where no such bound decides.
    #[serde(default)]
    pub search_charge: Option<Number>,
    /// How the adversary's starts shared the steps of the model: `even`, `tried` or `focused`.
    pub allocation: String,
    /// How hard the worst case was looked for.
    pub effort: EffortLevel,
    /// The seed of the trajectories and of the learners.
    pub seed: u64,
    /// The variants that decide.
    pub variants: Vec<String>,
    /// What the task computes instead of learning it.
    #[serde(default)]
    pub known: Vec<KnownLine>,
    /// Pairs of states that stay on the unit circle.
    #[serde(default)]
    pub circles: Vec<[String; 2]>,
    /// What the model sees of the state.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// Whether the bound rests on the task's word that nothing of the system changes between
    /// recordings.
    #[serde(default)]
    pub stationary: bool,
}

fn alone() -> usize {
    1
}

/// Estimates, and what explains them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What the log's own controllers returned, if there is a log.
    #[serde(default)]
    pub logged_return: Option<LoggedReturn>,
    /// Steps of the model that search and check took, a step back counting as two; learners
    /// not counted.
    #[serde(default)]
    pub model_steps: u64,
    /// The return under every variant, mean propagation first.
    pub estimates: Vec<EstimateResult>,
    /// What each adversary found.
    pub adversaries: Vec<AdversaryResult>,
    /// Steps of the longest windows of withheld rows that tested the model.
    #[serde(default)]
    pub tested_steps: u32,
    /// What withheld rows near the controller's path say; none if the model kept none.
    #[serde(default)]
    pub near_path: Option<NearPathUse>,
    /// Where the adversary takes the return away; none if the check broke off.
    pub loss: Option<Loss>,
    /// How far the trajectories leave the log; none if the check broke off.
    pub support: Option<SupportUse>,
    /// Where more data would take most from the adversary, the best places first; none where
    /// members decide.
    pub log_next: Vec<LogNext>,
    /// What the derivative says that the continuous adversary could find: an estimate, no
    /// bound; none where it does not decide.
    #[serde(default)]
    pub first_order: Option<FirstOrder>,
    /// The worst case of the return on a grid, if it was solved.
    pub exact: Option<ExactValue>,
    /// Whether one more search would find less, if that was tried.
    #[serde(default)]
    pub restarts: Option<Restarts>,
    /// Every constraint that was estimated.
    pub constraints: Vec<ConstraintResult>,
    /// What looks odd about the controller, as questions.
    #[serde(default)]
    pub questions: Vec<String>,
    /// One number for all estimates, bit for bit.
    pub digest: String,
}

/// Bound, verdict and reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
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
    #[serde(with = "verdict_word")]
    pub verdict: Option<Verdict>,
    /// Why it is not `deploy`, in sentences.
    pub reasons: Vec<String>,
    /// What the bound assumes, for this kind of model and these margins.
    pub assumes: String,
}

/// A verdict as its word.
pub(crate) mod verdict_word {
    use hambo_core::gate::Verdict;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub fn serialize<S: Serializer>(verdict: &Option<Verdict>, to: S) -> Result<S::Ok, S::Error> {
        verdict.map(Verdict::name).serialize(to)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Verdict>, D::Error> {
        let word: Option<String> = Option::deserialize(from)?;
        let all = [Verdict::Deploy, Verdict::Reject, Verdict::Abstain];
        word.map(|word| {
            let named = all.into_iter().find(|verdict| verdict.name() == word);
            named.ok_or_else(|| de::Error::unknown_variant(&word, &["deploy", "reject", "abstain"]))
        })
        .transpose()
    }
}

impl Setting {
    /// Of a case that was checked with `spent`; `delta` is what its controller and others share.
    pub(super) fn of(case: &Case, options: &CheckOptions<'_>, delta: f32, spent: Effort) -> Self {
        let task = &case.task;
        let variants = case.plan.method.variants.iter().copied().map(variant_name);
        let strictness = task.strictness(&case.initial);
        Self {
            task: task.name.clone(),
            horizon: task.horizon,
            distinct_starts: case.distinct_starts(),
            delta: delta.into(),
            controllers: options.controllers,
            distribution_free: strictness >= DistributionFree::SharesAndReturn,
            discount: task.discount.into(),
            trajectories: spent.trajectories,
            searched: spent.searched,
            sweeps: spent.iterations,
            search_charge: case.demand().charge_of_search(&spent).map(Into::into),
            allocation: allocation_name(spent.allocation).to_owned(),
            effort: options.effort,
            seed: spent.seed,
            variants: variants.map(str::to_owned).collect(),
            known: task.known.clone(),
            circles: task.circle_names(),
            inputs: task.features.clone(),
            stationary: task.stationary,
        }
    }
}

impl Decision {
    /// Of a check's outcome; `farthest` is where mean propagation leaves the log most.
    pub(super) fn of(
        parsed: &ParsedCase<'_>,
        outcome: &Outcome,
        farthest: Option<&Farthest>,
    ) -> Self {
        let case = parsed.case;
        let task = &case.task;
        // Evidence and constraints count also where there is no threshold to reach.
        let verdict = match Standing::of(outcome) {
            Standing::Unfit => Some(Verdict::Abstain),
            Standing::BreaksConstraint => Some(Verdict::Reject),
            Standing::Sound => outcome.threshold.map(|_| outcome.verdict),
        };
        let variant = deciding(&case.plan.method, outcome).map(|one| variant_name(one.variant));
        Self {
            bound: outcome.bound.into(),
            bound_bits: format!("{:08x}", outcome.bound.to_bits()),
            bound_variant: variant.map(str::to_owned),
            neutral: outcome.neutral.into(),
            threshold: outcome.threshold.map(Into::into),
            verdict,
            reasons: reasons_at((task, case.near_path.as_ref()), outcome, farthest),
            assumes: assumption(case.set, &outcome.estimates, task, &parsed.system()),
        }
    }
}

impl CheckResult {
    /// What CA's search reaches of the return, to compare with the grid.
    #[must_use]
    pub fn searched_return(&self) -> Option<f64> {
        let name = variant_name(Variant::ContinuousAdversary);
        let estimate = self
            .evidence
            .estimates
            .iter()
            .find(|one| one.variant == name)?;
        Some(estimate.mean.0)
    }

    /// Where the margins of the bounds that decide come from: betting, unless one of them
    /// had to take Student's t.
    #[must_use]
    pub fn margin(&self) -> &str {
        let deciding = self.all_estimates().map(|(_, estimate)| estimate);
        let mut deciding = deciding.filter(|one| self.setting.variants.contains(&one.variant));
        let student = margin_name(Margin::StudentT);
        if deciding.all(|one| one.margin != student) {
            margin_name(Margin::Betting)
        } else {
            student
        }
    }

    /// The lower bound of the return that holds for any distribution of the trajectories'
    /// values: the lowest of the variants that decide. None where the return has no bounds.
    #[must_use]
    pub fn distribution_free(&self) -> Option<Number> {
        let of_return = self.evidence.estimates.iter();
        let deciding = of_return.filter(|one| self.setting.variants.contains(&one.variant));
        let bounds = deciding.map(|one| one.guarantee().and(one.distribution_free));
        let lowest = |low: Option<Number>, other: Option<Number>| {
            let (low, other) = (low?, other?);
            Some(if low.0 <= other.0 { low } else { other })
        };
        bounds.reduce(lowest).flatten()
    }

    /// What the margin of the bound is made of, where trajectories start from a log's first
    /// states.
    #[must_use]
    pub fn margin_shares(&self) -> Option<&MarginShares> {
        let source = self.decision.bound_variant.as_deref()?;
        let mut estimates = self.evidence.estimates.iter();
        let deciding = estimates.find(|one| one.variant == source)?;
        deciding.shares.as_ref()
    }

    /// Where the check goes on for longer than any window that was tested: a sentence. Beyond
    /// twice as long it abstains, and its reason says so.
    #[must_use]
    pub fn beyond_tested(&self) -> Option<String> {
        let (tested, horizon) = (self.evidence.tested_steps, self.setting.horizon);
        let most = tested.saturating_mul(MOST_BEYOND_TESTED);
        let beyond = tested < horizon && horizon <= most;
        beyond.then(|| {
            let steps = if tested == 1 {
                "step was"
            } else {
                "steps were"
            };
            format!("windows of up to {tested} {steps} tested; the check goes on for {horizon}")
        })
    }

    /// Every objective under every variant: its name, and the estimate.
    pub fn all_estimates(&self) -> impl Iterator<Item = (String, &EstimateResult)> {
        let of_return = self
            .evidence
            .estimates
            .iter()
            .map(|one| ("return".to_owned(), one));
        let others = self.evidence.constraints.iter().flat_map(|constraint| {
            let estimates = constraint.estimates.iter();
            estimates.map(|one| (format!("constraint {}", constraint.name), one))
        });
        of_return.chain(others)
    }
}

/// The estimate of the return that the bound comes from.
fn deciding<'a>(method: &Method, outcome: &'a Outcome) -> Option<&'a Estimate> {
    outcome.estimates.iter().find(|estimate| {
        estimate.objective == Objective::Return
            && method.variants.contains(&estimate.variant)
            && estimate.lower == outcome.bound
    })
}

/// The variant whose search found what decides: CA may owe its minimum to a member that
/// DA1 or DAinf followed. Where the bound is not a number, the first adversary stands for
/// it. `None` if nothing was estimated.
pub(super) fn deciding_search(method: &Method, outcome: &Outcome) -> Option<Variant> {
    let mut all = outcome.estimates.iter();
    let first = all.find(|estimate| searches(estimate.variant));
    let estimate = deciding(method, outcome).or(first)?;
    let ran = |variant| method.variants.contains(&variant);
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
