//! The reverse sweep: from an output's seed back to the inputs.

use super::{
    evaluate::{Comparison, map1, map2, map3, row, smooth_scale},
    op::{Op, Variable},
    program::{Program, ProgramError},
};

/// Where [`Program::pull_back`] adds the derivatives: one row of `B` lanes per component.
///
/// A component without a row is left out, so an empty slice means "not wanted".
///
/// ```
/// use hambo_core::task::expression::{Comparison, Gradient, Inputs, Op, Program, Variable};
/// // s² has the derivative 2 s; those in a and s' are not wanted.
/// let program = Program::new(&[Op::Variable(Variable::State(0)), Op::Multiply(0, 0)], 1, 1)?;
/// let inputs = Inputs { state: &[[3.0]], action: &[], next: &[], step: 0.0 };
/// let (mut values, mut adjoints, mut state) = ([[0.0]; 2], [[0.0]; 2], [[0.0]]);
/// program.evaluate(Comparison::Exact, inputs, &mut values);
/// let gradient = Gradient { state: &mut state, action: &mut [], next: &mut [] };
/// program.pull_back(Comparison::Exact, &values, [(1, [1.0])], &mut adjoints, gradient)?;
/// assert_eq!(state, [[6.0]]);
/// # Ok::<(), hambo_core::task::expression::ProgramError>(())
/// ```
#[derive(Debug)]
pub struct Gradient<'a, const B: usize> {
    /// Derivatives in the state `s`.
    pub state: &'a mut [[f32; B]],
    /// Derivatives in the action `a`.
    pub action: &'a mut [[f32; B]],
    /// Derivatives in the next state `s'`, and in what the model says of it.
    pub next: &'a mut [[f32; B]],
}

impl Program {
    /// Adds the sum of `seed * d output / d input` over some outputs to the rows of
    /// `gradient`.
    ///
    /// `values` are those of [`Program::evaluate`] with the same mode; `adjoints` is
    /// scratch space with as many rows. Where there is no derivative, a subgradient is
    /// taken: 0 for `abs`, `sqrt` and `atan2` at 0, the left side of a `min` or `max` tie,
    /// 1 for `wrap`. Exact comparisons and `&& || !` have derivative 0. In a lane where
    /// an op does not matter (adjoint 0) its derivative does not count, even if infinite.
    ///
    /// # Errors
    ///
    /// If the output is not a slot of the tape, or a buffer is too short.
    pub fn pull_back<const B: usize>(
        &self,
        mode: Comparison,
        values: &[[f32; B]],
        outputs: impl IntoIterator<Item = (u16, [f32; B])>,
        adjoints: &mut [[f32; B]],
        gradient: Gradient<'_, B>,
    ) -> Result<(), ProgramError> {
        if values.len() < self.len() || adjoints.len() < self.len() {
            return Err(ProgramError::Buffer);
        }
        for adjoint in adjoints.iter_mut() {
            *adjoint = [0.0; B];
        }
        for (output, seed) in outputs {
            let slot = usize::from(output);
            if slot >= self.len() {
                return Err(ProgramError::Output(output));
            }
            if let Some(adjoint) = adjoints.get_mut(slot) {
                for (sum, seed) in adjoint.iter_mut().zip(seed) {
                    *sum += seed;
                }
            }
        }
        self.sweep_back(mode, values, adjoints, gradient)
    }

    /// From the adjoints of the outputs to those of the inputs.
    fn sweep_back<const B: usize>(
        &self,
        mode: Comparison,
        values: &[[f32; B]],
        adjoints: &mut [[f32; B]],
        gradient: Gradient<'_, B>,
    ) -> Result<(), ProgramError> {
        // Nothing after the outputs has an adjoint; the check below steps over it.
        for (slot, op) in self.ops().iter().enumerate().rev() {
            let Some((earlier, rest)) = adjoints.split_at_mut_checked(slot) else {
                return Err(ProgramError::Buffer);
            };
            let (Some(own), Some(value)) = (rest.first(), values.get(slot)) else {
                return Err(ProgramError::Buffer);
            };
            if own.iter().all(|adjoint| *adjoint == 0.0) {
                continue;
            }
            match *op {
                Op::Variable(Variable::State(index)) => {
                    add(gradient.state, index, own, &[1.0; B]);
                }
                Op::Variable(Variable::Action(index)) => {
                    add(gradient.action, index, own, &[1.0; B]);
                }
                Op::Variable(Variable::Next(index) | Variable::Learned(index)) => {
                    add(gradient.next, index, own, &[1.0; B]);
                }
                Op::Variable(Variable::Step) => {}
                _ => self.pass_on(op, mode, values, value, own, earlier),
            }
        }
        Ok(())
    }

