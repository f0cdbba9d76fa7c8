//! Values and derivatives against the oracle, lanes, flags and refusals.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std;
use std::{format, vec, vec::Vec};

use super::{
    Comparison, Gradient, Inputs, MAX_OPS, Op, Program, ProgramError, Variable,
    oracle::{self, Point},
};

const X: Op = Op::Variable(Variable::State(0));
const A: Op = Op::Variable(Variable::Action(0));
const N: Op = Op::Variable(Variable::Next(0));

/// One lane: values, flag, and the derivative of the last slot in (x, a, n).
fn run(ops: &[Op], mode: Comparison, x: f32, a: f32, n: f32) -> (Vec<f32>, bool, [f32; 3]) {
    let program = Program::new(ops, 1, 1).unwrap();
    let inputs = Inputs {
        state: &[[x]],
        action: &[[a]],
        next: &[[n]],
        step: 7.0,
    };
    let mut values = vec![[0.0_f32; 1]; program.len()];
    let [finite] = program.evaluate(mode, inputs, &mut values);
    let mut adjoints = vec![[7.0_f32; 1]; program.len()];
    let (mut state, mut action, mut next) = ([[0.0]], [[0.0]], [[0.0]]);
    let gradient = Gradient {
        state: &mut state,
        action: &mut action,
        next: &mut next,
    };
    let output = u16::try_from(ops.len() - 1).unwrap();
    program
        .pull_back(mode, &values, [(output, [1.0])], &mut adjoints, gradient)
        .unwrap();
    (
        values.into_iter().map(|[value]| value).collect(),
        finite,
        [state[0][0], action[0][0], next[0][0]],
    )
}

/// Holds values and derivatives against the f64 oracle.
fn check(ops: &[Op], mode: Comparison, x: f32, a: f32, n: f32) {
    let (values, finite, gradient) = run(ops, mode, x, a, n);
    assert!(finite, "{ops:?} at {x}, {a}, {n}");
    let point = Point {
        state: vec![x.into()],
        action: vec![a.into()],
        next: vec![n.into()],
    };
    for (value, wanted) in values.iter().zip(oracle::evaluate(ops, mode, &point)) {
        let error = (f64::from(*value) - wanted).abs();
        assert!(
            error <= 2e-6 * (1.0 + wanted.abs()),
            "{ops:?} {mode:?} at {x}, {a}, {n}: {value} not {wanted}"
        );
    }
    let output = u16::try_from(ops.len() - 1).unwrap();
    let wanted = oracle::differences(ops, mode, &point, output);
    for (slope, wanted) in gradient.iter().zip(wanted) {
        let error = (f64::from(*slope) - wanted).abs();
        assert!(
            error <= 2e-5 * (1.0 + wanted.abs()),
            "{ops:?} {mode:?} at {x}, {a}, {n}: slope {slope} not {wanted}"
        );
    }
}

/// Points away from kinks; the first two coordinates are positive in the first half.
const ALL_POINTS: [[f32; 3]; 8] = [
    [0.3, 1.7, -0.4],
    [1.2, 0.6, 0.9],
    [2.5, 0.9, 3.1],
    [0.05, 2.2, 1.1],
    [-0.7, 0.8, -1.9],
    [-2.1, -0.35, 0.2],
    [0.9, -1.4, 0.6],
    [-1.3, -2.6, -0.1],
];
/// All of them; Miri takes minutes for more than one.
const POINTS: [[f32; 3]; if cfg!(miri) { 1 } else { 8 }] = *ALL_POINTS.first_chunk().unwrap();

#[test]
fn unary_ops_match_the_oracle() {
    type Unary = fn(u16) -> Op;
    let everywhere: [Unary; 8] = [
        Op::Negate,
        Op::Absolute,
        Op::Exponential,
        Op::Sine,
        Op::Cosine,
        Op::Tangent,
        Op::HyperbolicTangent,
        Op::Wrap,
    ];
    for [x, a, n] in POINTS {
        for op in everywhere {
            check(&[X, op(0)], Comparison::Exact, x, a, n);
            // Chain rule, and a variable of each kind.
            let ops = [X, A, N, Op::Multiply(0, 1), Op::Add(3, 2), op(4)];
            check(&ops, Comparison::Exact, x, a, n);
        }
        for op in [Op::SquareRoot as Unary, Op::Logarithm] {
            let ops = [X, Op::Absolute(0), op(1)];
            check(&ops, Comparison::Exact, x, a, n);
        }
    }
}

