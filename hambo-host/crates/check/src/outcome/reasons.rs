//! Why a verdict is not `deploy`, in sentences.

use hambo_core::check::{MOST_OUTSIDE, Outcome};
use hambo_core::gate::Reason;
use hambo_core::model::{Calibration, MOST_BEYOND_TESTED};
use hambo_core::task::Objective;

use crate::case::near_path::NearPathUse;
use crate::evidence::support::Farthest;
use crate::number::Number;
use hambo_task::task::{NamedConstraint, TaskFile};

/// Why the verdict is not `deploy`; none of a missing threshold, which gives no verdict.
#[must_use]
pub fn reasons(task: &TaskFile, outcome: &Outcome) -> Vec<String> {
    reasons_at((task, None), outcome, None)
}

/// The same, where the step is known that is farthest from the log. A model that is refused for
/// what is near the controller's path was calibrated.
pub(crate) fn reasons_at(
    (task, near): (&TaskFile, Option<&NearPathUse>),
    outcome: &Outcome,
    farthest: Option<&Farthest>,
) -> Vec<String> {
    let reasons = outcome.reasons.iter();
    let reasons = reasons.filter(|reason| **reason != Reason::NoThreshold);
    reasons
        .map(
            |reason| match (reason, near.and_then(NearPathUse::refusal)) {
                (Reason::NotCalibrated(Calibration::Failed), Some(refusal)) => refusal,
                _ => sentence(task, outcome, *reason, farthest),
            },
        )
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

/// What an abstain for a horizon says that is too long for the windows of the log.
fn untested_horizon(tested: u16, horizon: u32) -> String {
    let most = u32::from(tested).saturating_mul(MOST_BEYOND_TESTED);
    let needed = horizon.div_ceil(MOST_BEYOND_TESTED);
    let windows = match tested {
        0 | 1 => "only single steps were tested".to_owned(),
        _ => format!("windows of up to {tested} steps were tested"),
    };
    format!(
        "the check goes on for {horizon} steps, and {windows} on withheld episodes: log at least \
         five episodes of {needed} steps or more and fit again with this horizon, or check at most \
         {most} steps"
    )
}

/// The step that is farthest from the log, if it is outside.
fn place(farthest: Option<&Farthest>) -> String {
    let outside = farthest.filter(|farthest| farthest.distance.0 > 1.0);
    let place = |far: &Farthest| {
        let Farthest {
            name, step, value, ..
        } = far;
        format!(", farthest at step {step} with {name} = {:.4}", value.0)
    };
    outside.map_or_else(String::new, place)
}

/// What of a model makes every check of so many steps abstain, whatever the controller.
pub(crate) fn of_model(reason: Reason, horizon: u32) -> Option<String> {
    match reason {
        Reason::NotCalibrated(Calibration::Blind(steps)) => Some(format!(
            "the model fails its backtest: over {steps} steps and more, logged paths leave what it holds possible (hambo model info shows the table); log what the states do not tell and fit again, or check fewer steps than that"
        )),
        Reason::NotCalibrated(_) => Some(
            "the model is not calibrated: log more and fit again (hambo model info says what failed)"
                .to_owned(),
        ),
        Reason::UntestedHorizon(tested) => Some(untested_horizon(tested, horizon)),
        _ => None,
    }
}

/// The reasons that no work can change, of a check that has not begun.
pub(crate) fn certain(task: &TaskFile, outcome: &Outcome) -> Vec<String> {
    let reasons = outcome.reasons.iter().copied();
    let certain = reasons.filter(|reason| {
        matches!(
            reason,
            Reason::NotCalibrated(_)
                | Reason::UntestedHorizon(_)
                | Reason::FewStarts(_)
                | Reason::Unbounded(_)
                | Reason::NoAdversary
                | Reason::NoSearch
                | Reason::OverBudget
        )
    });
    certain
        .map(|reason| sentence(task, outcome, reason, None))
        .collect()
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
        Reason::NotCalibrated(_) | Reason::UntestedHorizon(_) => {
            return of_model(reason, task.horizon).unwrap_or_default();
        }
        Reason::OutsideSupport(percent) => {
            return format!(
                "at {percent} % of the steps the controller is where the log has no states and actions like these ({MOST_OUTSIDE} % are allowed){}: log more there, with exploration",
                place(farthest)
            );
        }
        Reason::TrajectoriesOutside(percent) => {
            let allowed = outcome.outside().allowed_trajectories;
            return format!(
                "in {percent} % of the trajectories the controller is at least once far from all that the log has ({allowed} % are allowed, as often as in the log itself and {MOST_OUTSIDE} % more){}: log episodes that begin or pass there, with exploration, or keep the task's first states to those of the log",
                place(farthest)
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
        Reason::Unbounded(number) => {
            let constraint = usize::from(number).checked_sub(1);
            let constraint = constraint.and_then(|place| task.constraints.get(place));
            let objective = constraint.map_or("return".to_owned(), |one| {
                format!("constraint {}", one.name)
            });
            return format!(
                "the task asks for a bound that holds for any distribution, and the {objective} has no finite bounds: give low and high of the states that it depends on{}",
                match constraint {
                    None => ", or low and high in [reward]",
                    Some(_) => ", or ask for a probability",
                }
            );
        }
        Reason::Corrupted => {
            "two copies of a number disagree: the processor or its memory failed; check again"
        }
    };
    text.to_owned()
}
