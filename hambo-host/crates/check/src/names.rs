//! Names of variants, adversaries and objectives, and reasons as sentences: the same in
//! the text, the JSON object and the report.

use hambo_core::check::{Adversary, MOST_OUTSIDE, Outcome};
use hambo_core::estimate::Margin;
use hambo_core::gate::Reason;
use hambo_core::model::Calibration;
use hambo_core::task::Objective;
use hambo_core::task::Variant;

use super::number::Number;
use super::support::Farthest;
use hambo_task::task::{NamedConstraint, TaskFile};

/// Every variant with its name, in the order in which they are shown.
pub const VARIANTS: [(Variant, &str); 8] = [
    (Variant::ContinuousAdversary, "ca"),
    (Variant::DiscreteAdversary1, "da1"),
    (Variant::DiscreteAdversaryInf, "dainf"),
    (Variant::DistributionSampling, "ds"),
    (Variant::TrajectorySampling1, "ts1"),
    (Variant::TrajectorySamplingInf, "tsinf"),
    (Variant::Mean, "mean"),
    (Variant::Penalised, "mopo"),
];

/// A variant as `--variant` takes it.
#[must_use]
pub fn variant_name(variant: Variant) -> &'static str {
    let named = VARIANTS.iter().find(|(other, _)| *other == variant);
    named.map_or("", |(_, name)| name)
}

/// Which adversary found an estimate.
#[must_use]
pub fn adversary_name(adversary: Adversary) -> String {
    match adversary {
        Adversary::None => "none".to_owned(),
        Adversary::Constant(number) => format!("constant {number}"),
        Adversary::Member(number) => format!("member {number}"),
        Adversary::Turns(doublings) => format!("turns of {}", 1_u32 << (doublings % 32)),
        Adversary::Found(number) => format!("found elsewhere {number}"),
        Adversary::Adjoint => "adjoint search".to_owned(),
        Adversary::Sequence => "sequence search".to_owned(),
        Adversary::Network => "trained network".to_owned(),
    }
}

/// What an objective is called.
#[must_use]
pub fn objective_name(task: &TaskFile, objective: Objective) -> &str {
    match objective {
        Objective::Return => "return",
        Objective::Constraint(place) => {
            let constraint = task.constraints.get(usize::from(place));
            constraint.map_or("", |constraint| &constraint.name)
        }
    }
}

/// Where the sampling margin comes from.
#[must_use]
pub fn margin_name(margin: Margin) -> &'static str {
    match margin {
        Margin::StudentT => "Student's t",
        Margin::Betting => "betting",
        Margin::ClopperPearson => "Clopper and Pearson",
    }
}

/// Why the verdict is not `deploy`; none of a missing threshold, which gives no verdict.
#[must_use]
pub fn reasons(task: &TaskFile, outcome: &Outcome) -> Vec<String> {
    reasons_at(task, outcome, None)
}

/// The same, where the step is known that is farthest from the log.
pub(super) fn reasons_at(
    task: &TaskFile,
    outcome: &Outcome,
    farthest: Option<&Farthest>,
) -> Vec<String> {
    let reasons = outcome.reasons.iter();
    let reasons = reasons.filter(|reason| **reason != Reason::NoThreshold);
    reasons
        .map(|reason| sentence(task, outcome, *reason, farthest))
        .collect()
}

/// What a constraint's bound does not reach.
fn violation(task: &TaskFile, outcome: &Outcome, place: u8) -> String {
    let Some(NamedConstraint { name, constraint }) = task.constraints.get(usize::from(place))
    else {
        return "a constraint is not kept".to_owned();
    };
    let estimates = outcome.estimates.iter();
    let decides = estimates
        .filter(|one| one.objective == Objective::Constraint(place) && one.variant.has_adversary());
    let lower = decides.map(|one| one.lower).fold(f32::INFINITY, f32::min);
    match constraint.probability {
        None => format!("the bound on the constraint {name} lies below zero"),
        Some(share) => format!(
            "the constraint {name} is kept in a share of {lower:.4} of the trajectories or more, \
             and {share} is asked for"
        ),
    }
}

fn sentence(
    task: &TaskFile,
    outcome: &Outcome,
    reason: Reason,
    farthest: Option<&Farthest>,
) -> String {
    let text = match reason {
        Reason::ReturnBelowThreshold => {
            return format!(
                "the bound {:.3} on the return lies below the threshold {}",
                Number::from(outcome.bound),
                outcome.threshold.unwrap_or(f32::NAN)
            );
        }
        Reason::ConstraintViolated(index) => {
            return violation(task, outcome, index);
        }
        Reason::NoThreshold => "the task states no threshold",
        Reason::NotCalibrated(Calibration::Blind(steps)) => {
            return format!(
                "the model fails its backtest: over {steps} steps and more, logged paths leave what it holds possible (hambo model info shows the table); log what the states do not tell and fit again, or check fewer steps than that"
            );
        }
        Reason::NotCalibrated(_) => {
            "the model is not calibrated: log more and fit again (hambo model info says what failed)"
        }
        Reason::OutsideSupport(percent) => {
            let outside = farthest.filter(|farthest| farthest.distance.0 > 1.0);
            let place = outside.map_or(
                String::new(),
                |Farthest {
                     name, step, value, ..
                 }| {
                    format!(", farthest at step {step} with {name} = {:.4}", value.0)
                },
            );
            return format!(
                "at {percent} % of the steps the controller is where the log has no states and actions like these ({MOST_OUTSIDE} % are allowed){place}: log more there, with exploration"
            );
        }
        Reason::NotFinite => {
            "a number was not finite: look for a division by zero or a logarithm of a negative number in the task"
        }
        Reason::OutsideRewardBounds => {
            "a reward lay outside the bounds that the task states: correct them"
        }
        Reason::NoAdversary => {
            "only neutral estimates were made, which bound nothing: choose --variant ca, da1 or dainf"
        }
        Reason::NoSearch => {
            "the adversary did not search: give at least one sweep and two searched trajectories"
        }
        Reason::SearchFailed => {
            "the adversary's search met a derivative that does not exist: look for a division by zero or a root of zero in the task"
        }
        Reason::NoWidth => {
            "the model is certain of everything, so there is nothing to choose from: fit at least two networks, or a Gaussian process"
        }
        Reason::RefusedByHost => {
            "the host's own check did not deploy; the image was written with --force"
        }
        Reason::FewStarts(count) => {
            return format!(
                "the log has {count} different first states, and at least 5 are needed: log more episodes, or say that the robot always starts there (initial.always = true)"
            );
        }
        Reason::Unfinished => "the check did not come to its end",
        Reason::OverBudget => "the check would take more steps than the task allows",
        Reason::Corrupted => {
            "two copies of a number disagree: the processor or its memory failed; check again"
        }
    };
    text.to_owned()
}