#[test]
fn binary_ops_match_the_oracle() {
    type Binary = fn(u16, u16) -> Op;
    let everywhere: [Binary; 7] = [
        Op::Add,
        Op::Subtract,
        Op::Multiply,
        Op::Divide,
        Op::Minimum,
        Op::Maximum,
        Op::ArcTangent2,
    ];
    for [x, a, n] in POINTS {
        for op in everywhere {
            check(&[X, A, op(0, 1)], Comparison::Exact, x, a, n);
            check(&[N, A, op(1, 0)], Comparison::Exact, x, a, n);
            // The same slot twice, away from the poles.
            check(&[N, op(0, 0)], Comparison::Exact, x, a, n);
        }
        let ops = [X, Op::Absolute(0), A, Op::Power(1, 2)];
        check(&ops, Comparison::Exact, x, a, n);
        for exponent in [-2.0, -1.0, 0.0, 1.0, 2.0, 5.0] {
            let ops = [X, Op::Constant(exponent), Op::Power(0, 1)];
            check(&ops, Comparison::Exact, x, a, n);
        }
    }
}

#[test]
fn clamp_matches_the_oracle_in_all_three_cases() {
    let ops = [X, A, N, Op::Clamp(0, 1, 2)];
    for [x, a, n] in [[0.1, -0.5, 0.7], [-0.9, -0.5, 0.7], [0.9, -0.5, 0.7]] {
        check(&ops, Comparison::Exact, x, a, n);
    }
}

#[test]
fn a_choice_matches_the_oracle_on_both_sides_and_smoothly() {
    let (left, right, width) = (0, 1, 0.5);
    let less = Op::Less { left, right, width };
    let ops = [X, A, N, less, Op::Multiply(1, 2), Op::Select(3, 2, 4)];
    for [x, a, n] in [[0.1, -0.5, 0.7], [-0.9, -0.5, 0.7]] {
        check(&ops, Comparison::Exact, x, a, n);
        check(&ops, Comparison::Smooth(0.8), x, a, n);
    }
    // What is not chosen counts for nothing, and has no slope.
    let (mut values, mut adjoints, mut next) = ([[0.0]; 6], [[0.0]; 6], [[0.0]]);
    let program = Program::new(&ops, 1, 1).unwrap();
    let inputs = Inputs {
        state: &[[2.0]],
        action: &[[0.0]],
        next: &[[7.0]],
        step: 0.0,
    };
    program.evaluate(Comparison::Exact, inputs, &mut values);
    assert_eq!(values[5], [0.0]);
    let gradient = Gradient {
        state: &mut [],
        action: &mut [],
        next: &mut next,
    };
    let seeds = [(5, [1.0])];
    let done = program.pull_back(Comparison::Exact, &values, seeds, &mut adjoints, gradient);
    assert_eq!((done, next), (Ok(()), [[0.0]]));
}

fn comparisons(width: f32) -> [Op; 4] {
    let (left, right) = (0, 1);
    [
        Op::Less { left, right, width },
        Op::LessEqual { left, right, width },
        Op::Equal { left, right, width },
        Op::NotEqual { left, right, width },
    ]
}

#[test]
fn comparisons_match_the_oracle_exact_and_smooth() {
    for mode in [
        Comparison::Exact,
        Comparison::Smooth(1.0),
        Comparison::Smooth(0.4),
    ] {
        for [x, a, n] in POINTS {
            for width in [1.0, 2.5] {
                for op in comparisons(width) {
                    check(&[X, A, op], mode, x, a, n);
                    // Weighted, as in a penalty.
                    check(&[X, A, op, N, Op::Multiply(2, 3)], mode, x, a, n);
                }
            }
        }
    }
}

#[test]
fn logic_matches_the_oracle_exact_and_smooth() {
    let less = |left, right| Op::Less {
        left,
        right,
        width: 1.5,
    };
    for mode in [Comparison::Exact, Comparison::Smooth(0.8)] {
        for [x, a, n] in POINTS {
            for last in [Op::And(3, 4), Op::Or(3, 4), Op::Not(4)] {
                check(&[X, A, N, less(0, 1), less(1, 2), last], mode, x, a, n);
            }
        }
    }
}

#[test]
fn exact_logic_takes_any_number_but_zero_as_true() {
    for (a, b) in [(0.0, 0.0), (0.0, -3.0), (0.5, 0.0), (2.0, 7.0)] {
        let value = |op| run(&[X, A, op], Comparison::Exact, a, b, 0.0).0[2];
        let truth = |condition: bool| f32::from(u8::from(condition));
        assert_eq!(value(Op::And(0, 1)), truth(a != 0.0 && b != 0.0));
        assert_eq!(value(Op::Or(0, 1)), truth(a != 0.0 || b != 0.0));
        assert_eq!(value(Op::Not(0)), truth(a == 0.0));
    }
}

