//! Good and bad task files, PointSafety's reward, and the smoothing widths.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use hambo_core::task::expression::{Comparison, Inputs};

use super::task_file::{Initial, TaskFile};

const PENDULUM: &str = r#"
name = "pendulum"
horizon = 200
delta = 0.1
discount = 0.99
threshold = -400.0

[state]
names = ["c", "s", "omega"]
low = [-1, -1, -8]
high = [1, 1, 8.5]

[action]
names = ["torque"]
low = [-2.0]
high = [2]

[reward]
expr = "-(atan2(s, c)^2 + 0.1*omega^2 + 0.001*torque^2)"

[termination]
expr = "abs(omega) > 7.9"

[[constraint]]
name = "speed"
expr = "7 - abs(omega)"

[initial]
kind = "uniform"
low = [-1, -1, -1]
high = [1, 1, 1]
"#;

/// The value of a slot at one point.
fn value(task: &TaskFile, slot: u16, state: &[f32], action: &[f32], next: &[f32]) -> f32 {
    let lanes = |part: &[f32]| part.iter().map(|value| [*value]).collect::<Vec<_>>();
    let (state, action, next) = (lanes(state), lanes(action), lanes(next));
    let program = task.program().unwrap();
    let mut values = vec![[0.0]; program.len()];
    let inputs = Inputs {
        state: &state,
        action: &action,
        next: &next,
        step: 3.0,
    };
    assert_eq!(
        program.evaluate(Comparison::Exact, inputs, &mut values),
        [true]
    );
    values[usize::from(slot)][0]
}

#[test]
fn a_full_task_parses() {
    let task = TaskFile::parse(PENDULUM, "pendulum.toml").unwrap();
    assert_eq!(task.name, "pendulum");
    assert_eq!(task.horizon, 200);
    assert_eq!((task.delta, task.discount), (0.1, 0.99));
    assert_eq!(task.threshold, Some(-400.0));
    assert_eq!(task.state_names, ["c", "s", "omega"]);
    assert_eq!(task.state_low, Some(vec![-1.0, -1.0, -8.0]));
    assert_eq!(task.state_high, Some(vec![1.0, 1.0, 8.5]));
    assert_eq!(task.action_names, ["torque"]);
    assert_eq!((task.action_low[0], task.action_high[0]), (-2.0, 2.0));
    let initial = Initial::Uniform {
        low: vec![-1.0; 3],
        high: vec![1.0; 3],
    };
    assert_eq!(task.initial, initial);
    assert_eq!(task.constraints[0].name, "speed");

    let at = |slot| value(&task, slot, &[1.0, 0.0, 2.0], &[1.0], &[]);
    assert!((at(task.reward.slot()) + 0.401).abs() < 1e-6);
    assert_eq!(at(task.termination.unwrap()), 0.0);
    assert_eq!(at(task.constraints[0].constraint.slot), 5.0);
}

#[test]
fn defaults() {
    let text = PENDULUM
        .replace("delta = 0.1\n", "")
        .replace("discount = 0.99\n", "")
        .replace("threshold = -400.0\n", "")
        .replace("low = [-1, -1, -8]\nhigh = [1, 1, 8.5]\n", "")
        .replace("[termination]\nexpr = \"abs(omega) > 7.9\"\n", "");
    let task = TaskFile::parse(&text, "task.toml").unwrap();
    assert_eq!((task.delta, task.discount), (0.05, 1.0));
    assert_eq!((task.threshold, task.termination), (None, None));
    assert_eq!((task.state_low, task.state_high), (None, None));
}

#[test]
fn all_initial_kinds() {
    let uniform = "kind = \"uniform\"\nlow = [-1, -1, -1]\nhigh = [1, 1, 1]";
    for (text, wanted) in [
        (
            "kind = \"point\"\nvalue = [1, 0, 0.5]",
            Initial::Point(vec![1.0, 0.0, 0.5]),
        ),
        (
            "kind = \"gaussian\"\nmean = [1, 0, 0.5]\nstd = [0, 1, 2]",
            Initial::Gaussian {
                mean: vec![1.0, 0.0, 0.5],
                std: vec![0.0, 1.0, 2.0],
            },
        ),
        ("kind = \"data\"", Initial::Data { always: false }),
        (
            "kind = \"data\"\nalways = true",
            Initial::Data { always: true },
        ),
    ] {
        let task = TaskFile::parse(&PENDULUM.replace(uniform, text), "task.toml").unwrap();
        assert_eq!(task.initial, wanted);
    }
}

