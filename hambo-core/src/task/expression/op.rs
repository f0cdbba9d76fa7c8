//! The byte code: one [`Op`] per slot.

use serde::{Deserialize, Serialize};

/// An input of an expression.
///
/// ```
/// use hambo_core::task::expression::{Op, Program, ProgramError, Variable};
/// // The second state, where there is only one.
/// let program = Program::new(&[Op::Variable(Variable::State(1))], 1, 1);
/// assert_eq!(program, Err(ProgramError::Variable(0)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Variable {
    /// A component of the state `s`.
    State(u16),
    /// A component of the action `a`.
    Action(u16),
    /// A component of the next state `s'`.
    Next(u16),
    /// The number of the step, from 0.
    Step,
    /// A component of `s'` as the model gives it, before a known state corrects it. Read from
    /// `next`, which holds it until then; of a logged row that is the value that was logged.
    Learned(u16),
}

/// One step of a tape. The fields are slots of earlier steps unless said otherwise.
///
/// Comparisons give 0 or 1. Their `width` matters only to
/// [`Comparison::Smooth`](super::Comparison::Smooth): it is the distance over which the
/// step is smeared. `a > b` is `Less` with the sides swapped.
///
/// ```
/// use hambo_core::task::expression::{Comparison, Inputs, Op, Program, Variable};
/// // max(s, 0): one op for each slot.
/// let tape = [Op::Variable(Variable::State(0)), Op::Constant(0.0), Op::Maximum(0, 1)];
/// let program = Program::new(&tape, 1, 1)?;
/// let inputs = Inputs { state: &[[-2.0, 3.0]], action: &[], next: &[], step: 0.0 };
/// let mut values = [[0.0; 2]; 3];
/// program.evaluate(Comparison::Exact, inputs, &mut values);
/// assert_eq!(values[2], [0.0, 3.0]);
/// # Ok::<(), hambo_core::task::expression::ProgramError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Op {
    /// A number.
    Constant(f32),
    /// An input.
    Variable(Variable),
    /// `-a`
    Negate(u16),
    /// `a + b`
    Add(u16, u16),
    /// `a - b`
    Subtract(u16, u16),
    /// `a * b`
    Multiply(u16, u16),
    /// `a / b`
    Divide(u16, u16),
    /// `a ^ b`
    Power(u16, u16),
    /// `abs(a)`
    Absolute(u16),
    /// `min(a, b)`; a tie takes `a`.
    Minimum(u16, u16),
    /// `max(a, b)`; a tie takes `a`.
    Maximum(u16, u16),
    /// `sqrt(a)`
    SquareRoot(u16),
    /// `exp(a)`
    Exponential(u16),
    /// `log(a)`, the natural logarithm.
    Logarithm(u16),
    /// `sin(a)`
    Sine(u16),
    /// `cos(a)`
    Cosine(u16),
    /// `tan(a)`
    Tangent(u16),
    /// `atan2(y, x)`
    ArcTangent2(u16, u16),
    /// `tanh(a)`
    HyperbolicTangent(u16),
    /// `clamp(a, low, high)`
    Clamp(u16, u16, u16),
    /// The angle `a` moved to [-pi, pi) by whole turns.
    Wrap(u16),
    /// `left < right`
    Less {
        /// Slot of the left side.
        left: u16,
        /// Slot of the right side.
        right: u16,
        /// Smoothing width, a number above 0.
        width: f32,
    },
    /// `left <= right`
    LessEqual {
        /// Slot of the left side.
        left: u16,
        /// Slot of the right side.
        right: u16,
        /// Smoothing width, a number above 0.
        width: f32,
    },
    /// `left == right`
    Equal {
        /// Slot of the left side.
        left: u16,
        /// Slot of the right side.
        right: u16,
        /// Smoothing width, a number above 0.
        width: f32,
    },
    /// `left != right`
    NotEqual {
        /// Slot of the left side.
        left: u16,
        /// Slot of the right side.
        right: u16,
        /// Smoothing width, a number above 0.
        width: f32,
    },
    /// `a && b`
    And(u16, u16),
    /// `a || b`
    Or(u16, u16),
    /// `!a`
    Not(u16),
    /// `if(condition, a, b)`: `a` where the condition is not 0, else `b`.
    Select(u16, u16, u16),
}

