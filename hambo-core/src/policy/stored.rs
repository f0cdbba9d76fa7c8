//! A controller that an image may hold: an enum over the kinds.

use super::linear::Linear;
use super::observed::Observed;
use super::perceptron::Perceptron;
use super::policy_trait::{Policy, PolicyInputs};
use super::waypoints::Waypoints;
use crate::numeric::checksum::Checksum;
use crate::numeric::dispatch;

/// A controller that comes out of an image.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one, and no heap")]
pub enum StoredPolicy<'a> {
    /// Straight lines from place to place.
    Waypoints(Waypoints),
    /// Linear state feedback; constant and PD controllers, too.
    Linear(Linear<'a>),
    /// A network.
    Perceptron(Perceptron<'a>),
    /// One of these two behind functions of the state.
    Observed(Observed<'a>),
}

/// Calls the controller, whatever its kind.
macro_rules! each {
    ($value:expr, $policy:ident => $call:expr) => {
        dispatch!($value, StoredPolicy::{Waypoints, Linear, Perceptron, Observed}, $policy => $call)
    };
}

impl StoredPolicy<'_> {
    /// Adds all of it.
    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        match self {
            Self::Waypoints(policy) => sum.value(&(0_u8, policy)),
            Self::Linear(policy) => {
                sum.value(&1_u8);
                policy.add_to(sum);
            }
            Self::Perceptron(policy) => {
                sum.value(&2_u8);
                policy.add_to(sum);
            }
            Self::Observed(policy) => {
                sum.value(&3_u8);
                policy.add_to(sum);
            }
        }
    }

    /// Whether the same state always gets the same action.
    pub fn is_deterministic(&self) -> bool {
        each!(self, policy => policy.is_deterministic())
    }
}

impl Policy for StoredPolicy<'_> {
    fn state_dimension(&self) -> usize {
        each!(self, policy => policy.state_dimension())
    }

    fn action_dimension(&self) -> usize {
        each!(self, policy => policy.action_dimension())
    }

    fn scratch_rows(&self) -> Option<usize> {
        each!(self, policy => policy.scratch_rows())
    }

    fn act<const B: usize>(&self, inputs: PolicyInputs<'_, B>, action: &mut [[f32; B]]) {
        each!(self, policy => policy.act(inputs, action));
    }

    fn pull_back<const B: usize>(
        &self,
        inputs: PolicyInputs<'_, B>,
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    ) {
        each!(self, policy => policy.pull_back(inputs, action_cotangent, state_cotangent));
    }
}