#[test]
fn bounds_of_the_whole_return() {
    let bounds = |keys: &str| {
        let text = PENDULUM.replace("[reward]", &format!("[reward]\n{keys}"));
        TaskFile::parse(&text, "task.toml").unwrap().return_bounds
    };
    assert_eq!(bounds(""), None);
    let both = bounds("return_low = -900\nreturn_high = 0");
    assert_eq!(both, Some([-900.0, 0.0]));
    let alone = bounds("return_low = -900");
    assert_eq!(alone, Some([-900.0, f32::INFINITY]));
}

#[test]
fn a_number_as_termination_becomes_a_condition() {
    let text = PENDULUM.replace("abs(omega) > 7.9", "omega");
    let task = TaskFile::parse(&text, "task.toml").unwrap();
    let stop = task.termination.unwrap();
    assert_eq!(value(&task, stop, &[0.0, 0.0, -3.0], &[0.0], &[]), 1.0);
    assert_eq!(value(&task, stop, &[0.0, 0.0, 0.0], &[0.0], &[]), 0.0);
}

#[test]
fn one_sided_limits() {
    let text = PENDULUM.replace("high = [1, 1, 8.5]", "high = [inf, 1, inf]");
    let task = TaskFile::parse(&text, "task.toml").unwrap();
    assert_eq!(task.state_high.unwrap()[0], f32::INFINITY);
}

#[test]
fn errors_name_the_file_the_key_and_what_to_do() {
    for (from, to, key, help) in [
        ("name = \"pendulum\"", "", "`name` is missing", "name ="),
        ("horizon = 200", "", "`horizon` is missing", "horizon ="),
        (
            "horizon = 200",
            "horizon = 0",
            "`horizon` is 0",
            "at least 1",
        ),
        (
            "horizon = 200",
            "horizon = -3",
            "`horizon` is -3",
            "at least 1",
        ),
        (
            "horizon = 200",
            "horizon = 5000000000",
            "`horizon`",
            "steps",
        ),
        (
            "horizon = 200",
            "horizon = 1.5",
            "`horizon` is 1.5",
            "whole number",
        ),
        ("horizon = 200", "horizn = 200", "horizn", "expected one of"),
        ("horizon = 200", "horizon = ", "horizon = ", "line 3"),
        (
            "delta = 0.1",
            "delta = 0",
            "`delta` is 0",
            "between 0 and 1",
        ),
        (
            "delta = 0.1",
            "delta = 1",
            "`delta` is 1",
            "between 0 and 1",
        ),
        ("delta = 0.1", "delta = nan", "`delta` is NaN", "between"),
        (
            "discount = 0.99",
            "discount = 1.01",
            "`discount`",
            "at most 1",
        ),
        ("discount = 0.99", "discount = 0", "`discount`", "above 0"),
        ("= -400.0", "= inf", "`threshold` is inf", "finite"),
        (
            "\"c\", \"s\"",
            "\"c\", \"c\"",
            "`state.names` has `c`",
            "own",
        ),
        ("\"torque\"", "\"c\"", "`action.names` has `c`", "own"),
        ("\"torque\"", "\"2x\"", "`action.names` has `2x`", "letters"),
        ("\"torque\"", "\"\"", "`action.names` has ``", "letters"),
        ("[\"torque\"]", "[]", "`action.names` is empty", "one name"),
        ("\"torque\"", "\"sin\"", "`sin`", "rename"),
        ("\"torque\"", "\"next\"", "`next`", "rename"),
        ("\"torque\"", "\"pi\"", "`pi`", "rename"),
        (
            "low = [-1, -1, -8]",
            "low = [-1, -8]",
            "`state.low`",
            "per name",
        ),
        (
            "low = [-1, -1, -8]",
            "low = [-1, 1, 2]",
            "`state.low` of s",
            "less",
        ),
        (
            "low = [-1, -1, -8]",
            "low = [-1, nan, 2]",
            "`state.low`",
            "finite",
        ),
        ("low = [-2.0]", "", "`action.low` is missing", "clipped"),
        (
            "low = [-2.0]",
            "low = [-inf]",
            "`action.low` has -inf",
            "finite",
        ),
        (
            "high = [2]",
            "high = [-3]",
            "`action.low` of torque",
            "less",
        ),
        ("high = [2]", "high = [2, 3]", "`action.high`", "per name"),
        (
            "high = [2]",
            "high = [1e39]",
            "`action.high` has inf",
            "finite",
        ),
        (
            "7 - abs(omega)",
            "7 - abs(omgea)",
            "`constraint[0].expr`",
            "`omega`",
        ),
        (
            "-(atan2(s",
            "-(atan(s",
            "`reward.expr`: there is no",
            "`atan2`",
        ),
        (
            "omega) > 7.9",
            "omega > 7.9",
            "`termination.expr`",
            "never closed",
        ),
        ("name = \"speed\"", "", "`constraint[0].name`", "name every"),
        (
            "name = \"speed\"",
            "name = \" \"",
            "`constraint[0].name`",
            "name every",
        ),
        ("[initial]", "[reward2]", "reward2", "expected one of"),
        (
            "\"uniform\"",
            "\"unifrom\"",
            "`initial.kind` is",
            "\"uniform\"",
        ),
        (
            "\"uniform\"",
            "\"point\"",
            "`initial.value` is missing",
            "per state",
        ),
        (
            "\"uniform\"",
            "\"data\"",
            "`initial.low` does not",
            "remove",
        ),
        (
            "high = [1, 1, 1]",
            "high = [1, 1]",
            "`initial.high`",
            "per name",
        ),
        (
            "high = [1, 1, 1]",
            "high = [1, -2, 1]",
            "`initial.low` of s",
            "most",
        ),
        (
            "expr = \"7 - abs(omega)\"",
            "",
            "`constraint[0].expr`",
            "7 - abs(x)",
        ),
        (
            "[reward]",
            "[reward]\nreturn_high = 0",
            "`reward.return_high` stands without",
            "`return_low` too",
        ),
        (
            "[reward]",
            "[reward]\nreturn_low = -inf",
            "`reward.return_low` is -inf",
            "least return",
        ),
        (
            "[reward]",
            "[reward]\nreturn_low = 0\nreturn_high = 0",
            "`reward.return_high` is 0",
            "above `return_low`",
        ),
        (
            "[reward]",
            "[reward]\nreturn_low = 0\nreturn_high = inf",
            "`reward.return_high` is inf",
            "leave it out",
        ),
        (
            "high = [1, 1, 1]",
            "high = [1, 1, 1]\nalways = true",
            "`initial.always` does not",
            "\"data\"",
        ),
        (
            "high = [1, 1, 1]",
            "high = [1, 1, 1]\nalways = 1",
            "expected a boolean",
            "line 32",
        ),
    ] {
        assert!(PENDULUM.contains(from), "{from}");
        let text = PENDULUM.replacen(from, to, 1);
        let Err(error) = TaskFile::parse(&text, "robot/task.toml") else {
            panic!("{from} -> {to} is accepted");
        };
        let shown = error.to_string();
        for wanted in ["robot/task.toml: ", key, help] {
            assert!(shown.contains(wanted), "{from} -> {to}: {shown}");
        }
    }
}