#[test]
fn smooth_tends_to_exact() {
    for softness in [1e-4, 0.0] {
        for op in comparisons(1.0) {
            let smooth = run(&[X, A, op], Comparison::Smooth(softness), 0.2, 0.3, 0.0);
            let exact = run(&[X, A, op], Comparison::Exact, 0.2, 0.3, 0.0);
            assert_eq!(smooth, exact, "{op:?}");
        }
    }
}

#[test]
fn kinks_give_the_documented_subgradients() {
    let slope = |ops: &[Op], x, a| run(ops, Comparison::Exact, x, a, 0.0).2;
    assert_eq!(slope(&[X, Op::Absolute(0)], 0.0, 0.0), [0.0; 3]);
    assert_eq!(slope(&[X, Op::SquareRoot(0)], 0.0, 0.0), [0.0; 3]);
    assert_eq!(slope(&[X, A, Op::ArcTangent2(0, 1)], 0.0, 0.0), [0.0; 3]);
    assert_eq!(slope(&[X, A, Op::Minimum(0, 1)], 2.0, 2.0), [1.0, 0.0, 0.0]);
    assert_eq!(slope(&[X, A, Op::Maximum(0, 1)], 2.0, 2.0), [1.0, 0.0, 0.0]);
    assert_eq!(
        slope(&[X, Op::Wrap(0)], core::f32::consts::PI, 0.0),
        [1.0, 0.0, 0.0]
    );
}

#[test]
fn a_hidden_infinite_slope_makes_no_nan() {
    // min(log(x), a) at x = tiny: the minimum takes the logarithm; max does not.
    let ops = [X, Op::Logarithm(0), A, Op::Maximum(1, 2)];
    let (_, finite, gradient) = run(&ops, Comparison::Exact, 1e-45, 5.0, 0.0);
    assert!(finite);
    assert_eq!(gradient, [0.0, 1.0, 0.0]);
}

#[test]
fn wrap_stays_in_its_interval() {
    use core::f32::consts::{PI, TAU};
    let wrap = |x: f32| run(&[X, Op::Wrap(0)], Comparison::Exact, x, 0.0, 0.0).0[1];
    assert_eq!(wrap(0.5), 0.5);
    assert_eq!(wrap(PI), -PI);
    assert_eq!(wrap(-PI), -PI);
    assert_eq!(wrap(TAU), 0.0);
    assert_eq!(wrap(4.0), 4.0 - TAU);
    assert_eq!(wrap(-4.0), TAU - 4.0);
    let mut x = 1e-3_f32;
    while x < 1e30 {
        for x in [x, -x, PI.next_up(), PI.next_down(), -PI.next_up()] {
            let wrapped = wrap(x);
            assert!((-PI..PI).contains(&wrapped), "{x} -> {wrapped}");
        }
        x *= if cfg!(miri) { 1e3 } else { 1.37 };
    }
}

#[test]
fn flags_catch_what_a_later_op_hides() {
    let finite = |ops: &[Op], x: f32| run(ops, Comparison::Exact, x, 0.0, 0.0).1;
    let one_over = [X, Op::Constant(1.0), Op::Divide(1, 0), Op::Minimum(2, 1)];
    assert!(finite(&one_over, 2.0));
    assert_eq!(run(&one_over, Comparison::Exact, 0.0, 0.0, 0.0).0[3], 1.0);
    assert!(!finite(&one_over, 0.0));
    let less = Op::Less {
        left: 1,
        right: 0,
        width: 1.0,
    };
    for op in [Op::Logarithm(0), Op::SquareRoot(0)] {
        assert!(finite(&[X, op], 1.0));
        assert!(!finite(&[X, op], -1.0));
        // A comparison with NaN is 0, a fine number: the flag must remember.
        assert!(!finite(&[X, op, less], -1.0));
    }
    assert!(!finite(&[X, Op::Logarithm(0)], 0.0));
    assert!(!finite(&[X, Op::Divide(0, 0)], 0.0));
    assert!(!finite(&[X, Op::Exponential(0)], 1000.0));
    assert!(!finite(
        &[X, Op::Constant(0.5), Op::Power(0, 1), Op::Constant(3.0)],
        -2.0
    ));
    assert!(!finite(&[X], f32::NAN));
    assert!(!finite(&[X], f32::INFINITY));
}

