//! The grammar, the errors and what the compiler shares.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use hambo_core::task::expression::{Comparison, Inputs, MAX_OPS, Op, Program, Variable};

use super::error::ExpressionError;
use super::{Compiler, Names};

fn names() -> ([String; 3], [String; 2]) {
    (
        ["x", "y", "omega"].map(String::from),
        ["torque", "brake"].map(String::from),
    )
}

/// x = 3, y = -2, omega = 0.5; torque = 4, brake = 0; next.x = 7, next.y = 1, next.omega = 0.
fn value(source: &str) -> f32 {
    let (state, action) = names();
    let mut compiler = Compiler::new(Names {
        state: &state,
        action: &action,
        horizon: 50,
    });
    let slot = compiler
        .add(source)
        .unwrap_or_else(|error| panic!("{error}"));
    let program = Program::new(&compiler.finish(), 3, 2).unwrap();
    let inputs = Inputs {
        state: &[[3.0], [-2.0], [0.5]],
        action: &[[4.0], [0.0]],
        next: &[[7.0], [1.0], [0.0]],
        step: 9.0,
    };
    let mut values = vec![[0.0]; program.len()];
    let finite = program.evaluate(Comparison::Exact, inputs, &mut values);
    assert_eq!(finite, [true], "{source}");
    values[usize::from(slot)][0]
}

fn ops(sources: &[&str]) -> (Vec<Op>, Vec<u16>) {
    let (state, action) = names();
    let mut compiler = Compiler::new(Names {
        state: &state,
        action: &action,
        horizon: 50,
    });
    let slots = sources
        .iter()
        .map(|source| compiler.add(source).unwrap())
        .collect();
    (compiler.finish(), slots)
}

fn error(source: &str) -> ExpressionError {
    let (state, action) = names();
    let mut compiler = Compiler::new(Names {
        state: &state,
        action: &action,
        horizon: 50,
    });
    let Err(error) = compiler.add(source) else {
        panic!("`{source}` compiles");
    };
    assert!(
        compiler.finish().is_empty(),
        "a failed expression stays out"
    );
    error
}

#[test]
fn precedence_and_grouping() {
    for (source, wanted) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 4 - 3", 3.0),
        ("16 / 4 / 2", 2.0),
        ("-x^2", -9.0),
        ("(-x)^2", 9.0),
        ("2^3^2", 512.0),
        ("(2^3)^2", 64.0),
        ("2^-1", 0.5),
        ("2^-x^2 * 512", 1.0),
        ("-2^2", -4.0),
        ("--x", 3.0),
        ("+x - -y", 1.0),
        ("2 * -x", -6.0),
        ("-x * y", 6.0),
        ("x^2 * y", -18.0),
        ("y^3", -8.0),
        ("y^4", 16.0),
        ("y^5", -32.0),
        ("x^0.5 * x^0.5 > 2.99", 1.0),
        ("1 + 2 < 4", 1.0),
        ("1 < 2 + 3 && 4 > 5 || 1", 1.0),
        ("1 || 0 && 0", 1.0),
        ("(1 || 0) && 0", 0.0),
        ("x < 3", 0.0),
        ("x <= 3", 1.0),
        ("x > 3", 0.0),
        ("x >= 3", 1.0),
        ("x == 3", 1.0),
        ("x != 3", 0.0),
        ("!x", 0.0),
        ("!brake", 1.0),
        ("!x == 0", 1.0),
        ("!(x == 0)", 1.0),
        ("x && torque", 1.0),
        ("x && brake", 0.0),
        ("brake || y", 1.0),
        ("10 * (x > 2) + (y > 0)", 10.0),
        ("x - torque", -1.0),
        ("next.x - x", 4.0),
        ("next . omega", 0.0),
    ] {
        assert_eq!(value(source), wanted, "{source}");
    }
}

