//! Controllers that see functions of the state instead of the state: some of it,
//! or the sine and cosine of an angle.

use heapless::Vec;

use super::linear::Linear;
use super::perceptron::Perceptron;
use super::policy_trait::{Policy, PolicyInputs, spoil};
use crate::numeric::checksum::Checksum;
use crate::numeric::{ParameterError, dispatch};
use crate::task::expression::{Comparison, Gradient, Inputs, Op, Program, Variable};

/// The largest number of observations.
pub const MAX_OBSERVED: usize = 64;

/// What sees the observations.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one, and no heap; with pointers of 32 bits it is not large"
)]
pub enum Observer<'a> {
    /// Linear feedback.
    Linear(Linear<'a>),
    /// A network.
    Perceptron(Perceptron<'a>),
}

macro_rules! each {
    ($value:expr, $policy:ident => $call:expr) => {
        dispatch!($value, Observer::{Linear, Perceptron}, $policy => $call)
    };
}

/// A controller behind a tape that computes what it sees.
///
/// Its scratch is: the tape's values and adjoints, the observations and their
/// cotangents, and that of the controller.
#[derive(Clone, Debug)]
pub struct Observed<'a> {
    states: usize,
    program: Program,
    slots: Vec<u16, MAX_OBSERVED>,
    policy: Observer<'a>,
}

struct Parts<'s, const B: usize> {
    values: &'s mut [[f32; B]],
    adjoints: &'s mut [[f32; B]],
    seen: &'s mut [[f32; B]],
    cotangents: &'s mut [[f32; B]],
    rest: &'s mut [[f32; B]],
}

impl Observed<'_> {
    /// Adds all of it.
    pub(super) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            states,
            program,
            slots,
            policy,
        } = self;
        sum.value(&(states, program.ops(), slots, policy.kind()));
        each!(policy, policy => policy.add_to(sum));
    }
}

impl Observer<'_> {
    /// Which kind it is.
    fn kind(&self) -> u8 {
        match self {
            Self::Linear(_) => 0,
            Self::Perceptron(_) => 1,
        }
    }
}

impl<'a> Observed<'a> {
    /// A controller from its parts.
    pub(crate) fn new(
        states: usize,
        program: Program,
        slots: Vec<u16, MAX_OBSERVED>,
        policy: Observer<'a>,
    ) -> Result<Self, ParameterError> {
        let inputs = each!(&policy, policy => policy.state_dimension());
        ParameterError::size("observations", !slots.is_empty() && slots.len() == inputs)?;
        let on_tape = |slot: &u16| usize::from(*slot) < program.len();
        ParameterError::size("observations", slots.iter().all(on_tape))?;
        let of_state = |op: &Op| match op {
            Op::Variable(variable) => matches!(variable, Variable::State(_)),
            _ => true,
        };
        ParameterError::size("observations", program.ops().iter().all(of_state))?;
        Ok(Self {
            states,
            program,
            slots,
            policy,
        })
    }

    /// Whether the same state always gets the same action.
    pub(crate) fn is_deterministic(&self) -> bool {
        each!(&self.policy, policy => policy.is_deterministic())
    }

    fn split<'s, const B: usize>(&self, scratch: &'s mut [[f32; B]]) -> Option<Parts<'s, B>> {
        let (values, scratch) = scratch.split_at_mut_checked(self.program.len())?;
        let (adjoints, scratch) = scratch.split_at_mut_checked(self.program.len())?;
        let (seen, scratch) = scratch.split_at_mut_checked(self.slots.len())?;
        let (cotangents, rest) = scratch.split_at_mut_checked(self.slots.len())?;
        Some(Parts {
            values,
            adjoints,
            seen,
            cotangents,
            rest,
        })
    }
}

