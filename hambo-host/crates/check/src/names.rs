//! Names of variants, adversaries and objectives: the same in the text, the JSON object and
//! the report.

use hambo_core::check::Adversary;
use hambo_core::estimate::Margin;
use hambo_core::task::{Allocation, Objective, Variant};

use hambo_task::task::TaskFile;

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

/// An allocation as `--allocation` takes it.
#[must_use]
pub fn allocation_name(allocation: Allocation) -> &'static str {
    match allocation {
        Allocation::Even => "even",
        Allocation::Tried => "tried",
        Allocation::Focused => "focused",
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
