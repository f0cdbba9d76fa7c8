//! Intervals along a tape: one for each slot, from those before it.

use hambo_core::task::expression::{Op, Variable};

use super::bounds::Interval;

/// What the inputs of a tape may be; one that is missing may be anything.
#[derive(Clone, Copy, Debug)]
pub struct InputIntervals<'a> {
    /// Of the state `s`.
    pub state: &'a [Interval],
    /// Of the action `a`.
    pub action: &'a [Interval],
    /// Of the next state `s'`.
    pub next: &'a [Interval],
    /// Of the step's number.
    pub step: Interval,
}

/// Bounds of every slot of a tape, wherever
/// [`Program::evaluate`](hambo_core::task::expression::Program::evaluate) calls a lane finite.
///
/// ```
/// use hambo_core::task::expression::{Op, Variable};
/// use hambo_task::expression::{InputIntervals, Interval, tape_intervals};
///
/// // x * x - x
/// let tape = [Op::Variable(Variable::State(0)), Op::Multiply(0, 0), Op::Subtract(1, 0)];
/// let (state, step) = ([Interval::new(-2.0, 1.0)], Interval::point(0.0));
/// let inputs = InputIntervals { state: &state, action: &[], next: &[], step };
/// let slots = tape_intervals(&tape, inputs);
/// assert!(slots[1].low() == 0.0 && slots[1].contains(4.0));
/// assert!(slots[2].contains(-1.0) && slots[2].contains(6.0) && !slots[2].contains(7.0));
/// ```
#[must_use]
pub fn tape_intervals(tape: &[Op], inputs: InputIntervals<'_>) -> Vec<Interval> {
    let mut slots = Vec::with_capacity(tape.len());
    for op in tape {
        let interval = apply(op, inputs, &slots);
        slots.push(interval);
    }
    slots
}

fn apply(op: &Op, inputs: InputIntervals<'_>, earlier: &[Interval]) -> Interval {
    let of = |intervals: &[Interval], index: u16| {
        let interval = intervals.get(usize::from(index)).copied();
        interval.unwrap_or(Interval::EVERYTHING)
    };
    let at = |slot: u16| of(earlier, slot);
    match *op {
        Op::Constant(value) => Interval::point(value),
        Op::Variable(Variable::State(index)) => of(inputs.state, index),
        Op::Variable(Variable::Action(index)) => of(inputs.action, index),
        Op::Variable(Variable::Next(index) | Variable::Learned(index)) => of(inputs.next, index),
        Op::Variable(Variable::Step) => inputs.step,
        Op::Negate(a) => at(a).negated(),
        Op::Add(a, b) => at(a).plus(at(b)),
        Op::Subtract(a, b) if a == b => Interval::point(0.0),
        Op::Subtract(a, b) => at(a).minus(at(b)),
        Op::Multiply(a, b) if a == b => at(a).square(),
        Op::Multiply(a, b) => at(a).times(at(b)),
        Op::Divide(a, b) => at(a).over(at(b)),
        Op::Power(a, b) => at(a).power(at(b)),
        Op::Absolute(a) => at(a).absolute(),
        Op::Minimum(a, b) => at(a).minimum(at(b)),
        Op::Maximum(a, b) => at(a).maximum(at(b)),
        Op::SquareRoot(a) => at(a).square_root(),
        Op::Exponential(a) => at(a).exponential(),
        Op::Logarithm(a) => at(a).logarithm(),
        Op::Sine(a) => at(a).sine(),
        Op::Cosine(a) => at(a).cosine(),
        Op::Tangent(a) => at(a).tangent(),
        Op::ArcTangent2(y, x) => at(y).arc_tangent_2(at(x)),
        Op::HyperbolicTangent(a) => at(a).hyperbolic_tangent(),
        Op::Clamp(a, low, high) => at(a).clamped(at(low), at(high)),
        Op::Wrap(a) => at(a).wrapped(),
        Op::Less { left, right, .. } if left == right => Interval::point(0.0),
        Op::Less { left, right, .. } => at(left).less(at(right)),
        Op::LessEqual { left, right, .. } if left == right => Interval::point(1.0),
        Op::LessEqual { left, right, .. } => at(left).less_or_equal(at(right)),
        Op::Equal { left, right, .. } if left == right => Interval::point(1.0),
        Op::Equal { left, right, .. } => at(left).equal(at(right)),
        Op::NotEqual { left, right, .. } if left == right => Interval::point(0.0),
        Op::NotEqual { left, right, .. } => at(left).equal(at(right)).opposite(),
        Op::And(a, b) => at(a).and(at(b)),
        Op::Or(a, b) => at(a).or(at(b)),
        Op::Not(a) => at(a).opposite(),
        Op::Select(_, a, b) => at(a).hull(at(b)),
    }
}
