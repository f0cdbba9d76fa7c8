//! A tape that has been checked: [`Program`].

use core::fmt;

use heapless::Vec;

use super::op::{Op, Variable};

/// The longest tape, in ops.
pub const MAX_OPS: usize = 128;

/// Why a tape was refused, or a sweep could not run.
///
/// ```
/// use hambo_core::task::expression::{Op, Program, ProgramError};
/// // The first op has nothing before it that it could read.
/// let error = Program::new(&[Op::Negate(0)], 1, 1).unwrap_err();
/// assert_eq!(error, ProgramError::Reference(0));
/// assert_eq!(error.to_string(), "operation 0 reads a later one");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ProgramError {
    /// The tape has no ops.
    Empty,
    /// The tape has more than [`MAX_OPS`] ops.
    TooLong,
    /// The op in this slot reads a slot that is not before it.
    Reference(u16),
    /// The op in this slot reads a state or action that the task does not have.
    Variable(u16),
    /// The constant in this slot is not a finite number.
    Constant(u16),
    /// The comparison in this slot has a smoothing width that is not finite and above 0.
    Width(u16),
    /// This output is not a slot of the tape.
    Output(u16),
    /// A lent buffer has fewer rows than the tape has ops.
    Buffer,
    /// The bytes are no ops.
    Bytes,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("the program is empty"),
            Self::TooLong => write!(formatter, "the program has more than {MAX_OPS} operations"),
            Self::Reference(slot) => write!(formatter, "operation {slot} reads a later one"),
            Self::Variable(slot) => {
                write!(formatter, "operation {slot} reads an unknown variable")
            }
            Self::Constant(slot) => write!(formatter, "constant {slot} is not finite"),
            Self::Width(slot) => {
                write!(
                    formatter,
                    "comparison {slot} has a bad width: finite and above 0"
                )
            }
            Self::Output(slot) => write!(formatter, "the program has no slot {slot}"),
            Self::Bytes => formatter.write_str("the bytes hold no program"),
            Self::Buffer => formatter.write_str("a buffer has fewer rows than the program"),
        }
    }
}

impl core::error::Error for ProgramError {}

/// A checked tape: every op reads earlier slots only, every variable exists, every
/// constant is finite.
///
/// ```
/// use hambo_core::task::expression::{Comparison, Gradient, Inputs, Op, Program, Variable};
///
/// // x * a, for one state x and one action a
/// let ops = [
///     Op::Variable(Variable::State(0)),
///     Op::Variable(Variable::Action(0)),
///     Op::Multiply(0, 1),
/// ];
/// let program = Program::new(&ops, 1, 1)?;
///
/// // Two lanes: x = 3 and x = 5, with a = 2 in both.
/// let inputs = Inputs { state: &[[3.0, 5.0]], action: &[[2.0, 2.0]], next: &[], step: 0.0 };
/// let mut values = [[0.0; 2]; 3];
/// let finite = program.evaluate(Comparison::Exact, inputs, &mut values);
/// assert_eq!(finite, [true, true]);
/// assert_eq!(values[2], [6.0, 10.0]);
///
/// // The derivative in a is x.
/// let (mut adjoints, mut state, mut action) = ([[0.0; 2]; 3], [[0.0; 2]], [[0.0; 2]]);
/// let gradient = Gradient { state: &mut state, action: &mut action, next: &mut [] };
/// program.pull_back(Comparison::Exact, &values, [(2, [1.0, 1.0])], &mut adjoints, gradient)?;
/// assert_eq!(action[0], [3.0, 5.0]);
/// # Ok::<(), hambo_core::task::expression::ProgramError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    ops: Vec<Op, MAX_OPS>,
}

impl Program {
    /// Checks a tape for a task with these numbers of states and actions and keeps a copy.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with the tape, with its slot.
    pub fn new(
        ops: &[Op],
        state_dimension: usize,
        action_dimension: usize,
    ) -> Result<Self, ProgramError> {
        let ops = Vec::from_slice(ops).map_err(|_| ProgramError::TooLong)?;
        check(&ops, state_dimension, action_dimension)?;
        Ok(Self { ops })
    }

    /// Reads a tape from postcard, op by op, and checks it.
    ///
    /// ```
    /// use hambo_core::task::expression::{Op, Program, ProgramError, Variable};
    /// let mut buffer = [0; 16];
    /// let bytes = postcard::to_slice(&Op::Variable(Variable::Action(0)), &mut buffer).unwrap();
    /// let program = Program::decode(bytes, 1, 1)?;
    /// assert_eq!(program.ops(), [Op::Variable(Variable::Action(0))]);
    /// assert_eq!(Program::decode(&[0xFF], 1, 1), Err(ProgramError::Bytes));
    /// # Ok::<(), ProgramError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with the bytes or the tape.
    pub fn decode(
        mut bytes: &[u8],
        state_dimension: usize,
        action_dimension: usize,
    ) -> Result<Self, ProgramError> {
        let mut ops = Vec::new();
        while !bytes.is_empty() {
            let (op, rest) = postcard::take_from_bytes(bytes).map_err(|_| ProgramError::Bytes)?;
            ops.push(op).map_err(|_| ProgramError::TooLong)?;
            bytes = rest;
        }
        check(&ops, state_dimension, action_dimension)?;
        Ok(Self { ops })
    }

    /// The tape.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The number of ops, which is the number of rows that the sweeps need.
    #[expect(clippy::len_without_is_empty, reason = "a program is never empty")]
    pub fn len(&self) -> usize {
        self.ops.len()
    }
}

fn check(ops: &[Op], state_dimension: usize, action_dimension: usize) -> Result<(), ProgramError> {
    if ops.is_empty() {
        return Err(ProgramError::Empty);
    }
    for (slot, op) in (0_u16..).zip(ops) {
        if op.operands().any(|operand| operand >= slot) {
            return Err(ProgramError::Reference(slot));
        }
        match *op {
            Op::Constant(value) if !value.is_finite() => {
                return Err(ProgramError::Constant(slot));
            }
            Op::Variable(variable) => {
                let known = match variable {
                    Variable::State(index) | Variable::Next(index) | Variable::Learned(index) => {
                        usize::from(index) < state_dimension
                    }
                    Variable::Action(index) => usize::from(index) < action_dimension,
                    Variable::Step => true,
                };
                if !known {
                    return Err(ProgramError::Variable(slot));
                }
            }
            _ => {}
        }
        if let Some(width) = op.comparison_width()
            && !(width.is_finite() && width > 0.0)
        {
            return Err(ProgramError::Width(slot));
        }
    }
    Ok(())
}