#[test]
fn flags_are_per_lane() {
    let program = Program::new(&[X, Op::Logarithm(0)], 1, 0).unwrap();
    let inputs = Inputs {
        state: &[[1.0, -1.0, 0.0, 2.0]],
        action: &[],
        next: &[],
        step: 7.0,
    };
    let finite = program.evaluate(Comparison::Exact, inputs, &mut [[0.0; 4]; 2]);
    assert_eq!(finite, [true, false, false, true]);
}

#[test]
fn short_buffers_and_missing_inputs_fail_closed() {
    let program = Program::new(&[X, A, Op::Add(0, 1)], 1, 1).unwrap();
    let full = Inputs {
        state: &[[1.0, 2.0]],
        action: &[[3.0, 4.0]],
        next: &[],
        step: 7.0,
    };
    let mut values = [[0.0; 2]; 3];
    let evaluate =
        |inputs, values: &mut [[f32; 2]]| program.evaluate(Comparison::Exact, inputs, values);
    assert_eq!(evaluate(full, &mut [[0.0; 2]; 2]), [false; 2]);
    assert_eq!(
        evaluate(
            Inputs {
                action: &[],
                ..full
            },
            &mut values
        ),
        [false; 2]
    );
    assert_eq!(evaluate(full, &mut values), [true; 2]);

    let pull_back = |values: &[[f32; 2]], output, adjoints: &mut [[f32; 2]]| {
        let gradient = Gradient {
            state: &mut [],
            action: &mut [],
            next: &mut [],
        };
        let seed = [1.0; 2];
        program.pull_back(
            Comparison::Exact,
            values,
            [(output, seed)],
            adjoints,
            gradient,
        )
    };
    let mut adjoints = [[0.0; 2]; 3];
    let mut short = [[0.0; 2]; 2];
    assert_eq!(pull_back(&values, 2, &mut adjoints), Ok(()));
    assert_eq!(
        pull_back(&values, 3, &mut adjoints),
        Err(ProgramError::Output(3))
    );
    assert_eq!(pull_back(&values, 2, &mut short), Err(ProgramError::Buffer));
    assert_eq!(
        pull_back(&short, 2, &mut adjoints),
        Err(ProgramError::Buffer)
    );
}

#[test]
fn pull_back_adds_and_scales_by_the_seed() {
    let program = Program::new(&[X, Op::Multiply(0, 0), Op::Negate(1)], 1, 0).unwrap();
    let inputs = Inputs {
        state: &[[3.0]],
        action: &[],
        next: &[],
        step: 7.0,
    };
    let mut values = [[0.0]; 3];
    program.evaluate(Comparison::Exact, inputs, &mut values);
    let mut state = [[10.0]];
    // Two outputs of one tape.
    let gradient = Gradient {
        state: &mut state,
        action: &mut [],
        next: &mut [],
    };
    let (outputs, mut adjoints) = ([(1, [2.0]), (2, [0.5])], [[0.0]; 3]);
    program
        .pull_back(Comparison::Exact, &values, outputs, &mut adjoints, gradient)
        .unwrap();
    assert_eq!(state, [[10.0 + 2.0 * 6.0 - 0.5 * 6.0]]);
}

