//! The forward sweep: a tape's values for `B` lanes side by side.

use core::f32::consts::{PI, TAU};
use core::ops::Range;

use super::{
    op::{Op, Variable},
    program::Program,
};

/// How comparisons and `&& || !` are computed.
///
/// ```
/// use hambo_core::task::expression::{Comparison, Inputs, Op, Program, Variable};
/// // x < 1, smeared over a width of 0.5.
/// let x = Op::Variable(Variable::State(0));
/// let less = Op::Less { left: 0, right: 1, width: 0.5 };
/// let program = Program::new(&[x, Op::Constant(1.0), less], 1, 1)?;
/// let inputs = Inputs { state: &[[1.0]], action: &[[0.0]], next: &[], step: 0.0 };
/// let mut values = [[0.0]; 3];
/// program.evaluate(Comparison::Exact, inputs, &mut values);
/// assert_eq!(values[2], [0.0]);
/// program.evaluate(Comparison::Smooth(1.0), inputs, &mut values);
/// assert_eq!(values[2], [0.5]);
/// # Ok::<(), hambo_core::task::expression::ProgramError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    /// 0 or 1, as written. Every reported number comes from this one.
    Exact,
    /// A smooth stand-in with a usable slope, only to guide the adversary's search.
    ///
    /// The number is the softness: a comparison's width times it is the scale of the
    /// sigmoid. Towards 0 the stand-in becomes exact.
    Smooth(f32),
}

/// The inputs of an expression: one row of `B` lanes per component.
///
/// ```
/// use hambo_core::task::expression::{Comparison, Inputs, Op, Program, Variable};
/// let program = Program::new(&[Op::Variable(Variable::Next(0))], 1, 1)?;
/// // Two lanes; without a next state the expression has no value.
/// let mut values = [[0.0; 2]];
/// let with = Inputs { state: &[[0.0; 2]], action: &[[0.0; 2]], next: &[[3.0, 4.0]], step: 0.0 };
/// assert_eq!(program.evaluate(Comparison::Exact, with, &mut values), [true; 2]);
/// assert_eq!(values, [[3.0, 4.0]]);
/// let without = Inputs { next: &[], ..with };
/// assert_eq!(program.evaluate(Comparison::Exact, without, &mut values), [false; 2]);
/// # Ok::<(), hambo_core::task::expression::ProgramError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a, const B: usize> {
    /// The state `s`.
    pub state: &'a [[f32; B]],
    /// The action `a`.
    pub action: &'a [[f32; B]],
    /// The next state `s'`.
    pub next: &'a [[f32; B]],
    /// The number of the step, the same in all lanes.
    pub step: f32,
}

impl Program {
    /// Runs the tape; row `i` of `values` becomes the value of slot `i`.
    ///
    /// A lane's flag is true only if every slot of it is finite, also those that a later
    /// `min`, `clamp` or comparison hides: `min(1 / x, 5)` at `x = 0` is not finite.
    /// A missing input counts as not finite. If `values` has fewer rows than
    /// [`Program::len`], nothing is written and all flags are false.
    pub fn evaluate<const B: usize>(
        &self,
        mode: Comparison,
        inputs: Inputs<'_, B>,
        values: &mut [[f32; B]],
    ) -> [bool; B] {
        self.evaluate_ops(0..self.len(), mode, inputs, values)
    }

    /// The same for some ops only; the slots before them hold their values already.
    pub(crate) fn evaluate_ops<const B: usize>(
        &self,
        ops: Range<usize>,
        mode: Comparison,
        inputs: Inputs<'_, B>,
        values: &mut [[f32; B]],
    ) -> [bool; B] {
        if values.len() < self.len() {
            return [false; B];
        }
        let mut finite = [true; B];
        let (before, end) = (ops.start, ops.end);
        for (slot, op) in self.ops().iter().enumerate().take(end).skip(before) {
            let Some((earlier, rest)) = values.split_at_mut_checked(slot) else {
                return [false; B];
            };
            let Some(own) = rest.first_mut() else {
                return [false; B];
            };
            *own = apply(op, mode, inputs, earlier);
            for (flag, value) in finite.iter_mut().zip(own.iter()) {
                *flag &= value.is_finite();
            }
        }
        finite
    }
}