    /// Adds `own * d op / d operand` to the adjoint of every operand.
    fn pass_on<const B: usize>(
        &self,
        op: &Op,
        mode: Comparison,
        values: &[[f32; B]],
        value: &[f32; B],
        own: &[f32; B],
        adjoints: &mut [[f32; B]],
    ) {
        let at = |slot: u16| row(values, slot);
        match *op {
            Op::Constant(_) | Op::Variable(_) => {}
            Op::Negate(a) => add(adjoints, a, own, &[-1.0; B]),
            Op::Add(a, b) => {
                add(adjoints, a, own, &[1.0; B]);
                add(adjoints, b, own, &[1.0; B]);
            }
            Op::Subtract(a, b) => {
                add(adjoints, a, own, &[1.0; B]);
                add(adjoints, b, own, &[-1.0; B]);
            }
            Op::Multiply(a, b) => {
                add(adjoints, a, own, at(b));
                add(adjoints, b, own, at(a));
            }
            Op::Divide(a, b) => {
                add(adjoints, a, own, &map1(at(b), |b| 1.0 / b));
                add(adjoints, b, own, &map2(value, at(b), |value, b| -value / b));
            }
            Op::Power(a, b) => {
                add(adjoints, a, own, &map2(at(a), at(b), power_in_base));
                if !self.is_constant(b) {
                    add(adjoints, b, own, &map2(at(a), value, power_in_exponent));
                }
            }
            Op::Absolute(a) => add(adjoints, a, own, &map1(at(a), sign)),
            Op::Minimum(a, b) => {
                let right = map2(at(a), at(b), |a, b| if b < a { 1.0 } else { 0.0 });
                add(adjoints, a, own, &map1(&right, |right| 1.0 - right));
                add(adjoints, b, own, &right);
            }
            Op::Maximum(a, b) => {
                let right = map2(at(a), at(b), |a, b| if b > a { 1.0 } else { 0.0 });
                add(adjoints, a, own, &map1(&right, |right| 1.0 - right));
                add(adjoints, b, own, &right);
            }
            Op::SquareRoot(a) => {
                let slope = map1(value, |value| if value > 0.0 { 0.5 / value } else { 0.0 });
                add(adjoints, a, own, &slope);
            }
            Op::Exponential(a) => add(adjoints, a, own, value),
            Op::Logarithm(a) => add(adjoints, a, own, &map1(at(a), |a| 1.0 / a)),
            Op::Sine(a) => add(adjoints, a, own, &map1(at(a), libm::cosf)),
            Op::Cosine(a) => add(adjoints, a, own, &map1(at(a), |a| -libm::sinf(a))),
            Op::Tangent(a) => add(adjoints, a, own, &map1(value, |value| 1.0 + value * value)),
            Op::ArcTangent2(y, x) => {
                add(adjoints, y, own, &map2(at(x), at(y), over_radius));
                let slope = map2(at(y), at(x), |y, x| -over_radius(y, x));
                add(adjoints, x, own, &slope);
            }
            Op::HyperbolicTangent(a) => {
                add(adjoints, a, own, &map1(value, |value| 1.0 - value * value));
            }
            Op::Clamp(a, low, high) => {
                // The same three cases as in the forward sweep.
                let below = map2(at(a), at(low), |a, low| if a < low { 1.0 } else { 0.0 });
                let above = map3(at(a), at(high), &below, |a, high, below| {
                    if below == 0.0 && a > high { 1.0 } else { 0.0 }
                });
                let inside = map2(&below, &above, |below, above| 1.0 - below - above);
                add(adjoints, a, own, &inside);
                add(adjoints, low, own, &below);
                add(adjoints, high, own, &above);
            }
            Op::Wrap(a) => add(adjoints, a, own, &[1.0; B]),
            Op::Less { left, right, width } | Op::LessEqual { left, right, width } => {
                if let Comparison::Smooth(softness) = mode {
                    let scale = smooth_scale(width, softness);
                    let slope = map2(at(left), at(right), |left, right| {
                        step_slope(left - right, scale)
                    });
                    add(adjoints, left, own, &map1(&slope, |slope| -slope));
                    add(adjoints, right, own, &slope);
                }
            }
            Op::Equal { left, right, width } => {
                if let Comparison::Smooth(softness) = mode {
                    let scale = smooth_scale(width, softness);
                    let slope = map3(at(left), at(right), value, |left, right, equal| {
                        bump_slope(left - right, scale, equal)
                    });
                    add(adjoints, left, own, &slope);
                    add(adjoints, right, own, &map1(&slope, |slope| -slope));
                }
            }
            Op::NotEqual { left, right, width } => {
                if let Comparison::Smooth(softness) = mode {
                    let scale = smooth_scale(width, softness);
                    let slope = map3(at(left), at(right), value, |left, right, not_equal| {
                        bump_slope(left - right, scale, 1.0 - not_equal)
                    });
                    add(adjoints, left, own, &map1(&slope, |slope| -slope));
                    add(adjoints, right, own, &slope);
                }
            }
            Op::And(a, b) => {
                if let Comparison::Smooth(_) = mode {
                    add(adjoints, a, own, at(b));
                    add(adjoints, b, own, at(a));
                }
            }
            Op::Or(a, b) => {
                if let Comparison::Smooth(_) = mode {
                    add(adjoints, a, own, &map1(at(b), |b| 1.0 - b));
                    add(adjoints, b, own, &map1(at(a), |a| 1.0 - a));
                }
            }
            Op::Not(a) => {
                if let Comparison::Smooth(_) = mode {
                    add(adjoints, a, own, &[-1.0; B]);
                }
            }
            Op::Select(condition, a, b) => {
                let share = match mode {
                    Comparison::Exact => map1(at(condition), |x| if x != 0.0 { 1.0 } else { 0.0 }),
                    Comparison::Smooth(_) => *at(condition),
                };
                if let Comparison::Smooth(_) = mode {
                    let difference = map2(at(a), at(b), |a, b| a - b);
                    add(adjoints, condition, own, &difference);
                }
                add(adjoints, a, own, &share);
                add(adjoints, b, own, &map1(&share, |share| 1.0 - share));
            }
        }
    }