#[test]
fn numbers_and_functions() {
    use std::f32::consts::PI;
    for (source, wanted) in [
        ("1.5", 1.5),
        (".5", 0.5),
        ("2.", 2.0),
        ("2e-3", 0.002),
        ("1E+2", 100.0),
        ("pi", PI),
        ("abs(y)", 2.0),
        ("min(x, y)", -2.0),
        ("min(x, y, -7, 2)", -7.0),
        ("max(x, y, torque, omega)", 4.0),
        ("sqrt(torque)", 2.0),
        ("exp(brake)", 1.0),
        ("log(exp(0))", 0.0),
        ("sin(brake) + cos(brake) + tan(brake)", 1.0),
        ("atan2(x, brake)", PI / 2.0),
        ("atan2(0, y)", PI),
        ("tanh(100)", 1.0),
        ("clamp(x, 0, 1)", 1.0),
        ("if(x > 2, y, omega)", -2.0),
        ("if(x < 2, y, omega)", 0.5),
        ("if(brake, 1, 2) + if(torque, 10, 20)", 12.0),
        ("clamp(y, -1, 1)", -1.0),
        ("clamp(omega, -1, 1)", 0.5),
        ("wrap(2 * pi + omega - omega)", 0.0),
        ("wrap(pi)", -PI),
        ("\n  x\n\t+ 1 \r\n", 4.0),
    ] {
        assert_eq!(value(source), wanted, "{source}");
    }
}

#[test]
fn errors_point_at_the_column_and_say_what_to_do() {
    for (source, line, column, message, help) in [
        ("omgea + 1", 1, 1, "unknown name `omgea`", "`omega`"),
        (
            "x + banana",
            1,
            5,
            "unknown name `banana`",
            "x y omega torque brake",
        ),
        ("x and y", 1, 3, "missing before `and`", "*"),
        ("and", 1, 1, "unknown name `and`", "`&&`"),
        ("next.omeg", 1, 6, "no state `omeg`", "next.omega"),
        ("x + learned.x", 1, 5, "under [known] alone", "next.NAME"),
        (
            "if(x, y)",
            1,
            1,
            "cannot take 2 arguments",
            "condition, value",
        ),
        ("x + next.torque", 1, 10, "is an action", "write `torque`"),
        ("next + 1", 1, 1, "`next` needs", "next.NAME"),
        ("next. + 1", 1, 7, "name is missing", "x y omega"),
        ("2 x", 1, 3, "operator is missing before `x`", "2*x"),
        ("2x", 1, 2, "operator is missing before `x`", "2*x"),
        ("x y", 1, 3, "operator is missing", "*"),
        ("x + ", 1, 5, "ends too early", "number"),
        ("", 1, 1, "empty", "number"),
        ("* x", 1, 1, "`*` needs something on its left", "before it"),
        ("(x + 1", 1, 1, "never closed", "`)`"),
        ("min(x, (y)", 1, 4, "never closed", "`)`"),
        ("x + 1)", 1, 6, "has no `(`", "`(`"),
        ("(x, y)", 1, 3, "unexpected `,`", "arguments"),
        ("x, y", 1, 2, "unexpected `,`", "arguments"),
        ("x.y", 1, 2, "unexpected `.`", "next.NAME"),
        ("1 + x $ 2", 1, 7, "unexpected character `$`", "&& ||"),
        ("x = 1", 1, 3, "`=`", "`==`"),
        ("x & y", 1, 3, "`&`", "`&&`"),
        ("x | y", 1, 3, "`|`", "`||`"),
        ("x ** 2", 1, 3, "`**`", "`^`"),
        ("x \u{2212} 2", 1, 3, "dash", "`-`"),
        (
            "clamp(x, 1)",
            1,
            1,
            "cannot take 2 arguments",
            "value, low, high",
        ),
        ("1 + min(x)", 1, 5, "cannot take 1 argument", "a, b"),
        ("sin()", 1, 1, "cannot take 0 arguments", "value"),
        ("sin + 1", 1, 1, "needs its arguments", "sin(value)"),
        ("squrt(x)", 1, 1, "no function `squrt`", "`sqrt`"),
        ("x(y)", 1, 1, "no function `x`", "`*`"),
        ("0 < x < 1", 1, 7, "chained", "&&"),
        ("1 / 0 + x", 1, 3, "not a finite number", "division by 0"),
        ("x + log(-1)", 1, 5, "not a finite number", "logarithm"),
        ("1e99", 1, 1, "too large", "32-bit"),
        ("max(x, 1e-60)", 1, 8, "too small", "32-bit"),
        (
            "x +\n  y +\n  ?",
            3,
            3,
            "unexpected character `?`",
            "numbers",
        ),
        ("\u{e9} + 1", 1, 1, "unknown name", "omega"),
    ] {
        let error = error(source);
        let shown = error.to_string();
        assert_eq!(
            (error.place.line, error.place.column),
            (line, column),
            "{shown}"
        );
        assert!(error.message.contains(message), "{shown}");
        assert!(error.help.contains(help), "{shown}");
        assert_eq!(error.expression, source);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 4, "{shown}");
        assert_eq!(
            lines[1].trim_start_matches(' '),
            source
                .lines()
                .nth(line - 1)
                .unwrap_or("")
                .trim_start_matches(' ')
        );
        let caret = lines[2].chars().position(|character| character == '^');
        assert_eq!(caret, Some(column + 1), "{shown}");
    }
}

