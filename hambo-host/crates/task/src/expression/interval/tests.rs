//! The core's f32 values never leave their intervals.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::task::expression::{Comparison, Inputs, Op, Program, Variable};

use super::bounds::Interval;
use super::tape::{InputIntervals, tape_intervals};
use hambo_base::random::Random;

/// Points in a box that are looked at.
const POINTS: usize = 64;

/// Zeros, small, usual, large and huge numbers, and those where functions turn.
fn number(random: &mut Random) -> f32 {
    let sign = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
    sign * match random.index(8) {
        0 => 0.0,
        1 => 1.0,
        2 => std::f32::consts::FRAC_PI_2 * random.index(5) as f32,
        3 => 10.0_f32.powf(76.0 * random.uniform() - 38.0),
        4 => 10.0 * random.uniform(),
        5 => random.index(5) as f32,
        _ => 2.0 * random.uniform(),
    }
}

fn op(random: &mut Random, slot: u16) -> Op {
    let mut at = || random.index(usize::from(slot)) as u16;
    let [a, b, c] = [at(), at(), at()];
    let (left, right, width) = (a, b, 1.0);
    match random.index(33) {
        0 => Op::Constant(number(random)),
        1 | 2 => Op::Add(a, b),
        3 => Op::Subtract(a, b),
        4 | 5 => Op::Multiply(a, b),
        6 => Op::Multiply(a, a),
        7 => Op::Divide(a, b),
        8 | 9 => Op::Power(a, b),
        10 => Op::Absolute(a),
        11 => Op::Minimum(a, b),
        12 => Op::Maximum(a, b),
        13 => Op::SquareRoot(a),
        14 => Op::Exponential(a),
        15 => Op::Logarithm(a),
        16 => Op::Sine(a),
        17 => Op::Cosine(a),
        18 => Op::Tangent(a),
        19 | 20 => Op::ArcTangent2(a, b),
        21 => Op::HyperbolicTangent(a),
        22 | 23 => Op::Clamp(a, b, c),
        24 => Op::Wrap(a),
        25 => Op::Less { left, right, width },
        26 => Op::LessEqual { left, right, width },
        27 => Op::Equal { left, right, width },
        28 => Op::NotEqual { left, right, width },
        29 => Op::And(a, b),
        30 => Op::Or(a, b),
        31 => Op::Select(a, b, c),
        _ => Op::Not(a),
    }
}

/// A box for three inputs, and points in it: its ends now and then.
fn boxes(random: &mut Random) -> (Vec<[f32; 2]>, Vec<[f32; POINTS]>) {
    let ends: Vec<[f32; 2]> = (0..3)
        .map(|_| {
            let (a, b) = (number(random), number(random));
            [a.min(b), a.max(b)]
        })
        .collect();
    let points = ends.iter().map(|[low, high]| {
        std::array::from_fn(|_| match random.index(4) {
            0 => *low,
            1 => *high,
            _ => {
                let share = f64::from(random.uniform());
                let (low, high) = (f64::from(*low), f64::from(*high));
                (low + share * (high - low)) as f32
            }
        })
    });
    let points = points.collect();
    (ends, points)
}

#[test]
fn the_cores_values_never_leave_their_intervals() {
    let random = &mut Random::new(11, 0);
    let (mut held, mut tight) = (0_u64, 0_u64);
    for tape in 0..20_000 {
        let mut ops = vec![
            Op::Variable(Variable::State(0)),
            Op::Variable(Variable::Action(0)),
            Op::Variable(Variable::Next(0)),
            Op::Variable(Variable::Step),
        ];
        for slot in 4..15 {
            let next = op(random, slot);
            ops.push(next);
        }
        let (ends, points) = boxes(random);
        let intervals: Vec<[Interval; 1]> = ends
            .iter()
            .map(|[low, high]| [Interval::new((*low).into(), (*high).into())])
            .collect();
        let slots = tape_intervals(
            &ops,
            InputIntervals {
                state: &intervals[0],
                action: &intervals[1],
                next: &intervals[2],
                step: Interval::new(0.0, 9.0),
            },
        );
        let program = Program::new(&ops, 1, 1).unwrap();
        let mut values = vec![[0.0; POINTS]; ops.len()];
        let inputs = Inputs {
            state: &points[..1],
            action: &points[1..2],
            next: &points[2..],
            step: 4.0,
        };
        program.evaluate(Comparison::Exact, inputs, &mut values);
        let at = |slot: usize, lane: usize| values[slot][lane];
        for lane in 0..POINTS {
            let mut finite = vec![true; ops.len()];
            for (slot, op) in ops.iter().enumerate() {
                let value = at(slot, lane);
                let good = op.operands().all(|other| finite[usize::from(other)]);
                finite[slot] = good && value.is_finite();
                if !finite[slot] {
                    continue;
                }
                let [low, high] = slots[slot].outward();
                assert!(
                    low <= value && value <= high,
                    "tape {tape}, slot {slot}, {op:?}: {value} is not in {low} to {high}\n\
                     operands {:?}\n{ops:?}",
                    op.operands()
                        .map(|other| (at(other.into(), lane), slots[usize::from(other)]))
                        .collect::<Vec<_>>()
                );
                held += 1;
                tight += u64::from(low.is_finite() && high.is_finite());
            }
        }
    }
    // The test has looked at something, and the bounds say something.
    assert!(held > 5_000_000, "{held}");
    assert!(tight * 10 > held * 8, "{tight} of {held}");
}

