//! The same tape in f64 with the standard library's functions: what the tests compare with.

use std;
use std::vec::Vec;

use super::{Comparison, Op, Variable};

/// Inputs of the oracle: state, action, next state.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) state: Vec<f64>,
    pub(super) action: Vec<f64>,
    pub(super) next: Vec<f64>,
}

/// The values of all slots.
pub(super) fn evaluate(ops: &[Op], mode: Comparison, point: &Point) -> Vec<f64> {
    let mut values: Vec<f64> = Vec::new();
    for op in ops {
        let at = |slot: u16| values[usize::from(slot)];
        let truth = |condition: bool| f64::from(u8::from(condition));
        let scale = |width: f32| match mode {
            Comparison::Exact => None,
            Comparison::Smooth(softness) => Some(f64::from(width) * f64::from(softness)),
        };
        let step = |left: u16, right: u16, width: f32| {
            scale(width).map(|scale| 1.0 / (1.0 + (-(at(right) - at(left)) / scale).exp()))
        };
        let bump = |left: u16, right: u16, width: f32| {
            scale(width).map(|scale| (-((at(left) - at(right)) / scale).powi(2)).exp())
        };
        let smooth = mode != Comparison::Exact;
        let value = match *op {
            Op::Constant(value) => f64::from(value),
            Op::Variable(Variable::State(index)) => point.state[usize::from(index)],
            Op::Variable(Variable::Action(index)) => point.action[usize::from(index)],
            Op::Variable(Variable::Next(index) | Variable::Learned(index)) => {
                point.next[usize::from(index)]
            }
            Op::Variable(Variable::Step) => 7.0,
            Op::Negate(a) => -at(a),
            Op::Add(a, b) => at(a) + at(b),
            Op::Subtract(a, b) => at(a) - at(b),
            Op::Multiply(a, b) => at(a) * at(b),
            Op::Divide(a, b) => at(a) / at(b),
            Op::Power(a, b) => at(a).powf(at(b)),
            Op::Absolute(a) => at(a).abs(),
            Op::Minimum(a, b) => at(a).min(at(b)),
            Op::Maximum(a, b) => at(a).max(at(b)),
            Op::SquareRoot(a) => at(a).sqrt(),
            Op::Exponential(a) => at(a).exp(),
            Op::Logarithm(a) => at(a).ln(),
            Op::Sine(a) => at(a).sin(),
            Op::Cosine(a) => at(a).cos(),
            Op::Tangent(a) => at(a).tan(),
            Op::ArcTangent2(a, b) => at(a).atan2(at(b)),
            Op::HyperbolicTangent(a) => at(a).tanh(),
            Op::Clamp(a, low, high) => at(a).clamp(at(low), at(high)),
            Op::Wrap(a) => {
                let (pi, turn) = (core::f64::consts::PI, core::f64::consts::TAU);
                (at(a) + pi).rem_euclid(turn) - pi
            }
            Op::Less { left, right, width } => {
                step(left, right, width).unwrap_or(truth(at(left) < at(right)))
            }
            Op::LessEqual { left, right, width } => {
                step(left, right, width).unwrap_or(truth(at(left) <= at(right)))
            }
            Op::Equal { left, right, width } => {
                bump(left, right, width).unwrap_or(truth(at(left) == at(right)))
            }
            Op::NotEqual { left, right, width } => {
                bump(left, right, width).map_or(truth(at(left) != at(right)), |equal| 1.0 - equal)
            }
            Op::And(a, b) if smooth => at(a) * at(b),
            Op::And(a, b) => truth(at(a) != 0.0 && at(b) != 0.0),
            Op::Or(a, b) if smooth => at(a) + at(b) - at(a) * at(b),
            Op::Or(a, b) => truth(at(a) != 0.0 || at(b) != 0.0),
            Op::Not(a) if smooth => 1.0 - at(a),
            Op::Not(a) => truth(at(a) == 0.0),
            Op::Select(share, a, b) if smooth => at(share) * at(a) + (1.0 - at(share)) * at(b),
            Op::Select(condition, a, b) => at(if at(condition) != 0.0 { a } else { b }),
        };
        values.push(value);
    }
    values
}

/// Central differences of one slot in state, action and next state, in this order.
pub(super) fn differences(ops: &[Op], mode: Comparison, point: &Point, output: u16) -> Vec<f64> {
    let step = 1e-6;
    let parts = [point.state.len(), point.action.len(), point.next.len()];
    let mut result = Vec::new();
    for (part, length) in parts.into_iter().enumerate() {
        for index in 0..length {
            let moved = |by: f64| {
                let mut point = point.clone();
                let part = match part {
                    0 => &mut point.state,
                    1 => &mut point.action,
                    _ => &mut point.next,
                };
                part[index] += by;
                evaluate(ops, mode, &point)[usize::from(output)]
            };
            result.push((moved(step) - moved(-step)) / (2.0 * step));
        }
    }
    result
}