#[test]
fn a_line_of_known_reads_what_is_learned() {
    let (state, action) = names();
    let mut compiler = Compiler::new(Names {
        state: &state,
        action: &action,
        horizon: 50,
    });
    let slot = compiler.add_known("if(next.x <= 7, 0, learned.y)");
    let tape = compiler.ops();
    assert!(tape.contains(&Op::Variable(Variable::Learned(1))));
    assert!(matches!(tape[usize::from(slot.unwrap())], Op::Select(..)));
    let wrong = compiler.add_known("learned.tourque").unwrap_err();
    assert!(wrong.message.contains("no state `tourque`"), "{wrong}");
    let near = compiler.add_known("learned.omeg").unwrap_err();
    assert!(near.help.contains("`learned.omega`"), "{near}");
    // A name like another, where no dot follows.
    let wrong = compiler.add("learned + 1").unwrap_err();
    assert!(wrong.message.contains("unknown name `learned`"), "{wrong}");
}

#[test]
fn the_whole_error_reads_well() {
    assert_eq!(
        error("abs(omgea) > 7.9").to_string(),
        "unknown name `omgea` (line 1, column 5)\n  \
         abs(omgea) > 7.9\n      \
         ^\n\
         help: did you mean `omega`? The names are: x y omega torque brake; also next.NAME, pi, t (the step) and horizon"
    );
}

#[test]
fn hostile_nesting_is_an_error_and_long_chains_are_not() {
    for source in [
        "(".repeat(100_000),
        "-".repeat(100_000),
        "!".repeat(100_000),
        "x^".repeat(100_000),
        "sin(".repeat(100_000),
        "1+(".repeat(100_000),
        "min(1,".repeat(100_000),
    ] {
        assert!(error(&source).message.contains("nested too deeply"));
    }
    let nested = format!("{}x{}", "(".repeat(90), ")".repeat(90));
    assert_eq!(value(&nested), 3.0);
    let chain = format!("0{}", " + 1".repeat(100_000));
    assert_eq!(value(&chain), 100_000.0);
}

#[test]
fn a_program_that_is_too_long_is_an_error() {
    let source: String = (0..MAX_OPS)
        .map(|number| format!("sin(x + {number}) + "))
        .collect();
    let error = error(&format!("{source} 0"));
    assert!(error.message.contains("128 operations"), "{error}");
    assert!(error.place.column > 100, "{error}");
}