fn interval(low: f64, high: f64) -> Interval {
    Interval::new(low, high)
}

/// Equal but for what roundings were allowed.
fn near(found: Interval, low: f64, high: f64) {
    let close = |a: f64, b: f64| a == b || (a - b).abs() <= 2e-6 * b.abs();
    assert!(
        close(found.low(), low) && close(found.high(), high),
        "{found:?}"
    );
    assert!(found.low() <= low && found.high() >= high, "{found:?}");
}

#[test]
fn each_function_is_as_tight_as_it_can_be() {
    use std::f64::consts::PI;
    let unit = interval(-1.0, 1.0);
    near(interval(-3.0, 2.0).square(), 0.0, 9.0);
    near(interval(-3.0, 2.0).absolute(), 0.0, 3.0);
    near(interval(-3.0, 2.0).times(interval(-1.0, 5.0)), -15.0, 10.0);
    near(interval(1.0, 2.0).over(interval(4.0, 8.0)), 0.125, 0.5);
    near(
        interval(1.0, 2.0).over(interval(0.0, 8.0)),
        0.125,
        f64::INFINITY,
    );
    assert_eq!(unit.over(unit), Interval::EVERYTHING);
    near(interval(0.5, 2.0).sine(), 0.5_f64.sin(), 1.0);
    near(interval(3.0, 4.0).cosine(), -1.0, 4.0_f64.cos());
    near(interval(0.0, 100.0).sine(), -1.0, 1.0);
    near(unit.tangent(), -(1.0_f64.tan()), 1.0_f64.tan());
    assert_eq!(interval(1.0, 2.0).tangent(), Interval::EVERYTHING);
    near(unit.arc_tangent_2(interval(1.0, 2.0)), -PI / 4.0, PI / 4.0);
    near(
        interval(1.0, 2.0).arc_tangent_2(unit),
        PI / 4.0,
        3.0 * PI / 4.0,
    );
    let turn = f64::from(std::f32::consts::PI);
    near(unit.arc_tangent_2(unit), -turn, turn);
    near(interval(-3.0, 3.0).wrapped(), -3.0, 3.0);
    near(interval(-3.0, 4.0).wrapped(), -turn, turn);
    near(interval(-2.0, 3.0).power(Interval::point(3.0)), -8.0, 27.0);
    near(interval(-2.0, 3.0).power(Interval::point(2.0)), 0.0, 9.0);
    near(interval(2.0, 4.0).power(interval(-1.0, 0.5)), 0.25, 2.0);
    near(interval(-1.0, 1.0).logarithm(), -103.278_929_903_431_9, 0.0);
    near(
        interval(-5.0, 9.0).clamped(Interval::point(-1.0), Interval::point(2.0)),
        -1.0,
        2.0,
    );
    near(unit.less(interval(2.0, 3.0)), 1.0, 1.0);
    near(unit.less(interval(1.0, 3.0)), 0.0, 1.0);
    near(unit.less_or_equal(interval(1.0, 3.0)), 1.0, 1.0);
    near(interval(2.0, 3.0).less_or_equal(unit), 0.0, 0.0);
    near(unit.equal(interval(2.0, 3.0)), 0.0, 0.0);
    near(unit.and(Interval::point(0.0)), 0.0, 0.0);
    near(unit.or(Interval::point(2.0)), 1.0, 1.0);
    near(Interval::point(0.0).opposite(), 1.0, 1.0);
}
