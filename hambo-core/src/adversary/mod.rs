//! The searches for the adversary's worst choice: the minimum over eta of
//! equation (2), or over the members of an ensemble.
//!
//! | variant | starts | search from each start |
//! |---|---|---|
//! | CA | the constants of `constant`, a trained network | `adjoint_search`: sign steps along the adjoint, in the rounds of `schedule`, then `perturbation` |
//! | DA1 | every member, a trained network | `sequence_search`: greedy by adjoint value, then coordinate descent |
//! | DAinf | every member | none: `member_quantile` compares the members' means |
//!
//! A [`Search`] runs a group of candidates (a trajectory and a start each)
//! side by side; `minimum` takes the least over the candidates of each
//! trajectory. A weak adversary makes a bound that looks tight and is wrong,
//! so every estimate is the minimum over all that was tried.

mod adjoint_search;
mod constant;
mod hash;
mod member_quantile;
mod minimum;
mod perturbation;
mod schedule;
mod search;
mod sequence_search;

pub(crate) use constant::MAX_STARTS;
pub(crate) use minimum::Minimum;
pub use search::{Search, SearchResult};

use crate::model::Dynamics;
use crate::rollout::Rollout;
use crate::task::Task;
use crate::variant::Variant;

/// How many constant starts the adversary of a variant has: corners of the
/// cube, or members. One where there is no adversary.
#[must_use]
pub fn constant_starts(variant: Variant, dynamics: &Dynamics<'_>) -> usize {
    match variant {
        Variant::ContinuousAdversary => constant::count(dynamics.state_dimension()),
        Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf => dynamics.members().max(1),
        _ => 1,
    }
}

/// How many starts there are on each trajectory: the constant ones, and one
/// more for a trained adversary.
#[must_use]
pub fn starts<P>(rollout: &Rollout<'_, P>) -> usize {
    let trained = rollout.task.adversary(rollout.variant).is_some();
    constant_starts(rollout.variant, &rollout.model.dynamics).saturating_add(usize::from(trained))
}

/// Whether a variant's adversary goes on searching from its starts. DAinf
/// does not: it has tried every member when it has tried its starts.
#[must_use]
pub fn searches(variant: Variant) -> bool {
    matches!(
        variant,
        Variant::ContinuousAdversary | Variant::DiscreteAdversary1
    )
}

/// How many sweeps of the search follow the first, which is the start itself.
#[must_use]
pub(crate) fn iterations(variant: Variant, task: &Task<'_>) -> u32 {
    if searches(variant) {
        task.effort.iterations
    } else {
        0
    }
}