#[test]
fn constants_fold_with_the_core_functions() {
    let (tape, slots) = ops(&["2 * pi + sin(1) ^ 0.5 - min(3, 1, 2)"]);
    let wanted = 2.0 * std::f32::consts::PI + power_of_sine(0.5) - 1.0;
    assert_eq!(tape, [Op::Constant(wanted)]);
    assert_eq!(slots, [0]);
}

/// sin(1)^exponent by the core.
fn power_of_sine(exponent: f32) -> f32 {
    let tape = [
        Op::Constant(1.0),
        Op::Sine(0),
        Op::Constant(exponent),
        Op::Power(1, 2),
    ];
    let inputs = Inputs {
        state: &[],
        action: &[],
        next: &[],
        step: 9.0,
    };
    let mut values = [[0.0]; 4];
    Program::new(&tape, 0, 0)
        .unwrap()
        .evaluate(Comparison::Exact, inputs, &mut values);
    values[3][0]
}

#[test]
fn folding_leaves_no_dead_ops() {
    let (tape, _) = ops(&["x^2 + (1 + 1) * (3 - 2)"]);
    assert_eq!(
        tape,
        [
            Op::Variable(Variable::State(0)),
            Op::Multiply(0, 0),
            Op::Constant(2.0),
            Op::Add(1, 2),
        ]
    );
}

#[test]
fn common_subexpressions_share_slots() {
    let (tape, slots) = ops(&[
        "sqrt(x^2 + y^2)",
        "sqrt(y*y + x*x) < 1",
        "1 > sqrt(x^2 + y^2)",
        "sqrt(x^2 + y^2)",
    ]);
    // x, y, x*x, y*y, sum, root, 1, less
    assert_eq!(tape.len(), 8, "{tape:?}");
    assert_eq!(slots[0], slots[3]);
    assert_eq!(slots[1], slots[2]);
}

#[test]
fn order_is_kept_where_it_matters() {
    let (tape, slots) = ops(&["x - y", "y - x", "x / y", "y / x", "min(x, y)", "min(y, x)"]);
    let distinct: std::collections::BTreeSet<u16> = slots.iter().copied().collect();
    assert_eq!(distinct.len(), 6, "{tape:?}");
    // 0 and -0 are equal but not the same: 1 / -0 differs.
    let (tape, _) = ops(&["min(x, 0) + min(y, -0)"]);
    assert_eq!(tape.len(), 7, "{tape:?}");
}

#[test]
fn greater_is_less_swapped() {
    let (left, right, width) = (1, 0, 1.0);
    let (tape, _) = ops(&["x > y"]);
    assert_eq!(tape[2], Op::Less { left, right, width });
    let (tape, _) = ops(&["x >= y"]);
    assert_eq!(tape[2], Op::LessEqual { left, right, width });
}

#[test]
fn numbers_become_conditions_before_logic() {
    // The smooth stand-in of x && y must stay within [0, 1].
    let (tape, slots) = ops(&["x && y"]);
    let program = Program::new(&tape, 3, 2).unwrap();
    let inputs = Inputs {
        state: &[[30.0], [-20.0], [0.0]],
        action: &[[0.0], [0.0]],
        next: &[],
        step: 9.0,
    };
    let mut values = vec![[0.0]; program.len()];
    program.evaluate(Comparison::Smooth(1.0), inputs, &mut values);
    assert_eq!(values[usize::from(slots[0])], [1.0]);
    // A condition is not wrapped again.
    let (tape, _) = ops(&["x < y && !(y < x)"]);
    assert_eq!(tape.len(), 6, "{tape:?}");
}

#[test]
fn a_failed_expression_leaves_the_tape_alone() {
    let (state, action) = names();
    let mut compiler = Compiler::new(Names {
        state: &state,
        action: &action,
        horizon: 50,
    });
    compiler.add("x + 1").unwrap();
    assert!(compiler.add("sin(y) + cos(omega) + nope").is_err());
    assert_eq!(compiler.add_condition("2").unwrap(), 1);
    assert_eq!(compiler.finish().len(), 3);
}
