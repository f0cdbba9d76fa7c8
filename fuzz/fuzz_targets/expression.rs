//! Any text as an expression, and any bytes as its byte code. Nothing may
//! panic; what the host compiles, the core accepts; lanes do not touch each
//! other.
#![no_main]

// The compiler's own files: the other dependencies of its crate take minutes to instrument. It
// finds the one module of `hambo-base` that it needs here.
extern crate self as hambo_base;
#[path = "../../hambo-host/crates/task/src/expression/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the host uses all of it")]
mod expression;
#[allow(dead_code, reason = "the host uses all of it")]
#[path = "../../hambo-host/crates/base/src/place.rs"]
pub mod place;

use expression::{Compiler, Names};
use hambo_core::task::expression::{Comparison, Gradient, Inputs, Op, Program};
use libfuzzer_sys::fuzz_target;

const STATES: usize = 2;
const ACTIONS: usize = 1;
const LANES: usize = 4;
/// Per lane: something ordinary, zeros, something huge, and nothing at all.
const STATE: [[f32; LANES]; STATES] = [[0.5, 0.0, 3e38, f32::NAN], [-1.5, -0.0, -3e38, 1.0]];
const ACTION: [[f32; LANES]; ACTIONS] = [[2.0, 0.0, 1e-40, f32::INFINITY]];
const NEXT: [[f32; LANES]; STATES] = [
    [0.4, 1e-45, -3e38, -0.5],
    [7.0, 0.0, 1.0, f32::NEG_INFINITY],
];
const MODES: [Comparison; 3] = [
    Comparison::Exact,
    Comparison::Smooth(1.0),
    Comparison::Smooth(0.0),
];

fuzz_target!(|bytes: &[u8]| {
    if let Ok(program) = Program::decode(bytes, STATES, ACTIONS) {
        run(&program);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        compile(text);
    }
});

/// Each line is an expression of one tape, the way a task has several.
fn compile(text: &str) {
    let state = ["x", "y"].map(String::from);
    let action = ["u"].map(String::from);
    let mut compiler = Compiler::new(Names {
        state: &state,
        action: &action,
        horizon: 50,
    });
    let mut slots = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let slot = match number % 3 {
            0 => compiler.add(line),
            1 => compiler.add_condition(line),
            _ => compiler.add_margin(line),
        };
        match slot {
            Ok(slot) => slots.push(slot),
            // The message points into the line.
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let ops = compiler.finish();
    if slots.is_empty() {
        return;
    }
    let program = Program::new(&ops, STATES, ACTIONS).expect("the host's tape is refused");
    assert!(slots.iter().all(|slot| usize::from(*slot) < program.len()));
    let bytes: Vec<u8> = ops.iter().flat_map(encode).collect();
    assert_eq!(
        Program::decode(&bytes, STATES, ACTIONS),
        Ok(program.clone())
    );
    run(&program);
}

fn encode(op: &Op) -> Vec<u8> {
    postcard::to_stdvec(op).expect("an op has a byte form")
}

/// Both sweeps in every mode, all lanes together and each alone.
fn run(program: &Program) {
    for mode in MODES {
        let inputs = Inputs {
            state: &STATE,
            action: &ACTION,
            next: &NEXT,
            step: 3.0,
        };
        let (finite, values, gradient) = sweeps(program, mode, inputs);
        for (lane, finite) in finite.iter().enumerate() {
            let all = values.iter().all(|row| row[lane].is_finite());
            assert_eq!(*finite, all, "lane {lane}");
            let state = STATE.map(|row| [row[lane]]);
            let action = ACTION.map(|row| [row[lane]]);
            let next = NEXT.map(|row| [row[lane]]);
            let inputs = Inputs {
                state: &state,
                action: &action,
                next: &next,
                step: 3.0,
            };
            let (_, alone, slopes) = sweeps(program, mode, inputs);
            let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            assert!(values.iter().zip(&alone).all(|(a, b)| same(a[lane], b[0])));
            assert!(
                gradient
                    .iter()
                    .zip(&slopes)
                    .all(|(a, b)| same(a[lane], b[0]))
            );
        }
    }
}

type Rows<const B: usize> = Vec<[f32; B]>;

/// Values of all slots, and the derivatives of the last one.
fn sweeps<const B: usize>(
    program: &Program,
    mode: Comparison,
    inputs: Inputs<'_, B>,
) -> ([bool; B], Rows<B>, Rows<B>) {
    let mut values = vec![[0.0; B]; program.len()];
    let finite = program.evaluate(mode, inputs, &mut values);
    let mut adjoints = values.clone();
    let mut gradient = vec![[0.0; B]; 2 * STATES + ACTIONS];
    let (state, rest) = gradient.split_at_mut(STATES);
    let (next, action) = rest.split_at_mut(STATES);
    let into = Gradient {
        state,
        action,
        next,
    };
    let output = (program.len() - 1) as u16;
    let pulled = program.pull_back(mode, &values, [(output, [1.0; B])], &mut adjoints, into);
    assert_eq!(pulled, Ok(()));
    (finite, values, gradient)
}
