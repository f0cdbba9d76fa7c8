//! Who chooses inside the model's uncertainty: constants, and the searches
//! that start from them. This is eta of equation (1), and the minimum over it
//! of equation (2).
//!
//! A weak adversary makes a bound that looks tight and is wrong, so every
//! estimate is the minimum over all that was tried.

mod adjoint;
mod constant;
mod discrete;
mod network;
mod refine;
mod scatter;

pub use adjoint::{REFINE, Turn, pattern, softness, step_length, turn, update};
pub use constant::{MAX_STARTS, constant_component, constant_count};
pub use discrete::{CHOICE_ROWS, Discrete};
pub use network::NetworkAdversary;
pub use refine::Change;

use crate::model::Dynamics;
use crate::variant::Variant;

/// How many constant starts the adversary of a variant has: corners of the
/// cube, or members. One where there is no adversary.
///
/// ```
/// use hambo_core::adversary::start_count;
/// use hambo_core::task::Variant;
/// let dynamics = hambo_core::example::model()?.dynamics;
/// // Both ends of one dimension, and its middle; two members; no adversary.
/// assert_eq!(start_count(Variant::ContinuousAdversary, &dynamics), 3);
/// assert_eq!(start_count(Variant::DiscreteAdversary1, &dynamics), 2);
/// assert_eq!(start_count(Variant::Mean, &dynamics), 1);
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn start_count(variant: Variant, dynamics: &Dynamics<'_>) -> usize {
    match variant {
        Variant::ContinuousAdversary => constant_count(dynamics.state_dimension()),
        Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf => dynamics.members().max(1),
        _ => 1,
    }
}

/// Whether a variant's adversary goes on searching from its starts.
///
/// ```
/// use hambo_core::adversary::searches;
/// use hambo_core::task::Variant;
/// assert!(searches(Variant::ContinuousAdversary));
/// // DAinf has tried every member when it has tried its starts.
/// assert!(!searches(Variant::DiscreteAdversaryInf));
/// ```
#[must_use]
pub fn searches(variant: Variant) -> bool {
    matches!(
        variant,
        Variant::ContinuousAdversary | Variant::DiscreteAdversary1
    )
}
