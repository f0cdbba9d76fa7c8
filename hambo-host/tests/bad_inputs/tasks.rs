//! Bad tasks: the file, its keys, its expressions.

use super::{Case, TASK, plain, with};

pub fn cases() -> Vec<Case> {
    let line = "task check @ --data log.csv";
    let task = |name, text: &str, words: &[&'static str]| with(name, "bad.toml", text, line, words);
    // Each names the file and shows the line with a caret.
    let instead = |name, from: &str, to: &str, words: &[&'static str]| {
        assert!(TASK.contains(from), "{from}");
        let words = [&["bad.toml: ", "(line ", "^\nhelp: "], words].concat();
        task(name, &TASK.replace(from, to), &words)
    };
    let reward = |name, expression: &str, words: &[&'static str]| {
        let words = [&["`reward.expr`", "(line 12, column "], words].concat();
        instead(name, "'-x^2'", &format!("'{expression}'"), &words)
    };
    let deep = format!("{}x{}", "(".repeat(20_000), ")".repeat(20_000));
    let long = format!("x{}", " + x".repeat(100_000));
    let many = "\n[[constraint]]\nname = 'c'\nexpr = 'x'\n".repeat(200);
    vec![
        plain(
            "no such task",
            &line.replace('@', "none.toml"),
            &["none.toml", "task new"],
        ),
        plain(
            "a folder as a task",
            &line.replace('@', "folder.csv"),
            &["folder.csv", "directory"],
        ),
        plain(
            "a device as a task",
            &line.replace('@', "/dev/zero"),
            &["/dev/zero", "more than"],
        ),
        task("empty task", "", &["bad.toml", "missing"]),
        with(
            "binary as a task",
            "bad.toml",
            b"\x7fELF\x02\x01\x01\0\0",
            line,
            &["bad.toml", "line 1"],
        ),
        with(
            "a task that is not UTF-8",
            "bad.toml",
            b"name = '\xff'",
            line,
            &["UTF-8"],
        ),
        task(
            "50,000 brackets of TOML",
            &format!("a = {}", "[".repeat(50_000)),
            &["line 1", "…"],
        ),
        task(
            "50,000 dots of TOML",
            &format!("{}b = 1", "a.".repeat(50_000)),
            &["recursion"],
        ),
        task(
            "TOML that does not close",
            "name = 'cart",
            &["bad.toml", "line 1"],
        ),
        instead("an unknown key", "delta", "dellta", &["dellta", "line 3"]),
        instead(
            "an unknown table",
            "[initial]",
            "[start]",
            &["start", "line 13"],
        ),
        instead(
            "a word for a number",
            "= 20",
            "= 'long'",
            &["horizon", "line 2, column 11"],
        ),
        instead("horizon 0", "= 20", "= 0", &["`horizon`", "line 2"]),
        instead("half a step", "= 20", "= 1.5", &["`horizon`", "1.5"]),
        instead("an endless horizon", "= 20", "= 1e18", &["`horizon`"]),
        instead("delta 0", "0.1", "0", &["`delta`", "line 3, column 9"]),
        instead("delta 1.5", "0.1", "1.5", &["`delta`", "1.5"]),
        instead(
            "a threshold that is NaN",
            "-50",
            "nan",
            &["`threshold`", "NaN"],
        ),
        instead(
            "a discount above 1",
            "delta = 0.1",
            "discount = 2",
            &["`discount`", "2"],
        ),
        instead(
            "limits in the wrong order",
            "low = [-1]",
            "low = [3]",
            &["`action.low`", "high", "line 9, column 8"],
        ),
        instead(
            "limits of another length",
            "low = [-1]",
            "low = [-1, 2]",
            &["`action.low`", "length 2", "line 9, column 7"],
        ),
        instead(
            "actions without limits",
            "low = [-1]\n",
            "",
            &["`action.low`", "missing", "line 7"],
        ),
        instead(
            "a name twice",
            "'x', 'v'",
            "'x', 'x'",
            &["`x`", "already", "line 6, column 15"],
        ),
        instead(
            "a name that is a function",
            "'x', 'v'",
            "'x', 'sin'",
            &["`sin`"],
        ),
        task(
            "no reward",
            &TASK.replace("[reward]\nexpr = '-x^2'\n", ""),
            &["bad.toml: ", "`reward`", "missing"],
        ),
        instead(
            "an unknown start",
            "'point'",
            "'random'",
            &["initial.kind", "random", "line 14"],
        ),
        instead(
            "a start of another length",
            "[1, 0]",
            "[1]",
            &["initial.value", "length 1", "line 15"],
        ),
        instead(
            "bounds of the reward half given",
            "'-x^2'",
            "'-x^2'\nlow = 1",
            &["`reward`", "both", "line 13, column 7"],
        ),
        reward("an unknown name", "-y^2", &["`y`", "column 10)"]),
        reward("a bracket that never closes", "-(x + 1", &["column 10)"]),
        reward("an operator at the end", "x +", &["column 12)"]),
        reward("an unknown function", "sine(x)", &["sine"]),
        reward("an argument too few", "atan2(x)", &["atan2"]),
        reward("a letter from nowhere", "x § v", &["§", "column 11)"]),
        reward("nothing at all", "", &[]),
        reward("20,000 brackets", &deep, &["…"]),
        reward("100,000 terms", &long, &[]),
        task(
            "200 constraints",
            &format!("{TASK}{many}"),
            &["constraint", "200", "(line 49, column 1)"],
        ),
        instead(
            "a constraint without a name",
            "[initial]",
            "[[constraint]]\nexpr = 'x'\n[initial]",
            &["constraint[0].name", "line 13"],
        ),
        plain(
            "a task over another",
            "task new --from log.csv -o task.toml",
            &["task.toml", "overwritten"],
        ),
        with(
            "no action to be told",
            "bad.csv",
            "x,v\n0,0\n1,1\n",
            "task new --from @",
            &["--actions"],
        ),
    ]
}