impl Op {
    /// The slots this op reads, in the order of its fields.
    ///
    /// ```
    /// use hambo_core::task::expression::Op;
    /// assert!(Op::Clamp(4, 0, 1).operands().eq([4, 0, 1]));
    /// assert!(Op::Constant(1.0).operands().eq([]));
    /// ```
    pub fn operands(&self) -> impl Iterator<Item = u16> + use<> {
        let operands = match *self {
            Op::Constant(_) | Op::Variable(_) => [None; 3],
            Op::Negate(a)
            | Op::Absolute(a)
            | Op::SquareRoot(a)
            | Op::Exponential(a)
            | Op::Logarithm(a)
            | Op::Sine(a)
            | Op::Cosine(a)
            | Op::Tangent(a)
            | Op::HyperbolicTangent(a)
            | Op::Wrap(a)
            | Op::Not(a) => [Some(a), None, None],
            Op::Add(a, b)
            | Op::Subtract(a, b)
            | Op::Multiply(a, b)
            | Op::Divide(a, b)
            | Op::Power(a, b)
            | Op::Minimum(a, b)
            | Op::Maximum(a, b)
            | Op::ArcTangent2(a, b)
            | Op::And(a, b)
            | Op::Or(a, b) => [Some(a), Some(b), None],
            Op::Clamp(a, b, c) | Op::Select(a, b, c) => [Some(a), Some(b), Some(c)],
            Op::Less { left, right, .. }
            | Op::LessEqual { left, right, .. }
            | Op::Equal { left, right, .. }
            | Op::NotEqual { left, right, .. } => [Some(left), Some(right), None],
        };
        operands.into_iter().flatten()
    }

    /// The two sides of a comparison; `None` for other ops.
    ///
    /// ```
    /// use hambo_core::task::expression::Op;
    /// let less = Op::Less { left: 2, right: 5, width: 1.0 };
    /// assert_eq!(less.comparison_sides(), Some((2, 5)));
    /// assert_eq!(Op::Add(2, 5).comparison_sides(), None);
    /// ```
    pub fn comparison_sides(&self) -> Option<(u16, u16)> {
        match *self {
            Op::Less { left, right, .. }
            | Op::LessEqual { left, right, .. }
            | Op::Equal { left, right, .. }
            | Op::NotEqual { left, right, .. } => Some((left, right)),
            _ => None,
        }
    }

    /// The smoothing width of a comparison; `None` for other ops.
    ///
    /// ```
    /// use hambo_core::task::expression::Op;
    /// let less = Op::Less { left: 2, right: 5, width: 1.0 };
    /// assert_eq!(less.comparison_width(), Some(1.0));
    /// assert_eq!(Op::Add(2, 5).comparison_width(), None);
    /// ```
    pub fn comparison_width(&self) -> Option<f32> {
        match *self {
            Op::Less { width, .. }
            | Op::LessEqual { width, .. }
            | Op::Equal { width, .. }
            | Op::NotEqual { width, .. } => Some(width),
            _ => None,
        }
    }

    /// The same comparison with another smoothing width; other ops are left as they are.
    ///
    /// ```
    /// use hambo_core::task::expression::Op;
    /// let less = Op::Less { left: 2, right: 5, width: 1.0 };
    /// assert_eq!(less.with_comparison_width(0.1).comparison_width(), Some(0.1));
    /// assert_eq!(Op::Add(2, 5).with_comparison_width(0.1), Op::Add(2, 5));
    /// ```
    pub fn with_comparison_width(mut self, new_width: f32) -> Self {
        match &mut self {
            Op::Less { width, .. }
            | Op::LessEqual { width, .. }
            | Op::Equal { width, .. }
            | Op::NotEqual { width, .. } => *width = new_width,
            _ => {}
        }
        self
    }

    /// True if the op can only give 0 or 1.
    ///
    /// ```
    /// use hambo_core::task::expression::Op;
    /// assert!(Op::Not(0).is_condition());
    /// assert!(!Op::Negate(0).is_condition());
    /// ```
    pub fn is_condition(&self) -> bool {
        self.comparison_sides().is_some() || matches!(self, Op::And(..) | Op::Or(..) | Op::Not(_))
    }
}