/// A tape with every op, its values and gradients in `B` lanes, as bits.
fn lanes<const B: usize>(mode: Comparison, points: &[[f32; 3]]) -> Vec<Vec<u32>> {
    let (left, right, width) = (5, 6, 0.7);
    let ops = [
        X,
        A,
        N,
        Op::Constant(2.5),
        Op::Absolute(0),
        Op::Add(4, 3),
        Op::Subtract(2, 1),
        Op::Multiply(5, 6),
        Op::Divide(7, 5),
        Op::Power(5, 1),
        Op::Minimum(8, 9),
        Op::Maximum(10, 6),
        Op::SquareRoot(5),
        Op::Exponential(6),
        Op::Logarithm(5),
        Op::Sine(7),
        Op::Cosine(13),
        Op::Tangent(1),
        Op::ArcTangent2(6, 5),
        Op::HyperbolicTangent(11),
        Op::Clamp(8, 0, 3),
        Op::Wrap(7),
        Op::Less { left, right, width },
        Op::LessEqual { left, right, width },
        Op::Equal { left, right, width },
        Op::NotEqual { left, right, width },
        Op::And(22, 25),
        Op::Or(23, 24),
        Op::Not(26),
        Op::Negate(27),
        Op::Multiply(28, 21),
        Op::Add(29, 30),
        Op::Multiply(31, 20),
        Op::Add(32, 19),
        Op::Add(33, 18),
        Op::Multiply(34, 17),
        Op::Add(35, 16),
        Op::Add(36, 15),
        Op::Multiply(37, 14),
        Op::Add(38, 12),
        Op::Select(22, 39, 20),
        Op::Select(25, 19, 40),
        Op::Add(40, 41),
    ];
    let program = Program::new(&ops, 1, 1).unwrap();
    let mut result = Vec::new();
    for points in points.chunks_exact(B) {
        let inputs: [[[f32; B]; 1]; 3] =
            core::array::from_fn(|part| [core::array::from_fn(|lane| points[lane][part])]);
        let mut values = vec![[0.0; B]; ops.len()];
        let finite = program.evaluate(
            mode,
            Inputs {
                state: &inputs[0],
                action: &inputs[1],
                next: &inputs[2],
                step: 7.0,
            },
            &mut values,
        );
        let mut gradients = [[[-0.0; B]; 1]; 3];
        let [state, action, next] = &mut gradients;
        let gradient = Gradient {
            state,
            action,
            next,
        };
        let seed = core::array::from_fn(|lane| if points[lane][0] > 2.0 { 0.0 } else { 1.5 });
        let mut adjoints = vec![[0.0; B]; ops.len()];
        program
            .pull_back(mode, &values, [(39, seed)], &mut adjoints, gradient)
            .unwrap();
        for lane in 0..B {
            let mut bits: Vec<u32> = values.iter().map(|row| row[lane].to_bits()).collect();
            bits.extend(gradients.iter().map(|part| part[0][lane].to_bits()));
            bits.push(finite[lane].into());
            result.push(bits);
        }
    }
    result
}

#[test]
fn lanes_do_not_change_the_bits() {
    let mut points = ALL_POINTS.to_vec();
    if !cfg!(miri) {
        points.extend(POINTS.map(|[x, a, n]| [n * 3.0, x, a * 0.1]));
        points.extend(POINTS.map(|[x, a, n]| [x * 1e3, n * 20.0, a * 1e-3]));
    }
    for mode in [Comparison::Exact, Comparison::Smooth(0.5)] {
        let one = lanes::<1>(mode, &points);
        assert_eq!(one.len(), points.len());
        assert_eq!(one, lanes::<4>(mode, &points));
        assert_eq!(one, lanes::<8>(mode, &points));
    }
}

#[test]
fn bad_tapes_are_refused() {
    let refused = |ops: &[Op]| Program::new(ops, 1, 1).unwrap_err();
    assert_eq!(refused(&[]), ProgramError::Empty);
    assert_eq!(refused(&vec![X; MAX_OPS + 1]), ProgramError::TooLong);
    assert!(Program::new(&vec![X; MAX_OPS], 1, 1).is_ok());
    assert_eq!(refused(&[Op::Negate(0)]), ProgramError::Reference(0));
    assert_eq!(refused(&[X, Op::Add(0, 2), X]), ProgramError::Reference(1));
    assert_eq!(
        refused(&[X, Op::Clamp(0, 0, 1)]),
        ProgramError::Reference(1)
    );
    for variable in [
        Variable::State(1),
        Variable::Action(1),
        Variable::Next(1),
        Variable::Next(u16::MAX),
    ] {
        assert_eq!(
            refused(&[X, Op::Variable(variable)]),
            ProgramError::Variable(1)
        );
    }
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(refused(&[Op::Constant(value)]), ProgramError::Constant(0));
    }
    for width in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        for op in comparisons(width) {
            assert_eq!(refused(&[X, A, op]), ProgramError::Width(2));
        }
    }
}

#[test]
fn errors_say_where() {
    let text = format!("{}", ProgramError::Reference(7));
    assert!(text.contains('7'), "{text}");
}

#[test]
fn postcard_keeps_the_tape() {
    let ops: Vec<Op> = [X, A, N, Op::Constant(-0.1)]
        .into_iter()
        .chain(comparisons(0.3))
        .collect();
    let ops = heapless::Vec::<Op, MAX_OPS>::from_slice(&ops).unwrap();
    let mut buffer = [0_u8; 256];
    let bytes = postcard::to_slice(&ops, &mut buffer).unwrap();
    let back: heapless::Vec<Op, MAX_OPS> = postcard::from_bytes(bytes).unwrap();
    assert_eq!(ops, back);
}