impl Policy for Observed<'_> {
    fn state_dimension(&self) -> usize {
        self.states
    }

    fn action_dimension(&self) -> usize {
        each!(&self.policy, policy => policy.action_dimension())
    }

    fn scratch_rows(&self) -> Option<usize> {
        let rest = each!(&self.policy, policy => policy.scratch_rows());
        let own = self.program.len().checked_add(self.slots.len())?;
        rest?.checked_add(own.checked_mul(2)?)
    }

    fn act<const B: usize>(&self, inputs: PolicyInputs<'_, B>, action: &mut [[f32; B]]) {
        let Some(parts) = self.split(inputs.scratch) else {
            return spoil(action);
        };
        let seen = Inputs {
            state: inputs.state,
            action: &[],
            next: &[],
            step: 0.0,
        };
        let finite = self.program.evaluate(Comparison::Exact, seen, parts.values);
        for (row, slot) in parts.seen.iter_mut().zip(&self.slots) {
            let value = parts.values.get(usize::from(*slot));
            *row = value.copied().unwrap_or([f32::NAN; B]);
        }
        let inputs = PolicyInputs {
            state: parts.seen,
            scratch: parts.rest,
            ..inputs
        };
        each!(&self.policy, policy => policy.act(inputs, action));
        // A network may lose a NaN.
        for row in action {
            for (action, finite) in row.iter_mut().zip(finite) {
                if !finite {
                    *action = f32::NAN;
                }
            }
        }
    }

    fn pull_back<const B: usize>(
        &self,
        inputs: PolicyInputs<'_, B>,
        action_cotangent: &[[f32; B]],
        state_cotangent: &mut [[f32; B]],
    ) {
        let Some(parts) = self.split(inputs.scratch) else {
            return;
        };
        parts.cotangents.fill([0.0; B]);
        let inputs = PolicyInputs {
            state: parts.seen,
            scratch: parts.rest,
            ..inputs
        };
        let cotangents = &mut *parts.cotangents;
        each!(&self.policy, policy => policy.pull_back(inputs, action_cotangent, cotangents));
        let seeds = self.slots.iter().zip(parts.cotangents.iter());
        let seeds = seeds.map(|(slot, seed)| (*slot, *seed));
        let gradient = Gradient {
            state: state_cotangent,
            action: &mut [],
            next: &mut [],
        };
        // Slots and rows were checked against the tape.
        let _ = self.program.pull_back(
            Comparison::Exact,
            parts.values,
            seeds,
            parts.adjoints,
            gradient,
        );
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::numeric::Slices;
    use crate::policy::head::ActionMap;

    /// u = 2 cos(x1) + 3 x0, seen as (cos(x1), x0).
    fn policy() -> Observed<'static> {
        let ops = [
            Op::Variable(Variable::State(1)),
            Op::Cosine(0),
            Op::Variable(Variable::State(0)),
        ];
        let program = Program::new(&ops, 2, 1).unwrap();
        // One output of two inputs: a bias tile and a block of weights for each input.
        const TILES: [[f32; 4]; 3] = [[0.0; 4], [2.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]];
        let actions = ActionMap::deterministic(&[1.0], &[0.0]);
        let linear = Linear::new(&TILES, 2, actions).unwrap();
        let slots = Vec::from_slice(&[1, 2]).unwrap();
        Observed::new(2, program, slots, Observer::Linear(linear)).unwrap()
    }

    #[test]
    fn a_controller_sees_functions_of_the_state() {
        let (policy, whole) = (policy(), Slices::default());
        assert_eq!(
            (policy.state_dimension(), policy.action_dimension()),
            (2, 1)
        );
        let mut scratch = vec![[0.0; 2]; policy.scratch_rows().unwrap()];
        let mut action = [[0.0; 2]];
        let state = [[0.5, -1.0], [0.0, core::f32::consts::FRAC_PI_2]];
        policy.act(PolicyInputs::new(&state, &mut scratch, &whole), &mut action);
        assert!((action[0][0] - 3.5).abs() < 1e-6);
        assert!((action[0][1] + 3.0).abs() < 1e-6);
        let mut gradient = [[0.0; 2]; 2];
        let inputs = PolicyInputs::new(&state, &mut scratch, &whole);
        policy.pull_back(inputs, &[[1.0; 2]], &mut gradient);
        assert_eq!(gradient[0], [3.0, 3.0]);
        assert!(gradient[1][0].abs() < 1e-6 && (gradient[1][1] + 2.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_not_finite_and_a_short_scratch_spoil_the_action() {
        let (policy, whole) = (policy(), Slices::default());
        let mut scratch = vec![[0.0; 2]; policy.scratch_rows().unwrap()];
        let mut action = [[0.0; 2]];
        let state = [[0.5, f32::INFINITY], [0.0, 0.0]];
        policy.act(PolicyInputs::new(&state, &mut scratch, &whole), &mut action);
        assert!(action[0][0].is_finite() && action[0][1].is_nan());
        let (state, mut short, mut action) = ([[0.5], [0.0]], [[0.0]; 3], [[0.0]]);
        policy.act(PolicyInputs::new(&state, &mut short, &whole), &mut action);
        assert!(action[0][0].is_nan());
    }

    #[test]
    fn other_inputs_and_slots_are_refused() {
        let program = |variable| Program::new(&[Op::Variable(variable)], 2, 1).unwrap();
        let linear = || match policy().policy {
            Observer::Linear(linear) => Observer::Linear(linear),
            Observer::Perceptron(_) => unreachable!(),
        };
        let slots = |slots: &[u16]| Vec::from_slice(slots).unwrap();
        let state = || program(Variable::State(0));
        assert!(Observed::new(2, state(), slots(&[0, 0]), linear()).is_ok());
        assert!(Observed::new(2, state(), slots(&[0]), linear()).is_err());
        assert!(Observed::new(2, state(), slots(&[0, 1]), linear()).is_err());
        for other in [Variable::Action(0), Variable::Next(0), Variable::Step] {
            assert!(Observed::new(2, program(other), slots(&[0, 0]), linear()).is_err());
        }
    }
}
