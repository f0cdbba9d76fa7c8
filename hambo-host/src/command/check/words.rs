//! Names and reasons in plain words, for the table and the object alike.

use crate::formats::task::TaskFile;
use anstyle::{AnsiColor, Style};
use hambo_core::check::{Adversary, Estimate, Outcome};
use hambo_core::estimate::Margin;
use hambo_core::rollout::Objective;
use hambo_core::variant::Variant;
use hambo_core::verdict::{Reason, Verdict};

use super::VARIANTS;

/// As `--variant` takes it.
pub fn variant(variant: Variant) -> &'static str {
    let named = VARIANTS.iter().find(|(_, other, _)| *other == variant);
    named.map_or("", |(.., name)| name)
}

/// How a verdict looks on a terminal.
pub fn style(verdict: &Verdict) -> Style {
    let colour = match verdict {
        Verdict::Deploy(_) => AnsiColor::Green,
        Verdict::Reject => AnsiColor::Red,
        Verdict::Abstain => AnsiColor::Yellow,
    };
    colour.on_default().bold()
}

/// What is estimated.
pub fn objective(task: &TaskFile, estimate: &Estimate) -> String {
    match estimate.objective {
        Objective::Return => "return".to_owned(),
        Objective::Constraint(slot) => {
            let named = task.constraints.iter().find(|(_, other)| *other == slot);
            named.map_or_else(String::new, |(name, _)| format!("constraint {name}"))
        }
    }
}

/// Who won.
pub fn adversary(adversary: Adversary) -> String {
    match adversary {
        Adversary::None => "none".to_owned(),
        Adversary::Constant(number) => format!("constant {number}"),
        Adversary::Member(number) => format!("member {number}"),
        Adversary::Adjoint => "adjoint search".to_owned(),
        Adversary::Sequence => "sequence search".to_owned(),
        Adversary::Network => "trained network".to_owned(),
    }
}

/// Where the sampling margin comes from.
pub fn margin(margin: Margin) -> &'static str {
    match margin {
        Margin::StudentT => "Student's t",
        Margin::Bernstein { .. } => "empirical Bernstein",
    }
}

/// Why the verdict is not `deploy`.
pub fn why(task: &TaskFile, outcome: &Outcome, reason: Reason) -> String {
    match reason {
        Reason::ReturnBelowThreshold => format!(
            "the bound {:.3} on the return lies below the threshold {}",
            outcome.bound,
            outcome.threshold.unwrap_or(f32::NAN)
        ),
        Reason::ConstraintViolated(index) => {
            let name = task.constraints.get(usize::from(index));
            format!(
                "the bound on the constraint {} lies below zero",
                name.map_or("", |(name, _)| name)
            )
        }
        Reason::NoThreshold => "the task states no threshold".to_owned(),
        Reason::NotCalibrated(_) => {
            "the model is not calibrated: log more and fit again (hambo model info says what failed)"
                .to_owned()
        }
        Reason::OutsideSupport => {
            "the controller leaves the states and actions that the log covers: log more there"
                .to_owned()
        }
        Reason::NotFinite => {
            "a number was not finite: look for a division by zero or a logarithm of a negative number in the task"
                .to_owned()
        }
        Reason::OutsideRewardBounds => {
            "a reward lay outside the bounds that the task states: correct them".to_owned()
        }
        Reason::Unfinished => "the check did not come to its end".to_owned(),
        Reason::OverBudget => "the check would take more steps than the task allows".to_owned(),
    }
}
