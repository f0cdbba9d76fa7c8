//! A model of a log and a check of a controller, with the library's own calls.

use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_check::adversary::EffortLevel;
use hambo_check::{CheckOptions, Verdict};
use hambo_core::task::Allocation;
use hambo_data::Log;
use hambo_learn::fit::{FitOptions, fit};
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

use super::simulate::Controller;
use hambo_base::study::{digits, field};

/// How many trajectories a check takes; what is open is the command's own. Where a study has a
/// thousand checks, they are fewer than a user's: margins are wider for it, bounds lower, and
/// refusals more frequent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Sampled, forward only.
    pub trajectories: Option<u32>,
    /// Searched.
    pub searched: Option<u32>,
    /// How the search spends the steps of the model.
    pub allocation: Option<Allocation>,
}

/// What a check said.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Mean propagation.
    pub neutral: f64,
    /// The mean under the adversary that the bound is of.
    pub mean: f64,
    /// The lower bound.
    pub bound: f64,
    /// The lower bound of the constraint, if there is one.
    pub constraint: Option<f64>,
    /// `deploy`, `reject`, `abstain`; or `no model`, which a user would meet as an error.
    pub verdict: &'static str,
    /// Why not `deploy`.
    pub reasons: String,
}

impl Judgement {
    /// Where no model came about, or the check broke off.
    #[must_use]
    pub fn failed(verdict: &'static str, why: &Error) -> Self {
        Self {
            neutral: f64::NAN,
            mean: f64::NAN,
            bound: f64::NAN,
            constraint: None,
            verdict,
            reasons: field(&why.to_string()),
        }
    }

    /// Whether a user is told a number to rely on.
    #[must_use]
    pub fn claims(&self) -> bool {
        matches!(self.verdict, "deploy" | "reject")
    }

    /// Whether the bound lies above a truth by more than chance.
    #[must_use]
    pub fn violates(&self, truth: f64, error: f64) -> bool {
        self.bound > truth + 3.0 * error
    }

    /// The bound as a file holds it.
    #[must_use]
    pub fn bound_text(&self) -> String {
        digits(self.bound)
    }
}

/// Fits a model; the error is what a user would read.
///
/// # Errors
/// As `fit`.
pub fn model(task: &TaskFile, log: &Log, options: &FitOptions) -> Result<ModelFile, Error> {
    Ok(fit(task, log, options, &mut Unobserved)?.0)
}

/// Checks a controller with the quick effort.
///
/// # Errors
/// As `check::run`.
pub fn judge(
    task: &TaskFile,
    log: &Log,
    model: &ModelFile,
    controller: &Controller,
    samples: Samples,
    seed: u64,
) -> Result<Judgement, Error> {
    let policy = controller.policy(task)?;
    judge_policy(task, log, model, &policy, samples, seed)
}

/// Checks any policy with the quick effort.
///
/// # Errors
/// As `check::run`.
pub fn judge_policy(
    task: &TaskFile,
    log: &Log,
    model: &ModelFile,
    policy: &HostPolicy,
    samples: Samples,
    seed: u64,
) -> Result<Judgement, Error> {
    let options = CheckOptions {
        log: Some(log),
        effort: EffortLevel::Quick,
        trajectories: samples.trajectories,
        searched: samples.searched,
        allocation: samples.allocation,
        seed,
        ..CheckOptions::default()
    };
    let result = hambo_check::run(task, model, policy, &options, &mut Unobserved)?.result;
    let mut estimates = result.evidence.estimates.iter();
    let decided =
        estimates.find(|one| Some(&one.variant) == result.decision.bound_variant.as_ref());
    Ok(Judgement {
        neutral: result.decision.neutral.0,
        mean: decided.map_or(f64::NAN, |one| one.mean.0),
        bound: result.decision.bound.0,
        constraint: result.evidence.constraints.first().map(|one| one.lower.0),
        verdict: result.decision.verdict.map_or("none", Verdict::name),
        reasons: field(&result.decision.reasons.join(" / ")),
    })
}
