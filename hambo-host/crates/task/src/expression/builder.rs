//! Values to tape: constant folding and sharing of common subexpressions.

use hambo_core::task::expression::{Comparison, Inputs, MAX_OPS, Op, Program};

use super::error::ExpressionError;

/// The names an expression may use.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// Names of the state's components, in order.
    pub state: &'a [String],
    /// Names of the action's components, in order.
    pub action: &'a [String],
    /// T, which expressions call `horizon`.
    pub horizon: u32,
}

/// What is taken off the difference of two numbers of which one must be larger: nothing to
/// any difference but 0.
const LEAST_MARGIN: f32 = 1e-30;

/// What a subexpression has become: a number, or a slot of the tape.
///
/// A number gets a slot only when an op reads it, so folding leaves nothing behind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Constant(f32),
    Slot(u16),
}

/// Appends ops to the tape. `offset` is always the place in the source to blame.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    pub(super) source: &'a str,
    pub(super) ops: &'a mut Vec<Op>,
}

impl Builder<'_> {
    pub(super) fn variable(&mut self, op: Op, offset: usize) -> Result<Value, ExpressionError> {
        self.emit(op, offset).map(Value::Slot)
    }

    pub(super) fn apply1(
        &mut self,
        op: fn(u16) -> Op,
        a: Value,
        offset: usize,
    ) -> Result<Value, ExpressionError> {
        self.apply([a], |[a]| op(a), offset)
    }

    pub(super) fn apply2(
        &mut self,
        op: fn(u16, u16) -> Op,
        a: Value,
        b: Value,
        offset: usize,
    ) -> Result<Value, ExpressionError> {
        self.apply([a, b], |[a, b]| op(a, b), offset)
    }

    pub(super) fn apply3(
        &mut self,
        op: fn(u16, u16, u16) -> Op,
        arguments: [Value; 3],
        offset: usize,
    ) -> Result<Value, ExpressionError> {
        self.apply(arguments, |[a, b, c]| op(a, b, c), offset)
    }

    /// `base ^ exponent`; 2, 3 and 4 become products, which are exact and fast.
    pub(super) fn power(
        &mut self,
        base: Value,
        exponent: Value,
        offset: usize,
    ) -> Result<Value, ExpressionError> {
        let Value::Constant(number) = exponent else {
            return self.apply2(Op::Power, base, exponent, offset);
        };
        let products = [2.0, 3.0, 4.0].iter().position(|wanted| *wanted == number);
        let Some(products) = products else {
            return self.apply2(Op::Power, base, exponent, offset);
        };
        let square = self.apply2(Op::Multiply, base, base, offset)?;
        match products {
            0 => Ok(square),
            1 => self.apply2(Op::Multiply, square, base, offset),
            _ => self.apply2(Op::Multiply, square, square, offset),
        }
    }

    /// The value as 0 or 1, so that the smooth stand-ins of `&& || !` make sense.
    pub(super) fn condition(
        &mut self,
        value: Value,
        offset: usize,
    ) -> Result<Value, ExpressionError> {
        match value {
            Value::Constant(number) => Ok(Value::Constant(if number == 0.0 { 0.0 } else { 1.0 })),
            Value::Slot(slot) if self.ops[usize::from(slot)].is_condition() => Ok(value),
            Value::Slot(_) => self.apply2(not_equal, value, Value::Constant(0.0), offset),
        }
    }

    /// The slot of a number that is at least 0 where what this slot says holds, or, if
    /// `negated`, where it does not.
    pub(super) fn margin(&mut self, slot: u16, negated: bool) -> Result<u16, ExpressionError> {
        let (low, high, strict) = match (self.ops[usize::from(slot)], negated) {
            (Op::Less { left, right, .. }, false) => (left, right, true),
            (Op::Less { left, right, .. }, true) => (right, left, false),
            (Op::LessEqual { left, right, .. }, false) => (left, right, false),
            (Op::LessEqual { left, right, .. }, true) => (right, left, true),
            (Op::And(a, b), false) | (Op::Or(a, b), true) => {
                let (a, b) = (self.margin(a, negated)?, self.margin(b, negated)?);
                return self.emit(Op::Minimum(a, b), 0);
            }
            (Op::Or(a, b), false) | (Op::And(a, b), true) => {
                let (a, b) = (self.margin(a, negated)?, self.margin(b, negated)?);
                return self.emit(Op::Maximum(a, b), 0);
            }
            (Op::Not(a), _) => return self.margin(a, !negated),
            (Op::Equal { .. } | Op::NotEqual { .. }, _) => {
                return Err(ExpressionError::new(
                    self.source,
                    0,
                    "this does not say by how much it holds",
                    "compare with < <= > or >=; instead of `x == 1` write `abs(x - 1) < 0.1`",
                ));
            }
            (_, false) => return Ok(slot),
            (_, true) => return self.emit(Op::Negate(slot), 0),
        };
        let difference = self.emit(Op::Subtract(high, low), 0)?;
        if !strict {
            return Ok(difference);
        }
        // Steps are integers: `t < 10` must not hold at 10.
        let least = self.emit(Op::Constant(LEAST_MARGIN), 0)?;
        self.emit(Op::Subtract(difference, least), 0)
    }

    /// The slot that holds the value.
    pub(super) fn slot(&mut self, value: Value, offset: usize) -> Result<u16, ExpressionError> {
        match value {
            Value::Constant(number) => self.emit(Op::Constant(number), offset),
            Value::Slot(slot) => Ok(slot),
        }
    }

    fn apply<const N: usize>(
        &mut self,
        arguments: [Value; N],
        op: impl Fn([u16; N]) -> Op,
        offset: usize,
    ) -> Result<Value, ExpressionError> {
        let numbers = arguments.map(|argument| match argument {
            Value::Constant(number) => Some(number),
            Value::Slot(_) => None,
        });
        if numbers.iter().all(Option::is_some) {
            return self.fold(numbers.map(Option::unwrap_or_default), op, offset);
        }
        let mut slots = [0; N];
        for (slot, argument) in slots.iter_mut().zip(arguments) {
            *slot = self.slot(argument, offset)?;
        }
        self.emit(op(slots), offset).map(Value::Slot)
    }

    /// Computes an op of numbers by running it on the core.
    fn fold<const N: usize>(
        &self,
        numbers: [f32; N],
        op: impl Fn([u16; N]) -> Op,
        offset: usize,
    ) -> Result<Value, ExpressionError> {
        let mut slots = [0; N];
        for (slot, index) in slots.iter_mut().zip(0..) {
            *slot = index;
        }
        let mut tape: Vec<Op> = numbers.map(Op::Constant).to_vec();
        tape.push(op(slots));
        let inputs = Inputs {
            state: &[],
            action: &[],
            next: &[],
            step: 0.0,
        };
        let mut values = [[f32::NAN]; 8];
        let finite = Program::new(&tape, 0, 0)
            .is_ok_and(|program| program.evaluate(Comparison::Exact, inputs, &mut values)[0]);
        if finite {
            Ok(Value::Constant(values[N][0]))
        } else {
            Err(ExpressionError::new(
                self.source,
                offset,
                "this is not a finite number, whatever the inputs",
                "look for a division by 0, a root or logarithm of a negative number, \
                 or a number that is too large",
            ))
        }
    }

    /// The slot of an op: that of an equal one if there is one, else a new one.
    fn emit(&mut self, op: Op, offset: usize) -> Result<u16, ExpressionError> {
        let op = ordered(op);
        let slot = match self.ops.iter().position(|other| same(*other, op)) {
            Some(slot) => slot,
            None if self.ops.len() < MAX_OPS => {
                self.ops.push(op);
                self.ops.len() - 1
            }
            None => MAX_OPS,
        };
        match u16::try_from(slot) {
            Ok(slot) if usize::from(slot) < MAX_OPS => Ok(slot),
            _ => Err(ExpressionError::new(
                self.source,
                offset,
                format!("the task's expressions need more than {MAX_OPS} operations"),
                "shorten the expressions; repeated parts cost nothing, so repeat rather \
                 than rephrase",
            )),
        }
    }
}

/// `!=` of two slots with the default width.
pub(super) fn not_equal(left: u16, right: u16) -> Op {
    Op::NotEqual {
        left,
        right,
        width: 1.0,
    }
}

/// Bitwise equality: 0 and -0 are different constants.
fn same(a: Op, b: Op) -> bool {
    match (a, b) {
        (Op::Constant(a), Op::Constant(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// Operands in ascending order where the order does not change a bit of the result, so
/// that `x * y` and `y * x` share a slot.
fn ordered(op: Op) -> Op {
    let low = |a: u16, b: u16| a.min(b);
    let high = |a: u16, b: u16| a.max(b);
    match op {
        Op::Add(a, b) => Op::Add(low(a, b), high(a, b)),
        Op::Multiply(a, b) => Op::Multiply(low(a, b), high(a, b)),
        Op::And(a, b) => Op::And(low(a, b), high(a, b)),
        Op::Or(a, b) => Op::Or(low(a, b), high(a, b)),
        Op::Equal { left, right, width } => Op::Equal {
            left: low(left, right),
            right: high(left, right),
            width,
        },
        Op::NotEqual { left, right, width } => Op::NotEqual {
            left: low(left, right),
            right: high(left, right),
            width,
        },
        other => other,
    }
}