/// The value of one op from the slots before it.
fn apply<const B: usize>(
    op: &Op,
    mode: Comparison,
    inputs: Inputs<'_, B>,
    earlier: &[[f32; B]],
) -> [f32; B] {
    let at = |slot: u16| row(earlier, slot);
    match *op {
        Op::Constant(value) => [value; B],
        Op::Variable(Variable::State(index)) => *row(inputs.state, index),
        Op::Variable(Variable::Action(index)) => *row(inputs.action, index),
        Op::Variable(Variable::Next(index) | Variable::Learned(index)) => *row(inputs.next, index),
        Op::Variable(Variable::Step) => [inputs.step; B],
        Op::Negate(a) => map1(at(a), |a| -a),
        Op::Add(a, b) => map2(at(a), at(b), |a, b| a + b),
        Op::Subtract(a, b) => map2(at(a), at(b), |a, b| a - b),
        Op::Multiply(a, b) => map2(at(a), at(b), |a, b| a * b),
        Op::Divide(a, b) => map2(at(a), at(b), |a, b| a / b),
        Op::Power(a, b) => map2(at(a), at(b), libm::powf),
        Op::Absolute(a) => map1(at(a), libm::fabsf),
        Op::Minimum(a, b) => map2(at(a), at(b), |a, b| if b < a { b } else { a }),
        Op::Maximum(a, b) => map2(at(a), at(b), |a, b| if b > a { b } else { a }),
        Op::SquareRoot(a) => map1(at(a), libm::sqrtf),
        Op::Exponential(a) => map1(at(a), libm::expf),
        Op::Logarithm(a) => map1(at(a), libm::logf),
        Op::Sine(a) => map1(at(a), libm::sinf),
        Op::Cosine(a) => map1(at(a), libm::cosf),
        Op::Tangent(a) => map1(at(a), libm::tanf),
        Op::ArcTangent2(a, b) => map2(at(a), at(b), libm::atan2f),
        Op::HyperbolicTangent(a) => map1(at(a), libm::tanhf),
        Op::Clamp(a, low, high) => map3(at(a), at(low), at(high), clamp),
        Op::Wrap(a) => map1(at(a), wrap),
        Op::Less { left, right, width } => match mode {
            Comparison::Exact => map2(at(left), at(right), |a, b| truth(a < b)),
            Comparison::Smooth(softness) => smooth_step(at(left), at(right), width, softness),
        },
        Op::LessEqual { left, right, width } => match mode {
            Comparison::Exact => map2(at(left), at(right), |a, b| truth(a <= b)),
            Comparison::Smooth(softness) => smooth_step(at(left), at(right), width, softness),
        },
        Op::Equal { left, right, width } => match mode {
            Comparison::Exact => map2(at(left), at(right), |a, b| truth(a == b)),
            Comparison::Smooth(softness) => smooth_bump(at(left), at(right), width, softness),
        },
        Op::NotEqual { left, right, width } => match mode {
            Comparison::Exact => map2(at(left), at(right), |a, b| truth(a != b)),
            Comparison::Smooth(softness) => map1(
                &smooth_bump(at(left), at(right), width, softness),
                |equal| 1.0 - equal,
            ),
        },
        Op::And(a, b) => match mode {
            Comparison::Exact => map2(at(a), at(b), |a, b| truth(a != 0.0 && b != 0.0)),
            Comparison::Smooth(_) => map2(at(a), at(b), |a, b| a * b),
        },
        Op::Or(a, b) => match mode {
            Comparison::Exact => map2(at(a), at(b), |a, b| truth(a != 0.0 || b != 0.0)),
            Comparison::Smooth(_) => map2(at(a), at(b), |a, b| a + b - a * b),
        },
        Op::Not(a) => match mode {
            Comparison::Exact => map1(at(a), |a| truth(a == 0.0)),
            Comparison::Smooth(_) => map1(at(a), |a| 1.0 - a),
        },
        Op::Select(condition, a, b) => {
            map3(at(condition), at(a), at(b), |share, a, b| match mode {
                Comparison::Exact if share != 0.0 => a,
                Comparison::Exact => b,
                Comparison::Smooth(_) => share * a + (1.0 - share) * b,
            })
        }
    }
}

fn truth(condition: bool) -> f32 {
    if condition { 1.0 } else { 0.0 }
}

fn clamp(value: f32, low: f32, high: f32) -> f32 {
    if value < low {
        low
    } else if value > high {
        high
    } else {
        value
    }
}

/// Moves an angle to [-pi, pi). `fmodf` is exact, and so are both sums (Sterbenz), so
/// the result never leaves the interval, however large the angle.
fn wrap(angle: f32) -> f32 {
    let rest = libm::fmodf(angle, TAU);
    if rest >= PI {
        rest - TAU
    } else if rest < -PI {
        rest + TAU
    } else {
        rest
    }
}

/// `sigmoid((right - left) / (width * softness))`
fn smooth_step<const B: usize>(
    left: &[f32; B],
    right: &[f32; B],
    width: f32,
    softness: f32,
) -> [f32; B] {
    let scale = smooth_scale(width, softness);
    map2(left, right, |left, right| {
        1.0 / (1.0 + libm::expf((left - right) / scale))
    })
}

/// `exp(-((left - right) / (width * softness))^2)`
fn smooth_bump<const B: usize>(
    left: &[f32; B],
    right: &[f32; B],
    width: f32,
    softness: f32,
) -> [f32; B] {
    let scale = smooth_scale(width, softness);
    map2(left, right, |left, right| {
        let distance = (left - right) / scale;
        libm::expf(-(distance * distance))
    })
}

/// The scale of a smooth comparison, kept above 0 so that a softness of 0 means exact.
pub(super) fn smooth_scale(width: f32, softness: f32) -> f32 {
    let scale = width * softness;
    if scale > f32::MIN_POSITIVE {
        scale
    } else {
        f32::MIN_POSITIVE
    }
}

/// A row, or NaN in every lane where there is none.
pub(super) fn row<const B: usize>(rows: &[[f32; B]], index: u16) -> &[f32; B] {
    rows.get(usize::from(index))
        .unwrap_or(const { &[f32::NAN; B] })
}

pub(super) fn map1<const B: usize>(a: &[f32; B], f: impl Fn(f32) -> f32) -> [f32; B] {
    let mut result = [0.0; B];
    for (result, a) in result.iter_mut().zip(a) {
        *result = f(*a);
    }
    result
}

pub(super) fn map2<const B: usize>(
    a: &[f32; B],
    b: &[f32; B],
    f: impl Fn(f32, f32) -> f32,
) -> [f32; B] {
    let mut result = [0.0; B];
    for ((result, a), b) in result.iter_mut().zip(a).zip(b) {
        *result = f(*a, *b);
    }
    result
}

pub(super) fn map3<const B: usize>(
    a: &[f32; B],
    b: &[f32; B],
    c: &[f32; B],
    f: impl Fn(f32, f32, f32) -> f32,
) -> [f32; B] {
    let mut result = [0.0; B];
    for (((result, a), b), c) in result.iter_mut().zip(a).zip(b).zip(c) {
        *result = f(*a, *b, *c);
    }
    result
}