/// What is shown for a pendulum with one change.
fn shown(from: &str, to: &str) -> String {
    assert!(PENDULUM.contains(from), "{from}");
    let text = PENDULUM.replacen(from, to, 1);
    let error = TaskFile::parse(&text, "task.toml").unwrap_err();
    error.to_string()
}

#[test]
fn every_error_shows_its_line_alike() {
    for (from, to, wanted) in [
        // A value, one of many values, a missing key, a missing table.
        (
            "delta = 0.1",
            "delta = 2",
            "task.toml: `delta` is 2 (line 4, column 9)\n  delta = 2\n          ^\nhelp: give ",
        ),
        (
            "low = [-1, -1, -8]",
            "low = [-1, 1, -8]",
            "(line 10, column 12)\n  low = [-1, 1, -8]\n             ^\nhelp: make low less",
        ),
        (
            "[\"torque\"]",
            "[\n  \"sin\",\n]",
            "(line 15, column 3)\n    \"sin\",\n    ^\nhelp: rename",
        ),
        (
            "low = [-2.0]",
            "",
            "`action.low` is missing (line 13, column 1)\n  [action]\n  ^\nhelp: give one",
        ),
        (
            "name = \"pendulum\"",
            "",
            "task.toml: `name` is missing\nhelp: ",
        ),
        (
            "[reward]",
            "[reward]\nhigh = 1",
            "(line 19, column 8)\n  high = 1\n         ^\nhelp: give both",
        ),
        (
            "name = \"speed\"",
            "name = \"\"",
            "(line 25, column 8)\n  name = \"\"\n         ^\nhelp: name every",
        ),
        // TOML's own.
        (
            "delta = 0.1",
            "delta = \"much\"",
            "f32 (line 4, column 9)\n  delta = \"much\"\n          ^\nhelp: correct",
        ),
        (
            "delta = 0.1",
            "delta = = 0.1",
            "(line 4, column 9)\n  delta = = 0.1\n          ^\nhelp: correct",
        ),
        // Expressions, in every spelling of a string.
        (
            "7 - abs(omega)",
            "7 - abs(omgea)",
            "(line 26, column 17)\n  expr = \"7 - abs(omgea)\"\n                  ^\nhelp: ",
        ),
        (
            "\"7 - abs(omega)\"",
            "'7 - é'",
            "(line 26, column 13)\n  expr = '7 - é'\n              ^\nhelp: ",
        ),
        (
            "\"7 - abs(omega)\"",
            "\"\"\"\n7\n - abs(omgea)\"\"\"",
            "(line 28, column 8)\n   - abs(omgea)\"\"\"\n         ^\nhelp: ",
        ),
        (
            "\"7 - abs(omega)\"",
            "'''\r\n7\r\n - abs(omgea)\r\n'''",
            "(line 28, column 8)\n   - abs(omgea)\n         ^\nhelp: ",
        ),
        (
            "\"7 - abs(omega)\"",
            "''",
            "(line 26, column 8)\n  expr = ''\n         ^\nhelp: ",
        ),
        // Escapes hide the place in the file; then it is that in the expression.
        (
            "7 - abs(omega)",
            "7 \\u002D abs(omgea)",
            "in the expression of line 26: unknown name",
        ),
    ] {
        let shown = shown(from, to);
        assert!(shown.contains(wanted), "{from} -> {to}:\n{shown}\n{wanted}");
    }
}