    fn is_constant(&self, slot: u16) -> bool {
        matches!(self.ops().get(usize::from(slot)), Some(Op::Constant(_)))
    }
}

/// Adds `own * slope` to a row. A lane with `own == 0` is left alone, so that an infinite
/// slope cannot make a NaN there and the bits do not depend on the other lanes.
fn add<const B: usize>(rows: &mut [[f32; B]], index: u16, own: &[f32; B], slope: &[f32; B]) {
    let Some(row) = rows.get_mut(usize::from(index)) else {
        return;
    };
    for ((target, own), slope) in row.iter_mut().zip(own).zip(slope) {
        if *own != 0.0 {
            *target += *own * *slope;
        }
    }
}

fn sign(value: f32) -> f32 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// `d a^b / d a`
fn power_in_base(a: f32, b: f32) -> f32 {
    if b == 0.0 {
        0.0
    } else {
        b * libm::powf(a, b - 1.0)
    }
}

/// `d a^b / d b`, which exists for `a > 0` only.
fn power_in_exponent(a: f32, value: f32) -> f32 {
    if a > 0.0 { value * libm::logf(a) } else { 0.0 }
}

/// `a / (a^2 + b^2)`, 0 at the origin: the slope of `atan2`.
fn over_radius(a: f32, b: f32) -> f32 {
    let square = a * a + b * b;
    if square > 0.0 { a / square } else { 0.0 }
}

/// The slope of the smooth step in its right side. It is computed from the side where the
/// step is near 0, so that it is felt up to 80 widths away, where one minus the step is
/// long 0.
fn step_slope(distance: f32, scale: f32) -> f32 {
    let tail = libm::expf(-libm::fabsf(distance / scale));
    tail / ((1.0 + tail) * (1.0 + tail)) / scale
}

/// The slope of the smooth `==` in its left side. Far out the bump is 0 and so is its
/// slope, also where the distance overflows.
fn bump_slope(distance: f32, scale: f32, equal: f32) -> f32 {
    if equal == 0.0 {
        0.0
    } else {
        -2.0 * (distance / scale) / scale * equal
    }
}
