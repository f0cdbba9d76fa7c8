//! What a task file says of its constraints.

use hambo_core::task::ConstraintKind;
use hambo_core::task::expression::{Comparison, Inputs};

use super::constraint::{NamedConstraint, kind_name};
use super::task_file::TaskFile;

fn task(line: &str) -> Result<TaskFile, String> {
    let text = format!(
        "name = 'cart'\nhorizon = 40\nconstraint = [{{ name = 'c', {line} }}]\n\
         [state]\nnames = ['x']\n[action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
         [reward]\nexpr = '-abs(x)'\n[initial]\nkind = 'point'\nvalue = [0]\n"
    );
    TaskFile::parse(&text, "task.toml").map_err(|error| error.to_string())
}

fn parse(line: &str) -> Result<NamedConstraint, String> {
    task(line).map(|task| task.constraints[0].clone())
}

/// The margin at x = 3 before and 5 after the step 30.
fn margin(expression: &str) -> f32 {
    let task = task(&format!("expr = '{expression}'")).unwrap();
    let program = task.program().unwrap();
    let inputs = Inputs {
        state: &[[3.0]],
        action: &[[0.5]],
        next: &[[5.0]],
        step: 30.0,
    };
    let mut values = vec![[0.0]; program.len()];
    program.evaluate(Comparison::Exact, inputs, &mut values);
    values[usize::from(task.constraints[0].constraint.slot)][0]
}

#[test]
fn conditions_say_by_how_much_they_hold() {
    for (expression, wanted) in [
        ("7 - abs(x)", 4.0),
        ("abs(x) <= 7", 4.0),
        ("abs(x) < 7", 4.0),
        ("x >= 7", -4.0),
        ("next.x > 1 && x > 1", 2.0),
        ("next.x > 6 || x > 1", 2.0),
        ("!(x > 1)", -2.0),
        ("!(x > 1 && next.x < 4)", 1.0),
        ("t < horizon / 2 || x < 4", 1.0),
        ("t - horizon", -10.0),
        ("!(x < 3)", 0.0),
        ("x >= 3", 0.0),
        ("t >= 30", 0.0),
        ("!(x >= 3)", -1e-30),
        ("t < 30", -1e-30),
        ("t > 30 || t < 30", -1e-30),
        ("!(t <= 30 || x < 1)", -1e-30),
        // A number of a condition stays a number.
        ("(x > 1) - 0.25", 0.75),
    ] {
        assert_eq!(margin(expression), wanted, "{expression}");
    }
}

#[test]
fn a_kind_and_a_probability_are_read() {
    let plain = parse("expr = 'x < 1'").unwrap();
    assert_eq!(plain.constraint.kind, ConstraintKind::Mean);
    assert_eq!(plain.constraint.probability, None);
    for kind in ["mean", "always", "finally", "eventually"] {
        let line = format!("expr = 'x < 1', kind = '{kind}', probability = 0.99");
        let read = parse(&line).unwrap().constraint;
        assert_eq!((kind_name(read.kind), read.probability), (kind, Some(0.99)));
    }
}

#[test]
fn mistakes_are_named_with_their_key() {
    for (line, key, help) in [
        (
            "expr = 'x < 1', kind = 'never'",
            "`constraint[0].kind` is \"never\"",
            "\"always\"",
        ),
        (
            "expr = 'x', probability = 1.0",
            "`constraint[0].probability` is 1",
            "0.99",
        ),
        (
            "expr = 'x', probability = 99",
            "`constraint[0].probability` is 99",
            "0.99",
        ),
        (
            "expr = 'x', probability = nan",
            "`constraint[0].probability` is NaN",
            "0.99",
        ),
        (
            "expr = 'x == 1'",
            "`constraint[0].expr`",
            "abs(x - 1) < 0.1",
        ),
        ("expr = 'x > 0 && x != 1'", "by how much", "< <= > or >="),
        ("expr = 'x > 0 && x'", "by how much", "< <= > or >="),
        (
            "kind = 'always'",
            "`constraint[0].expr` is missing",
            "abs(x) <= 7",
        ),
    ] {
        let error = parse(line).unwrap_err();
        assert!(
            error.contains(key) && error.contains(help),
            "{line}: {error}"
        );
    }
}

#[test]
fn another_horizon_is_meant_in_expressions_too() {
    let text = "name = 'cart'\nhorizon = 40\n[state]\nnames = ['x']\n\
                [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
                [reward]\nexpr = 'horizon'\n[initial]\nkind = 'point'\nvalue = [0]\n";
    for (other, wanted) in [(None, 40), (Some(7), 7)] {
        let task = super::format::parse(text, "task.toml", other).unwrap();
        assert_eq!(task.horizon, wanted);
        let constant = hambo_core::task::expression::Op::Constant(wanted as f32);
        assert_eq!(task.ops, [constant]);
    }
}

#[test]
fn a_state_may_be_called_t() {
    let text = "name = 'cart'\nhorizon = 40\n[state]\nnames = ['t']\n\
                [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
                [reward]\nexpr = 't'\n[initial]\nkind = 'point'\nvalue = [0]\n";
    let task = TaskFile::parse(text, "task.toml").unwrap();
    let state = hambo_core::task::expression::Op::Variable(
        hambo_core::task::expression::Variable::State(0),
    );
    assert_eq!(task.ops, [state]);
}