#[test]
fn at_most_eight_constraints_and_no_name_twice() {
    let constraint = |name: usize| format!("[[constraint]]\nname = \"c{name}\"\nexpr = \"c\"\n");
    let with = |count: usize, name: fn(usize) -> usize| {
        let more: String = (0..count).map(|index| constraint(name(index))).collect();
        TaskFile::parse(&format!("{PENDULUM}{more}"), "task.toml")
    };
    assert_eq!(with(7, |index| index).unwrap().constraints.len(), 8);
    let error = with(8, |index| index).unwrap_err().to_string();
    assert!(error.contains("at most 8"), "{error}");
    // The ninth stands in line 53.
    assert!(error.contains("(line 53, column 1)"), "{error}");
    let error = with(2, |_| 0).unwrap_err().to_string();
    assert!(
        error.contains("`constraint[2].name` is `c0` a second time"),
        "{error}"
    );
}

#[test]
fn a_missing_file_is_named() {
    let error = TaskFile::read("no/such/task.toml").unwrap_err();
    assert!(error.to_string().contains("no/such/task.toml"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

fn point_safety() -> TaskFile {
    let text = include_str!("../../../../tasks/point_safety.toml");
    TaskFile::parse(text, "point_safety.toml").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn point_safety_is_what_it_says() {
    let task = point_safety();
    assert_eq!((task.horizon, task.threshold), (16, Some(-60.0)));
    assert_eq!(task.initial, Initial::Point(vec![-2.0, 0.0]));
    assert_eq!(task.state_low, Some(vec![-5.0, -5.0]));
    assert_eq!(task.action_high, [0.5, 0.5]);
    // Four times the same projection, computed once.
    assert!(task.ops.len() <= 40, "{} ops", task.ops.len());
}

#[test]
fn point_safety_punishes_segments_that_enter_the_disc() {
    let task = point_safety();
    for (from, to, hit) in [
        // Ends inside, starts inside, and both ends inside.
        ([-1.4, 0.0], [-0.9, 0.0], true),
        ([0.9, 0.0], [1.4, 0.0], true),
        ([0.1, 0.1], [0.2, 0.1], true),
        // Both ends outside: a chord, across the centre, and a short chord.
        ([-1.0, 0.5], [1.0, 0.5], true),
        ([-2.0, 0.0], [2.0, 0.0], true),
        ([-0.25, 0.98], [0.25, 0.98], true),
        // Misses: above, heading away, short of the disc, past it.
        ([-0.25, 1.02], [0.25, 1.02], false),
        ([-1.5, 0.0], [-2.0, 0.0], false),
        ([-1.6, 0.0], [-1.1, 0.0], false),
        ([1.1, 0.0], [1.6, 0.0], false),
        ([-2.0, 1.0], [0.0, 3.0], false),
        // On the line through the disc, but not on the segment.
        ([-3.0, 0.0], [-2.5, 0.0], false),
        // Length 0: inside, outside, at the centre and at the goal.
        ([0.5, 0.5], [0.5, 0.5], true),
        ([0.0, 0.0], [0.0, 0.0], true),
        ([1.0, 1.0], [1.0, 1.0], false),
        ([2.0, 0.0], [2.0, 0.0], false),
    ] {
        let reward = value(&task, task.reward.slot(), &from, &[0.0, 0.0], &to);
        let distance = (to[0] - 2.0_f32).hypot(to[1]);
        let wanted = -distance - if hit { 100.0 } else { 0.0 };
        assert!(
            (reward - wanted).abs() < 1e-4,
            "{from:?} -> {to:?}: {reward} not {wanted}"
        );
    }
}

/// A gripper that was never closed in the log: all rows are at the wall, at 0.
#[test]
fn where_all_rows_agree_the_scale_of_the_states_counts() {
    let text = PENDULUM.replace("abs(omega) > 7.9", "omega != 0");
    let width = |task: &TaskFile| {
        let stop = usize::from(task.termination.unwrap());
        task.ops[stop].comparison_width().unwrap()
    };
    let mut task = TaskFile::parse(&text, "task.toml").unwrap();
    let row: [f32; 3] = [1.0, 0.0, 0.0];
    task.fit_smoothing([(&row[..], &[0.0_f32][..], &row[..])]);
    // Half of -8 to 8.5.
    assert!((width(&task) - 8.25).abs() < 1e-3, "{}", width(&task));

    // Without limits the box around the rows says it; without that nothing does.
    let text = text.replace("low = [-1, -1, -8]\nhigh = [1, 1, 8.5]\n", "");
    let text = text.replace("omega != 0", "omega * (c - next.c) != 0");
    let mut task = TaskFile::parse(&text, "task.toml").unwrap();
    task.fit_smoothing([]);
    assert_eq!(width(&task), 1.0);
    let rows: [[f32; 3]; 2] = [[1.0, 0.0, 0.25], [-1.0, 0.0, -0.25]];
    task.fit_smoothing(rows.iter().map(|row| (&row[..], &[0.0_f32][..], &row[..])));
    assert!((width(&task) - 0.5).abs() < 1e-3, "{}", width(&task));
}

#[test]
fn smoothing_widths_are_mean_distances() {
    let text = PENDULUM.replace("7 - abs(omega)", "(s == s) + (log(c) < 0)");
    let mut task = TaskFile::parse(&text, "task.toml").unwrap();
    let width =
        |task: &TaskFile, slot: u16| task.ops[usize::from(slot)].comparison_width().unwrap();
    let stop = task.termination.unwrap();
    // Without a log, half the range of |omega|, which is 0 to 8.5.
    task.fit_smoothing([]);
    assert!((width(&task, stop) - 4.25).abs() < 1e-4);

    // |7.9 - |omega|| is 6.9 and 4.9; log(c) is 0 and NaN; s == s is 0 apart.
    let rows: [[f32; 3]; 2] = [[1.0, 0.0, 1.0], [-1.0, 0.0, -3.0]];
    task.fit_smoothing(rows.iter().map(|row| (&row[..], &[0.0_f32][..], &row[..])));
    assert!((width(&task, stop) - 5.9).abs() < 1e-5);
    let others: Vec<f32> = { task.ops.iter() }
        .filter_map(|op| op.comparison_width())
        .collect();
    // s - s is at most 2 apart; log(c) goes from log(2^-149) to 0.
    let has = |wanted: f32| others.iter().any(|width| (width - wanted).abs() < 1e-3);
    assert!(has(2.0) && has(51.639_465), "{others:?}");
    assert!(task.program().is_ok());
}

#[test]
fn power_off_is_a_condition_of_the_state_alone() {
    let with = |expr: &str| format!("{PENDULUM}\n[power_off]\nexpr = \"{expr}\"\n");
    let task = TaskFile::parse(&with("abs(omega) < 0.1 && c < 0"), "task.toml").unwrap();
    let slot = task.power_off.unwrap();
    for (state, safe) in [
        ([-1.0, 0.0, 0.05], 1.0),
        ([-1.0, 0.0, 0.2], 0.0),
        ([1.0, 0.0, 0.0], 0.0),
    ] {
        assert_eq!(value(&task, slot, &state, &[0.0], &state), safe);
    }
    for expr in ["torque < 1", "abs(next.omega) < 1"] {
        let error = TaskFile::parse(&with(expr), "task.toml").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("power_off.expr"), "{text}");
    }
    let error = TaskFile::parse(&with("").replace("expr = \"\"", ""), "task.toml");
    assert!(error.unwrap_err().to_string().contains("power_off.expr"));
}
